"""Creates links: one after another on each compute, each at most once, and read back.

A compute hands out the UDP ports of links in threads, without a lock: links that are made at the same time can get
the same port, and then some node does not start. So they wait for each other, whoever makes them.
"""

from __future__ import annotations

import asyncio
import html
import logging
from collections import defaultdict
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from gns3server_copilot.errors import GNS3Error
from gns3server_copilot.gns3.changes import let_finish
from gns3server_copilot.gns3.ports import place_of
from gns3server_copilot.gns3.topology import Link, LinkEnd, Node, Place, Port, Topology, read_topology

if TYPE_CHECKING:
    from gns3server_copilot.gns3.client import GNS3Client

log = logging.getLogger(__name__)

#: gns3-server itself gives the two computes 120 s each, twice.
LINK_SECONDS = 480.0


#: A server has one loop; a lock belongs to the loop that it was used in.
_turns: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, asyncio.Lock]] = WeakKeyDictionary()


@dataclass(frozen=True)
class Plug:
    """One end of a link to create."""

    node: Node
    port: Port

    @property
    def place(self) -> Place:
        """Where it is."""
        return place_of(self.node, self.port)

    def __str__(self) -> str:
        return f"{self.node.name}:{self.port.short_name}"


@dataclass(frozen=True)
class NewLink:
    """A link to create."""

    a: Plug
    b: Plug

    @property
    def places(self) -> frozenset[Place]:
        """Where its ends are."""
        return frozenset((self.a.place, self.b.place))

    @property
    def name(self) -> str:
        """Both ends, as the link will be called."""
        return f"{self.a}–{self.b}"


@dataclass
class LinkCreation:
    """What came of a NewLink: `link` as it is now or None, and why it could not be created."""

    wanted: NewLink
    link_id: str = ""
    link: Link | None = None
    error: GNS3Error | None = None

    @property
    def doubtful(self) -> bool:
        """Whether the link, or half of it, may exist although no answer says so."""
        if self.link is not None or self.error is None:
            return False
        return self.error.status == HTTPStatus.REQUEST_TIMEOUT or self.error.status >= HTTPStatus.INTERNAL_SERVER_ERROR


async def create_links(client: GNS3Client, project_id: str, wanted: Sequence[NewLink]) -> list[LinkCreation]:
    """Create `wanted` and give one LinkCreation each, in the same order.

    When cancelled, links whose creation has begun are still created, no further ones.
    """
    batch = _Batch(client, project_id)
    creations = [LinkCreation(link) for link in wanted]
    await asyncio.gather(*(batch.create(creation) for creation in creations))
    if creations:
        await batch.read_back(creations)
    return creations


class _Batch:
    def __init__(self, client: GNS3Client, project_id: str) -> None:
        self._client = client
        self._project_id = project_id
        self._links = f"/projects/{project_id}/links"

    async def create(self, creation: LinkCreation) -> None:
        async with AsyncExitStack() as waiting:
            # always in the same order, so that nobody waits in a circle
            for compute_id in sorted({creation.wanted.a.node.compute_id, creation.wanted.b.node.compute_id}):
                await waiting.enter_async_context(_turn_at(compute_id))
            turns = waiting.pop_all()
        # the turns end with the link, also when nobody waits for it any more
        await let_finish(f"link {creation.wanted.name}", self._create(creation, turns), lambda _: _told(creation))

    async def _create(self, creation: LinkCreation, turns: AsyncExitStack) -> None:
        body = {"nodes": [_end(creation.wanted.a), _end(creation.wanted.b)]}
        async with turns:
            try:
                answer = await self._client.post(self._links, body, timeout=LINK_SECONDS)
                creation.link_id = answer["link_id"]
            except GNS3Error as error:
                creation.error = error

    async def read_back(self, creations: Sequence[LinkCreation]) -> None:
        """Put the links as they are now into `creations`, those that no clear answer came for too."""
        try:
            topology = await read_topology(self._client, self._project_id)
        except GNS3Error as error:
            log.warning("New links cannot be read back: %s", error.message)
            for creation in creations:
                if creation.error is None:
                    creation.link = _as_answered(creation)
            return
        now = {link.id: link for link in topology.links}
        for creation in creations:
            if creation.error is None:
                creation.link = now.get(creation.link_id)
                if creation.link is None:
                    creation.error = GNS3Error(
                        "It was created, but somebody has deleted it since.", HTTPStatus.NOT_FOUND.value
                    )
        for creation in creations:
            if creation.doubtful:
                await self._settle(creation, topology)

    async def _settle(self, creation: LinkCreation, topology: Topology) -> None:
        """Find out what has become of a link without a clear answer; of half a link nothing stays behind."""
        link = _between(creation.wanted, topology)
        if link is None:
            return
        try:
            # A link that gns3-server failed to make is in the project's list all the same, but not in its nodes'.
            of_node = await self._client.get(f"/projects/{self._project_id}/nodes/{creation.wanted.a.node.id}/links")
            if any(one.get("link_id") == link.id for one in of_node or ()):
                creation.link, creation.error = link, None
            elif creation.error and creation.error.status != HTTPStatus.REQUEST_TIMEOUT:
                await self._client.delete(f"{self._links}/{link.id}", timeout=LINK_SECONDS)
        except GNS3Error as error:
            log.warning("The link %s cannot be looked at: %s", creation.wanted.name, error.message)


def _turn_at(compute_id: str) -> asyncio.Lock:
    """Give the lock of those who make links on this compute."""
    return _turns.setdefault(asyncio.get_running_loop(), defaultdict(asyncio.Lock))[compute_id]


def _told(creation: LinkCreation) -> str:
    return creation.error.message if creation.error else f"The link exists (id {creation.link_id})."


def _end(plug: Plug) -> dict[str, Any]:
    return {
        "node_id": plug.node.id,
        "adapter_number": plug.port.adapter_number,
        "port_number": plug.port.port_number,
        "label": {"text": html.escape(plug.port.short_name)},
    }


def _between(wanted: NewLink, topology: Topology) -> Link | None:
    return next((link for link in topology.links if link.places == wanted.places), None)


def _as_answered(creation: LinkCreation) -> Link:
    ends = tuple(
        LinkEnd(plug.node.id, plug.node.name, plug.port.short_name, plug.port.adapter_number, plug.port.port_number)
        for plug in (creation.wanted.a, creation.wanted.b)
    )
    return Link(creation.link_id, creation.wanted.a.port.media, ends, {}, suspended=False, capturing=False)
