"""Questions without answer: DNS queries and pings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from gns3server_copilot.packets.findings.base import Finding, Rows
from gns3server_copilot.packets.rows import Row

#: An answer may still be on its way when the capture ends, in seconds.
PATIENCE = 1.0


def find(rows: Rows) -> Iterator[Finding]:
    """Give who is asked and does not answer."""
    if not rows.whole:
        return
    if rows.protocol == "dns":
        for (client, server), numbers in _unanswered(rows, _dns_key, _is_dns_query, _is_dns_answer).items():
            said = f"{server} does not answer DNS queries of {client}."
            yield Finding("dns_unanswered", "dns", "error", said, tuple(numbers))
        return
    for (client, server), numbers in _unanswered(rows, _echo_key, _is_echo, _is_echo_reply).items():
        said = f"{server} does not answer pings of {client}."
        yield Finding(f"{rows.protocol}_echo_unanswered", rows.protocol, "warning", said, tuple(numbers))


def _unanswered(
    rows: Rows, key: Callable[[Row], Any], asks: Callable[[Row], bool], answers: Callable[[Row], bool]
) -> dict[tuple[str, str], list[int]]:
    open_questions: dict[Any, Row] = {}
    answered: set[Any] = set()
    for row in rows.rows:
        if asks(row):
            open_questions.setdefault(key(row), row)
        elif answers(row):
            answered.add(key(row))
    last = rows.rows[-1].time if rows.rows else 0.0
    found: dict[tuple[str, str], list[int]] = {}
    for one, row in open_questions.items():
        if one not in answered and last - row.time > PATIENCE:
            found.setdefault((str(row.get("src")), str(row.get("dst"))), []).append(row.number)
    return found


def _dns_key(row: Row) -> Any:
    ends = (row.get("src"), row.get("dst"))
    return row.get("id"), ends if not row.get("response") else ends[::-1]


def _is_dns_query(row: Row) -> bool:
    return not row.get("response")


def _is_dns_answer(row: Row) -> bool:
    return bool(row.get("response"))


def _echo_key(row: Row) -> Any:
    ends = (row.get("src"), row.get("dst"))
    return row.get("id"), row.get("seq"), ends if _is_echo(row) else ends[::-1]


def _is_echo(row: Row) -> bool:
    return bool(row.get("type") == "echo-request")


def _is_echo_reply(row: Row) -> bool:
    return bool(row.get("type") == "echo-reply")
