"""HSRP and VRRP: who holds which role with which priority, and what changed meanwhile."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from gns3server_copilot.packets.findings.base import Finding, Rows
from gns3server_copilot.packets.rows import Row


def find(rows: Rows) -> Iterator[Finding]:
    """Give each group's roles, and the changes of role."""
    if rows.protocol == "hsrp":
        yield from _hsrp(rows)
    else:
        yield from _vrrp(rows)


def _hsrp(rows: Rows) -> Iterator[Finding]:
    groups: dict[Any, dict[str, list[Row]]] = {}
    for row in rows.rows:
        if row.get("state") is not None:
            groups.setdefault((row.link, row.get("group")), {}).setdefault(str(row.get("src")), []).append(row)
    for (_, group), speakers in groups.items():
        roles = [
            f"{speaker} is {str(seen[-1].get('state')).lower()} with priority {seen[-1].get('priority')}"
            for speaker, seen in speakers.items()
        ]
        address = next(iter(speakers.values()))[-1].get("virtual_ip")
        numbers = tuple(seen[-1].number for seen in speakers.values())
        yield Finding("hsrp_roles", "hsrp", "info", f"HSRP group {group} ({address}): {', '.join(roles)}.", numbers)
        for speaker, seen in speakers.items():
            changes = [row for before, row in itertools.pairwise(seen) if before.get("state") != row.get("state")]
            if changes:
                path = " → ".join([str(seen[0].get("state")), *(str(row.get("state")) for row in changes)])
                said = f"In HSRP group {group} {speaker} changes its state: {path[:200]}."
                yield Finding("hsrp_state_change", "hsrp", "warning", said, tuple(row.number for row in changes))


def _vrrp(rows: Rows) -> Iterator[Finding]:
    routers: dict[Any, list[Row]] = {}
    for row in rows.rows:
        routers.setdefault((row.link, row.get("vrid")), []).append(row)
    for (_, vrid), seen in routers.items():
        last = seen[-1]
        addresses = ", ".join(last.get("virtual_ips") or [])
        said = f"Virtual router {vrid} ({addresses}): {last.get('src')} is master with priority {last.get('priority')}."
        yield Finding("vrrp_master", "vrrp", "info", said, (last.number,))
        changes = [row for before, row in itertools.pairwise(seen) if before.get("src") != row.get("src")]
        if len(changes) == 1:
            said = f"{changes[0].get('src')} takes virtual router {vrid} over from {seen[0].get('src')}."
            yield Finding("vrrp_takeover", "vrrp", "warning", said, (changes[0].number,))
