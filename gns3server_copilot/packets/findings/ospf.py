"""OSPF: neighbours that are heard but do not hear, and database exchanges that do not get on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gns3server_copilot.packets.findings.base import Finding, Rows
from gns3server_copilot.packets.rows import Row

#: Descriptions that begin anew so often are an exchange that fails; neighbours repeat them every five seconds.
MANY_BEGINNINGS = 3
#: Hellos after which a neighbour should have been heard.
ENOUGH_HELLOS = 2


def find(rows: Rows) -> Iterator[Finding]:
    """Give one-way neighbours, lonely routers, and stuck exchanges."""
    links: dict[Any, dict[str, list[Row]]] = {}
    for row in rows.rows:
        if row.get("type") == "Hello":
            links.setdefault(row.link, {}).setdefault(str(row.get("router_id")), []).append(row)
    for speakers in links.values():
        yield from _one_way(speakers, rows)
    yield from _stuck(rows)


def _one_way(speakers: dict[str, list[Row]], rows: Rows) -> Iterator[Finding]:
    for router, hellos in speakers.items():
        heard = set(hellos[-1].get("neighbors") or [])
        for other, theirs in speakers.items():
            if other == router or len(hellos) < ENOUGH_HELLOS or hellos[-1].time < theirs[0].time:
                continue
            names_us = router in (theirs[-1].get("neighbors") or [])
            if other not in heard and names_us:
                said = (
                    f"{other} hears {router}, but {router} does not name {other} in its hellos: one way is blocked, or "
                    f"{router} does not accept the hellos of {other}."
                )
                numbers = (hellos[-1].number, theirs[-1].number)
                yield Finding(f"{rows.protocol}_one_way", rows.protocol, "error", said, numbers)
    if len(speakers) == 1:
        ((router, hellos),) = speakers.items()
        if len(hellos) >= ENOUGH_HELLOS and not hellos[-1].get("neighbors"):
            said = f"Only {router} sends hellos here, and it hears nobody."
            yield Finding(f"{rows.protocol}_alone", rows.protocol, "warning", said, tuple(row.number for row in hellos))


def _stuck(rows: Rows) -> Iterator[Finding]:
    beginnings: dict[tuple[str, str], list[int]] = {}
    for row in rows.rows:
        if row.get("type") == "DBD" and "init" in (row.get("dbd_flags") or []):
            beginnings.setdefault((str(row.get("src")), str(row.get("dst"))), []).append(row.number)
    for (source, destination), numbers in beginnings.items():
        if len(numbers) >= MANY_BEGINNINGS:
            said = (
                f"{source} begins its database exchange with {destination} {len(numbers)} times: they are stuck in "
                "ExStart. The usual reason is an MTU that differs."
            )
            yield Finding(f"{rows.protocol}_exchange_stuck", rows.protocol, "error", said, tuple(numbers))
