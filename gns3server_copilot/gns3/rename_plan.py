"""Checks new names against each other and the lab, and puts them into an order in which none is in the way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gns3server_copilot.errors import ToolError
from gns3server_copilot.gns3.names import find
from gns3server_copilot.gns3.node_kinds import ALWAYS_ON
from gns3server_copilot.gns3.node_names import node_name
from gns3server_copilot.gns3.topology import Node


@dataclass(frozen=True)
class Rename:
    """A node and the name that it is to have, as GNS3 will keep it."""

    node: Node
    new_name: str


def plan_renames(asked: Sequence[tuple[str, str]], nodes: Sequence[Node]) -> list[Rename | ToolError]:
    """Give for each node and new name what to do, or the error that says why not."""
    plans: list[Rename | ToolError] = []
    first: dict[str, int] = {}
    for index, (wanted, new_name) in enumerate(asked):
        try:
            node = find(wanted, nodes, "node")
            if node.id in first:
                raise ToolError(f"{node.name} is renamed by nodes[{first[node.id]}] already.")
            rename = Rename(node, node_name(new_name, node.type))
            if node.status == "started" and node.type not in ALWAYS_ON and rename.new_name != node.name:
                raise ToolError(f"{node.name} is running: stop it first (stop_gns3_node), then rename it.")
        except ToolError as error:
            plans.append(error)
        else:
            first[node.id] = index
            plans.append(rename)
    return _without_clashes(plans, nodes)


def in_order(renames: Sequence[Rename]) -> list[list[Rename]]:
    """Give groups that do not touch each other; in a group each name is free when its turn comes, but in a circle.

    In a circle (a swap, say) the last one's name is the first one's present name.
    """
    holder = {rename.node.name.casefold(): rename for rename in renames}
    grouped: set[str] = set()
    groups: list[list[Rename]] = []
    wanted = {rename.new_name.casefold() for rename in renames if not _stays(rename, holder)}
    # a chain is begun by the one whose own name nobody wants; what is left then are circles
    for rename in sorted(renames, key=lambda one: one.node.name.casefold() in wanted):
        group: list[Rename] = []
        current: Rename | None = rename
        while current is not None and current.node.id not in grouped:
            grouped.add(current.node.id)
            group.append(current)
            current = holder.get(current.new_name.casefold())
        if group:
            groups.append(group[::-1])
    return groups


def _stays(rename: Rename, holder: Mapping[str, Rename]) -> bool:
    return holder.get(rename.new_name.casefold()) is rename


def _without_clashes(plans: list[Rename | ToolError], nodes: Sequence[Node]) -> list[Rename | ToolError]:
    """Refuse names that another node keeps or gets. A node whose renaming is refused keeps its own."""
    while True:
        leaving = {plan.node.id for plan in plans if isinstance(plan, Rename)}
        kept = {node.name.casefold(): node for node in nodes if node.id not in leaving}
        given: dict[str, int] = {}
        refused = False
        for index, plan in enumerate(plans):
            if not isinstance(plan, Rename):
                continue
            key = plan.new_name.casefold()
            if key in kept:
                plans[index] = ToolError(
                    f"There is a node called {kept[key].name} already (id {kept[key].id}). Give another name, or "
                    "rename that one in the same call."
                )
            elif key in given:
                plans[index] = ToolError(f"{plan.new_name} is asked for by nodes[{given[key]}] too.")
            else:
                given[key] = index
            refused = refused or not isinstance(plans[index], Rename)
        if not refused:
            return plans
