"""The tool that gives nodes other names."""

from __future__ import annotations

import asyncio
from typing import Any

from pydantic import AliasChoices, Field

from gns3server_copilot.errors import ToolError
from gns3server_copilot.gns3.node_kinds import OWN_HOST_NAME
from gns3server_copilot.gns3.project import require_open
from gns3server_copilot.gns3.rename_plan import Rename, plan_renames
from gns3server_copilot.gns3.renaming import Renaming, rename_nodes
from gns3server_copilot.gns3.text import clipped, printable
from gns3server_copilot.gns3.topology import read_nodes
from gns3server_copilot.tools.base import BUILDING_MODES, Tool, ToolArguments, ToolContext
from gns3server_copilot.tools.response import failed, succeeded

MAX_NODES = 400


class NodeToRename(ToolArguments):
    """One node and its new name."""

    # node_id is what other copilots taught models
    node: str = Field(
        min_length=1,
        validation_alias=AliasChoices("node", "node_id"),
        description="Present name or id of the node, e.g. PC1",
    )
    new_name: str = Field(min_length=1, description="Its new name, without spaces, e.g. Client")


class RenameNodeArguments(ToolArguments):
    """The nodes and their new names."""

    nodes: list[NodeToRename] = Field(
        min_length=1,
        max_length=MAX_NODES,
        description='What to rename, e.g. [{"node": "PC1", "new_name": "Client"}]',
    )


class GNS3UpdateNodeNameTool(Tool[RenameNodeArguments]):
    """Renames nodes, one item each."""

    name = "update_gns3_node_name"
    description = (
        "Rename nodes of the project; two may swap their names in one call. A running node has to be stopped first, "
        "except switches, hubs, clouds and NAT. Gives for each its name as GNS3 has it now."
    )
    arguments = RenameNodeArguments
    modes = BUILDING_MODES
    read_only = False

    async def run(self, arguments: RenameNodeArguments, context: ToolContext) -> list[dict[str, Any]]:
        """Give one item for each node, renamed or not."""
        require_open(context.project)
        project_id = context.project.project_id
        nodes = await read_nodes(context.gns3, project_id)
        asked = [(node.node, node.new_name) for node in arguments.nodes]
        # looking for the nearest names of many wrong ones takes long enough to hold up the server
        plans = await asyncio.to_thread(plan_renames, asked, nodes)
        renamings = iter(
            await rename_nodes(context.gns3, project_id, [plan for plan in plans if isinstance(plan, Rename)])
        )
        return [
            _item(wanted, next(renamings)) if isinstance(plan, Rename) else _refused(wanted, plan)
            for wanted, plan in zip(arguments.nodes, plans, strict=True)
        ]


def _refused(wanted: NodeToRename, error: ToolError) -> dict[str, Any]:
    return failed("", clipped(printable(wanted.node), 60), error.message)


def _item(wanted: NodeToRename, renaming: Renaming) -> dict[str, Any]:
    before, node = renaming.wanted.node, renaming.node
    if node is None:
        return failed(before.id, before.name, f"{before.name} is not there any more: somebody has deleted it.")
    if renaming.error is not None:
        return failed(node.id, node.name, f"It is still called {node.name}: {renaming.error.message}")
    told = {"old_name": before.name, "new_name": node.name}
    notes = []
    if node.name == before.name:
        notes.append("It was called so already.")
    elif node.type in OWN_HOST_NAME:
        notes.append("The host name that the machine itself is configured with stays as it is.")
    if node.name != wanted.new_name:
        notes.append(f"GNS3 made {node.name} of the name {wanted.new_name}.")
    if notes:
        told["note"] = " ".join(notes)
    return succeeded(node.id, node.name, told)
