"""The tool that connects nodes."""

from __future__ import annotations

import asyncio
from typing import Any

from pydantic import AliasChoices, Field

from gns3server_copilot.gns3.link_creation import LinkCreation, NewLink, create_links
from gns3server_copilot.gns3.link_plan import LinkRequest, plan_links
from gns3server_copilot.gns3.ports import AUTO
from gns3server_copilot.gns3.project import require_open
from gns3server_copilot.gns3.topology import Topology, read_topology
from gns3server_copilot.tools.base import BUILDING_MODES, Tool, ToolArguments, ToolContext
from gns3server_copilot.tools.changed import why_not
from gns3server_copilot.tools.response import failed, succeeded

MAX_LINKS = 400


class LinkToCreate(ToolArguments):
    """One new link."""

    # node_id1, port1 and the like are what other copilots taught models
    node_a: str = Field(
        min_length=1,
        validation_alias=AliasChoices("node_a", "node_id1"),
        description="Name or id of the one node, e.g. R1",
    )
    port_a: str = Field(
        AUTO,
        min_length=1,
        validation_alias=AliasChoices("port_a", "port1"),
        coerce_numbers_to_str=True,
        description="Its port, in full or shortened, or auto for the first free one, e.g. Gi0/0",
    )
    node_b: str = Field(
        min_length=1,
        validation_alias=AliasChoices("node_b", "node_id2"),
        description="Name or id of the other node, e.g. SW1",
    )
    port_b: str = Field(
        AUTO,
        min_length=1,
        validation_alias=AliasChoices("port_b", "port2"),
        coerce_numbers_to_str=True,
        description="Its port, in full or shortened, or auto for the first free one, e.g. auto",
    )


class CreateLinkArguments(ToolArguments):
    """The new links."""

    links: list[LinkToCreate] = Field(
        min_length=1,
        max_length=MAX_LINKS,
        description='The links, e.g. [{"node_a": "R1", "port_a": "Gi0/0", "node_b": "SW1", "port_b": "auto"}]',
    )


class GNS3LinkTool(Tool[CreateLinkArguments]):
    """Creates links between ports, one item each."""

    name = "create_gns3_link"
    description = (
        "Connect nodes of the project, port to port. Ports are named in full (GigabitEthernet0/0), shortened (Gi0/0, "
        "g0/0, e0), or auto for the first free one of a fitting kind. All links are checked before any is made. Gives "
        "for each its id and both ends; an error names the free ports."
    )
    arguments = CreateLinkArguments
    modes = BUILDING_MODES
    read_only = False

    async def run(self, arguments: CreateLinkArguments, context: ToolContext) -> list[dict[str, Any]]:
        """Give one item for each link asked for, created or not."""
        require_open(context.project)
        project_id = context.project.project_id
        topology = await read_topology(context.gns3, project_id)
        asked = [LinkRequest(link.node_a, link.port_a, link.node_b, link.port_b) for link in arguments.links]
        # looking for the nearest names of many wrong ones takes long enough to hold up the server
        plans = await asyncio.to_thread(plan_links, asked, topology)
        new = [plan for plan in plans if isinstance(plan, NewLink)]
        creations = iter(await create_links(context.gns3, project_id, new))
        return [
            _item(next(creations), request, topology)
            if isinstance(plan, NewLink)
            else failed(plan.existing_id, request.name, plan.reason)
            for request, plan in zip(asked, plans, strict=True)
        ]


def _item(creation: LinkCreation, asked: LinkRequest, topology: Topology) -> dict[str, Any]:
    link, wanted = creation.link, creation.wanted
    if link is None:
        return failed("", wanted.name, why_not(creation.error, "the link"))
    details = {
        "node_a": wanted.a.node.name,
        "port_a": wanted.a.port.name,
        "node_b": wanted.b.node.name,
        "port_b": wanted.b.port.name,
        "media": link.media,
    }
    nodes = {wanted.a.node.id, wanted.b.node.id}
    before = [one.name for one in topology.links if {end.node_id for end in one.ends} == nodes]
    if before and AUTO in (asked.port_a, asked.port_b):
        details["note"] = f"One more link between the two: {', '.join(before)} was there before."
    return succeeded(link.id, link.name, details)
