"""Renames nodes, swaps included, and sees for itself what they are called then."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gns3server_copilot.errors import GNS3Error
from gns3server_copilot.gns3.changes import WIDTH, let_finish
from gns3server_copilot.gns3.rename_plan import Rename, in_order
from gns3server_copilot.gns3.topology import Node, parse_node, read_nodes

if TYPE_CHECKING:
    from gns3server_copilot.gns3.client import GNS3Client

log = logging.getLogger(__name__)

#: gns3-server itself gives a compute 120 s.
RENAME_SECONDS = 150.0


@dataclass
class Renaming:
    """What came of a Rename: `node` as it is now, None when it is gone, and why it does not have its new name."""

    wanted: Rename
    node: Node | None
    error: GNS3Error | None = None


async def rename_nodes(client: GNS3Client, project_id: str, wanted: Sequence[Rename]) -> list[Renaming]:
    """Rename nodes and give one Renaming each, in the same order. When cancelled, a swap that has begun is ended."""
    batch = _Batch(client, project_id)
    renamings = [Renaming(rename, rename.node) for rename in wanted]
    by_node = {renaming.wanted.node.id: renaming for renaming in renamings}
    groups = ([by_node[rename.node.id] for rename in group] for group in in_order(wanted))
    await asyncio.gather(*(batch.rename_in_turn(group) for group in groups))
    if renamings:
        await batch.read_back(renamings)
    return renamings


class _Batch:
    def __init__(self, client: GNS3Client, project_id: str) -> None:
        self._client = client
        self._project_id = project_id
        self._width = asyncio.Semaphore(WIDTH)

    async def rename_in_turn(self, group: Sequence[Renaming]) -> None:
        async with self._width:
            names = ", ".join(renaming.wanted.node.name for renaming in group)
            await let_finish(f"rename {names}", self._rename_group(group), lambda _: _told(group))

    async def _rename_group(self, group: Sequence[Renaming]) -> None:
        """Rename one after the other; who would get a name that was not given up is left as it is."""
        held = {_now(renaming).casefold(): renaming for renaming in group}
        if len(group) > 1 and group[0].wanted.new_name.casefold() == group[-1].wanted.node.name.casefold():
            await self._put_name(group[-1], f"swap-{secrets.token_hex(4)}")
        for renaming in group:
            if renaming.error is not None:
                continue
            holder = held.get(renaming.wanted.new_name.casefold())
            if holder not in (None, renaming) and _now(holder).casefold() == renaming.wanted.new_name.casefold():
                why = holder.error.message if holder.error else "it was not renamed"
                renaming.error = GNS3Error(f"{_now(holder)} keeps its name: {why}", 409)
            else:
                await self._put_name(renaming, renaming.wanted.new_name)
        last = group[-1]
        if last.error is not None and _now(last) not in (last.wanted.node.name, last.wanted.new_name):
            await self._give_back(last)

    async def _put_name(self, renaming: Renaming, name: str) -> None:
        if _now(renaming) == name:
            return
        path = f"/projects/{self._project_id}/nodes/{renaming.wanted.node.id}"
        try:
            renaming.node = parse_node(await self._client.put(path, {"name": name}, timeout=RENAME_SECONDS))
        except GNS3Error as error:
            renaming.error = error

    async def _give_back(self, renaming: Renaming) -> None:
        error = renaming.error
        await self._put_name(renaming, renaming.wanted.node.name)
        renaming.error = error

    async def read_back(self, renamings: Sequence[Renaming]) -> None:
        """Put the nodes as they are now into `renamings`; who has its new name has no error, whatever was answered."""
        try:
            now = {node.id: node for node in await read_nodes(self._client, self._project_id)}
        except GNS3Error as error:
            log.warning("Renamed nodes cannot be read back: %s", error.message)
            return
        for renaming in renamings:
            renaming.node = now.get(renaming.wanted.node.id)
            if renaming.node is not None and renaming.node.name == renaming.wanted.new_name:
                renaming.error = None


def _told(group: Sequence[Renaming]) -> str:
    return "; ".join(f"{renaming.wanted.node.name} is called {_now(renaming)}" for renaming in group) + "."


def _now(renaming: Renaming) -> str:
    return renaming.node.name if renaming.node is not None else ""
