"""The tool that suspends nodes."""

from __future__ import annotations

from typing import Any

from gns3server_copilot.gns3.node_kinds import CAN_SUSPEND
from gns3server_copilot.gns3.power import Power, Switchboard
from gns3server_copilot.gns3.topology import Node
from gns3server_copilot.schemas.modes import Mode
from gns3server_copilot.tools.asked_nodes import NodesArguments, not_reached, switch_asked
from gns3server_copilot.tools.base import Tool, ToolContext
from gns3server_copilot.tools.response import failed, succeeded


class GNS3SuspendNodeTool(Tool[NodesArguments]):
    """Suspends nodes, one item each."""

    name = "suspend_gns3_node"
    description = (
        "Suspend running nodes, in parallel: they keep their state in memory, and start_gns3_node resumes them. Only "
        "qemu, docker, dynamips, virtualbox and vmware nodes can be suspended. Gives for each its status, read back."
    )
    arguments = NodesArguments
    modes = frozenset({Mode.LAB_AUTOMATION})
    read_only = False

    async def run(self, arguments: NodesArguments, context: ToolContext) -> list[dict[str, Any]]:
        """Give one item for each node, suspended or not; `all` leaves out those that are always on."""
        nobody = "There is no node that could be suspended in this project."
        return await switch_asked(arguments.nodes, context, _suspend, nobody=nobody)


async def _suspend(node: Node, switchboard: Switchboard) -> dict[str, Any]:
    if node.type not in CAN_SUSPEND:
        return failed(node.id, node.name, f"A node of the type {node.type} cannot be suspended; stop it instead.")
    if node.status == Power.STOP.goal:
        return failed(node.id, node.name, f"{node.name} is stopped; only a running node can be suspended.")
    change = await switchboard.switch(Power.SUSPEND, node)
    if change.node is None or not change.reached:
        return failed(node.id, node.name, not_reached(change, node.name))
    told = {"type": node.type, "status": change.node.status}
    if change.before == Power.SUSPEND.goal:
        told["note"] = "It was suspended already."
    return succeeded(node.id, node.name, told)
