"""Runs the checks of a protocol's definition over its messages: over each one, or over pairs of neighbours."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from typing import Any

from gns3server_copilot.packets.conditions import all_hold, condition_from
from gns3server_copilot.packets.findings.base import Finding, Rows
from gns3server_copilot.packets.rows import Row

PLACEHOLDER = re.compile(r"\{(?:(a|b)\.)?(\w+)\}")
#: Speakers on one link whose pairs are compared; a hub with more is not a lab.
MOST_SPEAKERS = 40
LONGEST_VALUE = 120


def run_checks(definition: Mapping[str, Any], rows: Rows) -> Iterator[Finding]:
    """Give what the checks of a protocol's definition (as plain data) find."""
    for check in definition.get("checks", ()):
        find = _over_neighbours if check["over"] == "neighbours" else _over_packets
        yield from find(check, rows)


def _over_packets(check: Mapping[str, Any], rows: Rows) -> Iterator[Finding]:
    conditions = [condition_from(raw) for raw in check["when"]]
    for row in rows.rows:
        if all_hold(conditions, row.fields):
            yield _finding(check, rows.protocol, (row,))


def _over_neighbours(check: Mapping[str, Any], rows: Rows) -> Iterator[Finding]:
    plain = [condition_from(raw) for raw in check["when"] if raw["op"] not in ("differs", "same")]
    compared = [(raw["field"], raw["op"] == "differs") for raw in check["when"] if raw["op"] in ("differs", "same")]
    links: dict[tuple[Any, ...], dict[str, Row]] = {}
    for row in rows.rows:
        speaker = row.get(check["speaker"])
        if speaker is None or not all_hold(plain, row.fields):
            continue
        if any(row.get(field) is None for field, _ in compared):
            continue
        place = (row.link, *(_hashable(row.get(field)) for field in check["within"]))
        # the last message counts: what was wrong and has been put right is not
        links.setdefault(place, {})[str(speaker)] = row
    for speakers in links.values():
        for a, b in itertools.combinations(list(speakers.values())[:MOST_SPEAKERS], 2):
            if all((a.get(field) != b.get(field)) == differs for field, differs in compared):
                yield _finding(check, rows.protocol, (a, b))


def _hashable(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _finding(check: Mapping[str, Any], protocol: str, rows: tuple[Row, ...]) -> Finding:
    message = filled(check["message"], rows)
    return Finding(check["id"], protocol, check["severity"], message, tuple(row.number for row in rows))


def filled(message: str, rows: tuple[Row, ...]) -> str:
    """Fill `{field}`, `{a.field}` and `{b.field}` in; `?` stands for a field that a message has not."""

    def value(found: re.Match[str]) -> str:
        row = rows[1] if found[1] == "b" else rows[0]
        raw = row.get(found[2])
        if raw is None:
            return "?"
        text = ", ".join(map(str, raw)) if isinstance(raw, list | tuple) else str(raw)
        return text if len(text) <= LONGEST_VALUE else text[:LONGEST_VALUE] + "…"

    return PLACEHOLDER.sub(value, message)
