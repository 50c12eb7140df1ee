"""The tool that adds nodes to the project."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

from pydantic import AliasChoices, Field, model_validator

from gns3server_copilot.errors import ToolError
from gns3server_copilot.gns3.layout import MAX_COORDINATE, free_places, on_canvas
from gns3server_copilot.gns3.names import find
from gns3server_copilot.gns3.node_creation import Creation, NewNode, create_nodes
from gns3server_copilot.gns3.node_names import node_name
from gns3server_copilot.gns3.project import require_open
from gns3server_copilot.gns3.runs import in_runs
from gns3server_copilot.gns3.templates import Template, read_templates
from gns3server_copilot.gns3.topology import Node, Topology, read_topology
from gns3server_copilot.tools.base import BUILDING_MODES, Tool, ToolArguments, ToolContext
from gns3server_copilot.tools.changed import why_not
from gns3server_copilot.tools.response import failed, succeeded

MAX_NODES = 200


class NodeToCreate(ToolArguments):
    """One new node."""

    template: str = Field(
        min_length=1,
        # template_id is what other copilots taught models
        validation_alias=AliasChoices("template", "template_id"),
        description="Name or id of the template, e.g. Ethernet switch",
    )
    x: float | None = Field(
        None, description="Pixels from the middle to the right, with y; without both a free place is taken, e.g. -250"
    )
    y: float | None = Field(None, description="Pixels from the middle down, e.g. 250")
    name: str | None = Field(
        None, min_length=1, description="Name of the node, without spaces; without it the template's default, e.g. R1"
    )
    compute_id: str | None = Field(
        None, min_length=1, description="Id of the compute to run on, only if the user names one, e.g. local"
    )

    @model_validator(mode="after")
    def _both_coordinates(self) -> NodeToCreate:
        if (self.x is None) != (self.y is None):
            raise ValueError("give both x and y, or neither")
        return self


class CreateNodeArguments(ToolArguments):
    """The new nodes."""

    nodes: list[NodeToCreate] = Field(
        min_length=1,
        max_length=MAX_NODES,
        description='The nodes to create, e.g. [{"template": "VPCS", "name": "PC1"}]',
    )


class GNS3CreateNodeTool(Tool[CreateNodeArguments]):
    """Creates nodes from templates, one item each."""

    name = "create_gns3_node"
    description = (
        "Create nodes from templates (see get_gns3_templates) in the project. Nodes without coordinates are laid out "
        "on free places. Gives for each its id, name, type, console and ports; links and starting are separate tools."
    )
    arguments = CreateNodeArguments
    modes = BUILDING_MODES
    read_only = False

    async def run(self, arguments: CreateNodeArguments, context: ToolContext) -> list[dict[str, Any]]:
        """Give one item for each node asked for, created or not."""
        require_open(context.project)
        project_id = context.project.project_id
        templates, topology = await asyncio.gather(
            read_templates(context.gns3), read_topology(context.gns3, project_id)
        )
        # looking for the nearest names of many wrong ones takes long enough to hold up the server
        plans = await asyncio.to_thread(_plan, arguments.nodes, templates, topology)
        new = [plan for plan in plans if isinstance(plan, NewNode)]
        creations = iter(await create_nodes(context.gns3, project_id, new, topology.nodes))
        locked = bool(topology.nodes) and all(node.locked for node in topology.nodes)
        return [
            _item(asked, next(creations), locked) if isinstance(plan, NewNode) else plan
            for asked, plan in zip(arguments.nodes, plans, strict=True)
        ]


def _plan(
    asked: Sequence[NodeToCreate], templates: Sequence[Template], topology: Topology
) -> list[NewNode | dict[str, Any]]:
    """Give for each node asked for what to create, or the item that says why not. Nothing is changed yet."""
    plans: list[NewNode | dict[str, Any]] = []
    taken = {node.name.casefold(): f"{node.name} exists already (id {node.id})" for node in topology.nodes}
    occupied = [(node.x, node.y) for node in topology.nodes]
    unplaced: list[int] = []
    for wanted in asked:
        try:
            template = find(wanted.template, templates, "template")
            name = _free_name(wanted.name, template, taken)
        except ToolError as error:
            plans.append(failed("", wanted.name or wanted.template, error.message))
            continue
        if wanted.x is None or wanted.y is None:
            unplaced.append(len(plans))
            place = (0, 0)
        else:
            place = (on_canvas(wanted.x), on_canvas(wanted.y))
            occupied.append(place)
        plans.append(NewNode(template, *place, name, wanted.compute_id))
    for index, (x, y) in zip(unplaced, free_places(len(unplaced), occupied), strict=True):
        plans[index] = replace(cast(NewNode, plans[index]), x=x, y=y)
    return plans


def _free_name(wanted: str | None, template: Template, taken: dict[str, str]) -> str | None:
    """Give the name as GNS3 keeps it and take it; gns3-server would number a second R1 without saying so."""
    if wanted is None:
        return None
    name = node_name(wanted, template.type)
    if holder := taken.get(name.casefold()):
        raise ToolError(f"Not created: {holder}. Give another name, or none for the default.")
    taken[name.casefold()] = f"{name} is asked for twice"
    return name


def _item(asked: NodeToCreate, creation: Creation, locked: bool) -> dict[str, Any]:
    wanted, node = creation.wanted, creation.node
    if node is None:
        return failed("", wanted.name or wanted.template.name, why_not(creation.error, "the node"))
    if creation.naming_error is not None and node.name != wanted.name:
        problem = f"It exists as {node.name}, do not create it again. It was not named {wanted.name}: "
        return failed(node.id, node.name, problem + creation.naming_error.message)
    details: dict[str, Any] = {
        "type": node.type,
        "status": node.status,
        "console": {"type": node.console_type or "none", "port": node.console},
        "ports": in_runs(port.name for port in node.ports),
        "x": node.x,
        "y": node.y,
    }
    if notes := _notes(asked, node, locked):
        details["note"] = notes
    return succeeded(node.id, node.name, details)


def _notes(asked: NodeToCreate, node: Node, locked: bool) -> str:
    notes = []
    if asked.name is not None and node.name != asked.name:
        notes.append(f"GNS3 made {node.name} of the name {asked.name}.")
    if any(abs(coordinate or 0) > MAX_COORDINATE for coordinate in (asked.x, asked.y)):
        notes.append(f"Coordinates end at {MAX_COORDINATE} px, so it was put at {node.x}, {node.y}.")
    if locked:
        notes.append("The project was locked; this node is not, so that it can be moved.")
    return " ".join(notes)
