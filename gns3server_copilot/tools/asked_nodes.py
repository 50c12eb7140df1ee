"""The nodes that a call names, by name, id or `all`: what the tools that switch nodes share."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Awaitable, Callable, Sequence
from http import HTTPStatus
from typing import Any

from pydantic import AliasChoices, Field, field_validator

from gns3server_copilot.errors import ToolError
from gns3server_copilot.gns3.names import find
from gns3server_copilot.gns3.node_kinds import ALWAYS_ON
from gns3server_copilot.gns3.power import PowerChange, Switchboard
from gns3server_copilot.gns3.project import require_open
from gns3server_copilot.gns3.runs import natural_order
from gns3server_copilot.gns3.text import clipped, printable
from gns3server_copilot.gns3.topology import LOCAL, Node, read_nodes
from gns3server_copilot.tools.base import ToolArguments, ToolContext
from gns3server_copilot.tools.response import failed

EVERY_NODE = "all"
MAX_NODES = 400


class NodesArguments(ToolArguments):
    """Which nodes."""

    nodes: list[str] = Field(
        min_length=1,
        max_length=MAX_NODES,
        # node_ids is what other copilots taught models
        validation_alias=AliasChoices("nodes", "node_ids"),
        description='Names or ids of the nodes, or all for every one, e.g. ["R1", "PC2"]',
    )

    @field_validator("nodes", mode="before")
    @classmethod
    def _one_alone(cls, nodes: Any) -> Any:
        return [nodes] if isinstance(nodes, str) else nodes


async def switch_each(
    wanted: Sequence[str],
    nodes: Sequence[Node],
    switch: Callable[[Node], Awaitable[dict[str, Any]]],
    *,
    everyone: Callable[[Node], bool] = lambda node: True,
    nobody: str,
) -> list[dict[str, Any]]:
    """Give one item for each name in `wanted`, made by awaiting `switch` of its node, each node once.

    `all` stands for the nodes of which `everyone` holds. Raises ToolError(`nobody`) when that is no node.
    """
    if any(printable(name).casefold() == EVERY_NODE for name in wanted):
        wanted = [node.id for node in sorted(nodes, key=lambda node: natural_order(node.name)) if everyone(node)]
        if not wanted:
            raise ToolError(nobody)
    # looking for the nearest names of many wrong ones takes long enough to hold up the server
    found = await asyncio.to_thread(_find_all, wanted, nodes)
    asked = {node.id: node for node in found if isinstance(node, Node)}
    items = dict(zip(asked, await asyncio.gather(*map(switch, asked.values())), strict=True))
    return [
        items[node.id] if isinstance(node, Node) else failed("", clipped(printable(name), 60), node)
        for name, node in zip(wanted, found, strict=True)
    ]


async def switch_asked(
    wanted: Sequence[str],
    context: ToolContext,
    switch: Callable[[Node, Switchboard], Awaitable[dict[str, Any]]],
    *,
    nobody: str,
) -> list[dict[str, Any]]:
    """Give one item for each name in `wanted`, made by `switch`; nodes that are always on are refused.

    `all` leaves those out. Raises ToolError(`nobody`) when no node is left then, or the project is not open.
    """
    require_open(context.project)
    nodes = await read_nodes(context.gns3, context.project.project_id)
    switchboard = Switchboard(context.gns3, context.project.project_id)

    async def one(node: Node) -> dict[str, Any]:
        if not can_be_switched(node):
            return failed(node.id, node.name, f"{node.name} is of the type {node.type}: such a node is always on.")
        return await switch(node, switchboard)

    return await switch_each(wanted, nodes, one, everyone=can_be_switched, nobody=nobody)


def _find_all(wanted: Sequence[str], nodes: Sequence[Node]) -> list[Node | str]:
    @functools.cache
    def found(name: str) -> Node | str:
        try:
            return find(name, nodes, "node")
        except ToolError as error:
            return error.message

    return [found(name) for name in wanted]


def can_be_switched(node: Node) -> bool:
    """Whether the node is not one of those that run for ever."""
    return node.type not in ALWAYS_ON


def not_reached(change: PowerChange, name: str) -> str:
    """Say why a node is not as it should be."""
    node, error = change.node, change.error
    if node is None:
        return f"{name} is not there any more: somebody has deleted it."
    if error is not None and error.status == HTTPStatus.REQUEST_TIMEOUT:
        return (
            f"gns3-server has not answered in time; {name} is {node.status} now. Read its status before trying again."
        )
    if error is not None:
        status = f" GNS3 shows it as {node.status} all the same." if node.status == change.power.goal else ""
        return f"{error.message.rstrip('.')}.{status}"
    compute = f" on the compute {node.compute_id}" if node.compute_id not in ("", LOCAL) else ""
    return (
        f"gns3-server reported no error, but {name} is {node.status}, not {change.power.goal}: its emulator{compute} "
        "did not do it or has ended. The server's log says more."
    )
