"""The tool that reads the project's topology."""

from __future__ import annotations

import asyncio
from typing import Any, Literal

from pydantic import Field

from gns3server_copilot.errors import ToolError
from gns3server_copilot.gns3.names import find
from gns3server_copilot.gns3.runs import in_runs
from gns3server_copilot.gns3.text import clipped, printable
from gns3server_copilot.gns3.topology import Link, Node, Port, Topology, compact_text
from gns3server_copilot.schemas.modes import Mode
from gns3server_copilot.settings import Settings
from gns3server_copilot.tools.answer_size import MAX_TEXT_CHARS, too_long
from gns3server_copilot.tools.asked_nodes import MAX_NODES
from gns3server_copilot.tools.base import Tool, ToolArguments, ToolContext
from gns3server_copilot.tools.lab_view import lab_view
from gns3server_copilot.tools.response import failed, succeeded

Detail = Literal["summary", "full"]


class TopologyArguments(ToolArguments):
    """How much to tell, and about which nodes."""

    detail: Detail = Field(
        "summary",
        description="full adds to each port its media, adapter and number, and to each node its host, e.g. full",
    )
    nodes: list[str] = Field(
        default_factory=list,
        max_length=MAX_NODES,
        description='Names or ids of the only nodes to tell about; without it all, e.g. ["R1", "PC2"]',
    )


class GNS3TopologyTool(Tool[TopologyArguments]):
    """Reads nodes, links and notes, one item each."""

    name = "gns3_topology_reader"
    description = (
        "Read the project as it is now: nodes with type, status, console and ports (used and free), links with both "
        "ends, filters, suspension and captures, and the notes on the canvas."
    )
    arguments = TopologyArguments
    modes = frozenset({Mode.INJECTION})
    read_only = True

    def offered(self, mode: Mode, settings: Settings) -> bool:
        """In the other modes the topology is in the prompt already."""
        return super().offered(mode, settings) or settings.topology_tool_everywhere

    async def run(self, arguments: TopologyArguments, context: ToolContext) -> list[dict[str, Any]]:
        """Give the nodes in the order asked, then their links, then, when all are told about, the notes."""
        topology = await lab_view(context)
        if arguments.nodes:
            # looking for the nearest names of many wrong ones takes long enough to hold up the server
            items = await asyncio.to_thread(_asked_items, arguments, topology)
            if too_long(items):
                raise ToolError("That is too much for one answer: ask about fewer nodes, or for the summary.")
            return items
        items = [
            *(_node_item(node, arguments.detail) for node in topology.nodes),
            *(_link_item(link) for link in topology.links),
            *(succeeded(drawing.id, "note", drawing.text, kind="note") for drawing in topology.drawings),
        ]
        if not items or too_long(items):
            text = compact_text(topology, MAX_TEXT_CHARS)
            return [succeeded(context.project.project_id, context.project.name, text, kind="topology")]
        return items


def _asked_items(arguments: TopologyArguments, topology: Topology) -> list[dict[str, Any]]:
    items = []
    told: set[str] = set()
    for wanted in arguments.nodes:
        try:
            node = find(wanted, topology.nodes, "node")
        except ToolError as error:
            items.append(failed("", clipped(printable(wanted), 60), error.message, kind="node"))
        else:
            told.add(node.id)
            items.append(_node_item(node, arguments.detail))
    links = (link for link in topology.links if any(end.node_id in told for end in link.ends))
    return [*items, *map(_link_item, links)]


def _node_item(node: Node, detail: Detail) -> dict[str, Any]:
    told: dict[str, Any] = {
        "type": node.type,
        "device_type": node.device_type or "unknown",
        "status": node.status,
        "console": {"type": node.console_type or "none", "port": node.console},
        "x": node.x,
        "y": node.y,
    }
    if detail == "full":
        told["console"]["host"] = node.console_host
        told["compute_id"] = node.compute_id
        told["template_id"] = node.template_id
        told["ports"] = [_port_details(port) for port in node.ports]
    else:
        told["used_ports"] = {port.name: port.peer for port in node.ports if port.used}
        told["free_ports"] = in_runs(port.name for port in node.ports if not port.used)
    return succeeded(node.id, node.name, told, kind="node")


def _port_details(port: Port) -> dict[str, Any]:
    return {
        "name": port.name,
        "short_name": port.short_name,
        "media": port.media,
        "adapter_number": port.adapter_number,
        "port_number": port.port_number,
        "used": port.used,
        "peer": port.peer,
        "link_id": port.link_id,
    }


def _link_item(link: Link) -> dict[str, Any]:
    told = {
        "ends": [{"node": end.node_name, "port": end.port} for end in link.ends],
        "media": link.media,
        "filters": dict(link.filters),
        "suspended": link.suspended,
        "capturing": link.capturing,
    }
    return succeeded(link.id, link.name, told, kind="link")
