"""Starts, stops and suspends nodes, and sees for itself what came of it.

gns3-server answers 204 to many a request that changes nothing: it swallows errors of the compute on stop, and
whatever a compute does not support. So the state that is read back is what counts.
"""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import dataclass
from enum import StrEnum
from http import HTTPStatus
from typing import TYPE_CHECKING

from gns3server_copilot.errors import GNS3Error
from gns3server_copilot.gns3.changes import let_finish
from gns3server_copilot.gns3.topology import Node, read_node, read_nodes

if TYPE_CHECKING:
    from gns3server_copilot.gns3.client import GNS3Client

log = logging.getLogger(__name__)

#: Nodes that are started or stopped at once.
WIDTH = 8
#: gns3-server itself gives a compute 240 s.
POWER_SECONDS = 260.0
#: The compute tells of a new status a moment after its answer.
SETTLE_SECONDS = 5.0
FIRST_LOOK_SECONDS = 0.05
LONGEST_PAUSE_SECONDS = 0.8


class Power(StrEnum):
    """What can be done to a node, in the API's words; start also resumes."""

    START = "start"
    STOP = "stop"
    SUSPEND = "suspend"

    @property
    def goal(self) -> str:
        """The status afterwards."""
        return {Power.START: "started", Power.STOP: "stopped", Power.SUSPEND: "suspended"}[self]


@dataclass
class PowerChange:
    """What came of it: `node` as it is now, None when it is gone; `before` is the status that it had."""

    power: Power
    node: Node | None
    before: str
    error: GNS3Error | None = None

    @property
    def reached(self) -> bool:
        """Whether the node is now as it should be, whatever was answered."""
        # A refusal counts also where the status says otherwise: a QEMU node without its console is "started".
        refused = self.error is not None and not _unclear(self.error)
        return self.node is not None and self.node.status == self.power.goal and not refused


class Switchboard:
    """Switches nodes of one project, several at once."""

    def __init__(self, client: GNS3Client, project_id: str) -> None:
        self._client = client
        self._project_id = project_id
        self._width = asyncio.Semaphore(WIDTH)

    async def switch(self, power: Power, node: Node) -> PowerChange:
        """Switch a node, unless it is so already, and read back what came of it.

        When cancelled, what has begun goes on in gns3-server; what waits for its turn is not begun.
        """
        change = PowerChange(power, node, node.status)
        if node.status == power.goal:
            return change
        async with self._width:
            path = f"/projects/{self._project_id}/nodes/{node.id}/{power}"
            try:
                await let_finish(f"{power} {node.name}", self._client.post(path, {}, timeout=POWER_SECONDS))
            except GNS3Error as error:
                change.error = error
        await self.read_back(change, SETTLE_SECONDS if change.error is None or _unclear(change.error) else 0)
        return change

    async def read_back(self, change: PowerChange, seconds: float) -> None:
        """Put the node as it is now into `change`, waiting up to so many seconds for the status that it should have."""
        if change.node is None:
            return
        node_id, give_up, pause = change.node.id, time.monotonic() + seconds, FIRST_LOOK_SECONDS
        while True:
            try:
                change.node = await self._look(node_id, change.error)
            except GNS3Error as error:
                if error.status == HTTPStatus.NOT_FOUND:
                    change.node, change.error = None, error
                else:
                    log.warning("Node %s cannot be read back: %s", node_id, error.message)
                return
            if change.node.status == change.power.goal or time.monotonic() + pause > give_up:
                return
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE_SECONDS)

    async def _look(self, node_id: str, error: GNS3Error | None) -> Node:
        if error is None or error.status != HTTPStatus.REQUEST_TIMEOUT:
            return await read_node(self._client, self._project_id, node_id)
        # requests about one node wait for each other, and one that has not been answered goes on
        for node in await read_nodes(self._client, self._project_id):
            if node.id == node_id:
                return node
        raise GNS3Error("It has been deleted.", HTTPStatus.NOT_FOUND.value)


def _unclear(error: GNS3Error) -> bool:
    return error.status == HTTPStatus.REQUEST_TIMEOUT or error.status >= HTTPStatus.INTERNAL_SERVER_ERROR
