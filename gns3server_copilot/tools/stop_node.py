"""The tool that stops nodes."""

from __future__ import annotations

from typing import Any

from gns3server_copilot.gns3.power import Power, Switchboard
from gns3server_copilot.gns3.topology import Node
from gns3server_copilot.schemas.modes import Mode
from gns3server_copilot.tools.asked_nodes import NodesArguments, not_reached, switch_asked
from gns3server_copilot.tools.base import Tool, ToolContext
from gns3server_copilot.tools.response import failed, succeeded


class GNS3StopNodeTool(Tool[NodesArguments]):
    """Stops nodes, one item each."""

    name = "stop_gns3_node"
    description = (
        "Stop nodes, in parallel. A device that was not saved loses its running configuration: save first. Gives for "
        "each its status, read back. Switches, hubs, clouds and NAT are always on and cannot be stopped."
    )
    arguments = NodesArguments
    modes = frozenset({Mode.LAB_AUTOMATION})
    read_only = False

    async def run(self, arguments: NodesArguments, context: ToolContext) -> list[dict[str, Any]]:
        """Give one item for each node, stopped or not; `all` leaves out those that are always on."""
        nobody = "There is no node that could be stopped in this project."
        return await switch_asked(arguments.nodes, context, _stop, nobody=nobody)


async def _stop(node: Node, switchboard: Switchboard) -> dict[str, Any]:
    change = await switchboard.switch(Power.STOP, node)
    if change.node is None or not change.reached:
        return failed(node.id, node.name, not_reached(change, node.name))
    told = {"type": node.type, "status": change.node.status}
    if change.before == Power.STOP.goal:
        told["note"] = "It was stopped already."
    else:
        told["note"] = "What was configured on it and not saved is lost; whether it was saved cannot be told from here."
    return succeeded(node.id, node.name, told)
