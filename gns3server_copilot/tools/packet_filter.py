"""The tool that puts packet filters on a link: loss, delay, corruption, and what matches an expression."""

from __future__ import annotations

import asyncio
from typing import Any, Literal
from weakref import WeakValueDictionary

from pydantic import Field, field_validator

from gns3server_copilot.errors import ToolError
from gns3server_copilot.gns3.link_filters import can_filter, read_filters, set_filters
from gns3server_copilot.gns3.links import LONGEST_LINK, find_link
from gns3server_copilot.gns3.project import require_open
from gns3server_copilot.gns3.text import printable
from gns3server_copilot.gns3.topology import Link, Topology, read_topology
from gns3server_copilot.packets import filters as packet_filters
from gns3server_copilot.packets.bpf import syntax_error
from gns3server_copilot.schemas.modes import Mode
from gns3server_copilot.tools.base import Tool, ToolArguments, ToolContext
from gns3server_copilot.tools.response import succeeded

Action = Literal["get_available", "get", "set", "clear"]
#: Expressions are compiled for Ethernet; on a serial line they match other bytes.
ETHERNET = "ethernet"
#: By link: whoever changes its filters begins with what the one before has left, and puts back nobody else's.
_turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()


class FilterArguments(ToolArguments):
    """The filters to set; those that are left out are not changed."""

    frequency_drop: int | None = Field(
        None, description="Drop every n-th packet, -1 to 32767; -1 drops all, 0 removes the filter, e.g. 10"
    )
    packet_loss: int | None = Field(None, description="Percent of packets to lose, 0 to 100; 0 removes it, e.g. 25")
    delay: list[int] | None = Field(
        None,
        min_length=1,
        max_length=2,
        description="Latency and jitter in milliseconds, latency above 0; [0] removes it, e.g. [100, 10]",
    )
    corrupt: int | None = Field(None, description="Percent of packets to corrupt, 0 to 100; 0 removes it, e.g. 5")
    bpf: str | None = Field(
        None,
        description="Drop packets that match, one expression a line, no quotes; empty removes it, e.g. ip proto 89",
    )

    @field_validator("frequency_drop", "packet_loss", "corrupt", "bpf", mode="before")
    @classmethod
    def _out_of_a_list(cls, value: Any) -> Any:
        # gns3-server's own form, which models know too
        if not isinstance(value, list):
            return value
        if all(isinstance(one, str) for one in value):
            return "\n".join(value)
        return value[0] if len(value) == 1 else value

    @field_validator("delay", mode="before")
    @classmethod
    def _into_a_list(cls, value: Any) -> Any:
        return [value] if isinstance(value, int) else value


class PacketFilterArguments(ToolArguments):
    """Which link, and what to do."""

    action: Action = Field(description="What to do; get_available says which filters the link can have, e.g. set")
    link: str = Field(
        min_length=1, max_length=LONGEST_LINK, description="The link, by its two nodes, its ports or its id, e.g. R1-R2"
    )
    filters: FilterArguments | None = Field(None, description='The filters to set, e.g. {"packet_loss": 25}')
    replace: bool = Field(
        False, description="Whether set removes all other filters of the link; without it they stay, e.g. false"
    )


class GNS3PacketFilterTool(Tool[PacketFilterArguments]):
    """Reads, sets and clears the packet filters of one link."""

    name = "manage_gns3_packet_filter"
    description = (
        "Packet filters on a link, which GNS3 applies to both directions: drop every n-th packet, lose or corrupt a "
        "percentage, delay, or drop what matches a BPF expression. set keeps the link's other filters unless replace "
        "is true, and puts everything back if it fails. clear removes all."
    )
    arguments = PacketFilterArguments
    modes = frozenset({Mode.INJECTION})
    read_only = False

    async def run(self, arguments: PacketFilterArguments, context: ToolContext) -> list[dict[str, Any]]:
        """Give one item for the link."""
        project_id = context.project.project_id
        require_open(context.project)
        topology = await read_topology(context.gns3, project_id)
        # in a large lab it takes long enough to hold up the server
        link = await asyncio.to_thread(find_link, arguments.link, topology)
        if arguments.action == "get":
            return [await _get(link, context)]
        if not await can_filter(context.gns3, project_id, link.id):
            raise ToolError(_why_not(link, topology))
        if arguments.action == "get_available":
            types = {name: kind.meaning for name, kind in packet_filters.TYPES.items()}
            return [succeeded(link.id, link.name, {"available": types, "current": dict(link.filters)})]
        async with _turns.setdefault(link.id, asyncio.Lock()):
            return [await _change(link, arguments, context)]


async def _get(link: Link, context: ToolContext) -> dict[str, Any]:
    now = await read_filters(context.gns3, context.project.project_id, link.id)
    told: dict[str, Any] = {"filters": now.filters, "meaning": packet_filters.in_words(now.filters)}
    if now.suspended:
        told["note"] = "The link is suspended: nothing passes, whatever the filters."
    return succeeded(link.id, link.name, told)


async def _change(link: Link, arguments: PacketFilterArguments, context: ToolContext) -> dict[str, Any]:
    project_id = context.project.project_id
    now = await read_filters(context.gns3, project_id, link.id)
    wanted: packet_filters.Filters = {}
    asked = arguments.filters.model_dump(exclude_none=True) if arguments.filters else {}
    if arguments.action == "clear" and asked:
        raise ToolError("Nothing was changed: clear removes all filters. To remove single ones, set them to 0.")
    if arguments.action == "set":
        if not asked:
            raise ToolError("Which filters? Give filters, for example one with packet_loss; clear removes all.")
        wanted = packet_filters.merged(now.filters, packet_filters.checked(asked), replace=arguments.replace)
        await _check_expression(wanted, link)
    after = await set_filters(context.gns3, project_id, link.id, wanted, packet_filters.same)
    told: dict[str, Any] = {
        "before": now.filters,
        "filters": after,
        "meaning": packet_filters.in_words(after) or ["nothing is filtered"],
    }
    warnings = packet_filters.warnings(after)
    if now.suspended:
        warnings.append("The link is suspended: nothing passes until it is resumed in GNS3.")
        if not after:
            # an empty set that takes the place of the suspension's own filter does not reach the compute either
            warnings.append("gns3-server goes on blocking a link that is resumed without filters: clear it once more.")
    if warnings:
        told["warnings"] = warnings
    applied = arguments.action == "set" and not packet_filters.same(now.filters, after)
    return succeeded(link.id, link.name, told, applied=applied)


async def _check_expression(filters: packet_filters.Filters, link: Link) -> None:
    expression = filters.get("bpf")
    if expression and link.media == ETHERNET:
        complaint = await syntax_error(str(expression[0]))
        if complaint is not None:
            raise ToolError(f"Nothing was changed: the bpf expression is wrong ({printable(complaint)}).")


def _why_not(link: Link, topology: Topology) -> str:
    types = {node.id: node.type for node in topology.nodes}
    ends = " and ".join(f"{end.node_name} is of type {types.get(end.node_id, 'unknown')}" for end in link.ends)
    return (
        f"{link.name} cannot have filters: {ends}, and GNS3 filters only where one end is a VPCS, Dynamips, QEMU, IOU, "
        "Docker, cloud, NAT, VirtualBox or VMware node. Choose another link."
    )
