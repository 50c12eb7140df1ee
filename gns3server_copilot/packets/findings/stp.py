"""Spanning tree: who is root, whether two are, and changes of the topology."""

from __future__ import annotations

from collections.abc import Iterator

from gns3server_copilot.packets.findings.base import Finding, Rows
from gns3server_copilot.packets.rows import Row


def find(rows: Rows) -> Iterator[Finding]:
    """Give the root of each tree, trees with several roots, and topology changes."""
    trees: dict[int, dict[str, list[Row]]] = {}
    changes: dict[int, list[Row]] = {}
    for row in rows.rows:
        tree = row.get("pvst_vlan") or row.get("root_ext") or 0
        if row.get("root"):
            trees.setdefault(tree, {}).setdefault(
                f"{row.get('root')} (priority {row.get('root_priority')})", []
            ).append(row)
        if row.get("topology_change") or row.get("bpdu_type") == "TCN":
            changes.setdefault(tree, []).append(row)
    for tree, roots in trees.items():
        where = f" in VLAN or instance {tree}" if tree else ""
        if len(roots) == 1:
            ((root, seen),) = roots.items()
            yield Finding("stp_root", "stp", "info", f"The root bridge{where} is {root}.", _numbers(seen))
        else:
            said = (
                f"Different bridges are told to be root{where}: {', '.join(roots)}. The tree has changed, or is split."
            )
            yield Finding("stp_several_roots", "stp", "warning", said, _numbers([rows[0] for rows in roots.values()]))
    for tree, seen in changes.items():
        where = f" in VLAN or instance {tree}" if tree else ""
        by = ", ".join(sorted({str(row.get("bridge") or row.get("src")) for row in seen}))
        said = f"The topology changes{where}, as told by {by}: MAC addresses are forgotten each time."
        yield Finding("stp_topology_change", "stp", "warning", said, _numbers(seen))


def _numbers(rows: list[Row]) -> tuple[int, ...]:
    return tuple(row.number for row in rows)
