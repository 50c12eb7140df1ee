"""Creates nodes from templates: in parallel, each at most once, named, and read back."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from gns3server_copilot.errors import GNS3Error
from gns3server_copilot.gns3.changes import WIDTH, let_finish
from gns3server_copilot.gns3.templates import Template
from gns3server_copilot.gns3.topology import LOCAL, Node, parse_node, read_nodes

if TYPE_CHECKING:
    from gns3server_copilot.gns3.client import GNS3Client

log = logging.getLogger(__name__)

#: gns3-server itself waits this long for a compute that copies images; a Docker image may be pulled even longer.
CREATE_SECONDS = 1200.0
#: A server that has just started answers 500 until its own compute is connected.
FRESH_SERVER_SECONDS = 5.0
RETRY_SECONDS = 0.3


@dataclass(frozen=True)
class NewNode:
    """A node to create; `name` None takes the template's default, `compute_id` None the template's compute.

    A template that names none means the server's own: gns3-server would throw dice among those that are connected.
    """

    template: Template
    x: int
    y: int
    name: str | None = None
    compute_id: str | None = None


@dataclass
class Creation:
    """What came of a NewNode: `node` as it is now or None, and why it could not be created or named."""

    wanted: NewNode
    node: Node | None = None
    error: GNS3Error | None = None
    naming_error: GNS3Error | None = None

    @property
    def doubtful(self) -> bool:
        """Whether the node may exist although no answer says so."""
        if self.node is not None or self.error is None:
            return False
        return self.error.status == HTTPStatus.REQUEST_TIMEOUT or self.error.status >= HTTPStatus.INTERNAL_SERVER_ERROR


async def create_nodes(
    client: GNS3Client, project_id: str, wanted: Sequence[NewNode], existing: Iterable[Node]
) -> list[Creation]:
    """Create `wanted` beside the `existing` nodes and give one Creation each, in the same order.

    When cancelled, nodes whose creation has begun are still created and named, no further ones.
    """
    batch = _Batch(client, project_id, existing, wanted)
    creations = [Creation(node) for node in wanted]
    await batch.create(creations)
    await batch.settle_doubts(creations)
    await batch.read_back(creations)
    return creations


class _Batch:
    def __init__(
        self, client: GNS3Client, project_id: str, existing: Iterable[Node], wanted: Sequence[NewNode]
    ) -> None:
        self._client = client
        self._project_id = project_id
        self._project = f"/projects/{project_id}"
        self._not_ours = {node.id for node in existing}
        self._width = asyncio.Semaphore(WIDTH)
        # Default names shall count up in the order asked: PC1, PC2, PC3. So templates that give a name make their nodes
        # one after another; even a node with a name of its own holds the next default one until it is renamed.
        self._in_order = {node.template.id: asyncio.Lock() for node in wanted if node.name is None}

    async def create(self, creations: Iterable[Creation]) -> None:
        await asyncio.gather(*(self._create_in_turn(creation) for creation in creations))

    async def settle_doubts(self, creations: Sequence[Creation]) -> None:
        """Look for nodes whose call gave no clear answer, and ask again for those that a fresh server refused."""
        give_up = time.monotonic() + FRESH_SERVER_SECONDS
        while doubtful := [creation for creation in creations if creation.doubtful]:
            try:
                nodes = await read_nodes(self._client, self._project_id)
            except GNS3Error as error:
                log.warning("Nodes without a clear answer cannot be looked for: %s", error.message)
                return
            await self._recognise(doubtful, nodes, creations)
            again = [
                creation
                for creation in doubtful
                if creation.doubtful and creation.error and creation.error.status != HTTPStatus.REQUEST_TIMEOUT
            ]
            if not again or time.monotonic() > give_up:
                return
            await asyncio.sleep(RETRY_SECONDS)
            await self.create(again)

    async def read_back(self, creations: Iterable[Creation]) -> None:
        """Put the nodes' present state into `creations`."""
        try:
            now = {node.id: node for node in await read_nodes(self._client, self._project_id)}
        except GNS3Error as error:
            log.warning("New nodes cannot be read back: %s", error.message)
            return
        for creation in creations:
            if creation.node is not None:
                creation.node = now.get(creation.node.id)
                if creation.node is None:
                    creation.error = GNS3Error(
                        "It was created, but somebody has deleted it since.", HTTPStatus.NOT_FOUND.value
                    )

    async def _create_in_turn(self, creation: Creation) -> None:
        template_id = creation.wanted.template.id
        async with self._in_order.get(template_id) or nullcontext(), self._width:
            what = f"create a node from template {creation.wanted.template.name}"
            await let_finish(what, self._create_and_name(creation), lambda _: _told(creation))

    async def _create_and_name(self, creation: Creation) -> None:
        wanted = creation.wanted
        body: dict[str, Any] = {"x": wanted.x, "y": wanted.y}
        if compute_id := wanted.compute_id or (None if wanted.template.compute_id else LOCAL):
            body["compute_id"] = compute_id
        creation.error = None
        try:
            path = f"{self._project}/templates/{wanted.template.id}"
            creation.node = parse_node(await self._client.post(path, body, timeout=CREATE_SECONDS))
        except GNS3Error as error:
            creation.error = error
        else:
            await self._give_name(creation, creation.node)

    async def _give_name(self, creation: Creation, node: Node) -> None:
        # gns3-server ignores a name at creation
        if creation.wanted.name in (None, node.name):
            return
        try:
            path = f"{self._project}/nodes/{node.id}"
            creation.node = parse_node(await self._client.put(path, {"name": creation.wanted.name}))
        except GNS3Error as error:
            creation.naming_error = error

    async def _recognise(
        self, doubtful: Sequence[Creation], nodes: Iterable[Node], creations: Iterable[Creation]
    ) -> None:
        """Take nodes that are new and nobody's for those that no answer came for: same template, same place."""
        known = self._not_ours | {creation.node.id for creation in creations if creation.node is not None}
        unclaimed = [node for node in nodes if node.id not in known]
        for creation in doubtful:
            wanted = creation.wanted
            for node in unclaimed:
                if (node.template_id, node.x, node.y) == (wanted.template.id, wanted.x, wanted.y):
                    unclaimed.remove(node)
                    creation.node, creation.error = node, None
                    await let_finish(f"name node {node.id}", self._give_name(creation, node))
                    break


def _told(creation: Creation) -> str:
    if creation.node is None:
        return creation.error.message if creation.error else "There is no node."
    unnamed = f" It was not named {creation.wanted.name}." if creation.naming_error else ""
    return f"{creation.node.name} exists (id {creation.node.id}).{unnamed}"
