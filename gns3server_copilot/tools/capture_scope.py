"""The captures that a turn has started: known to its tools, stopped at the latest when it ends."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from pathlib import Path

from gns3server_copilot.errors import GNS3Error
from gns3server_copilot.gns3 import captures
from gns3server_copilot.gns3.topology import LOCAL
from gns3server_copilot.tools.base import ToolContext

log = logging.getLogger(__name__)

#: What the end of a turn waits for gns3-server to stop a capture.
STOP_SECONDS = 5.0


@dataclass(frozen=True)
class OwnCapture:
    """A capture that the copilot started on a link, known by the name of its file."""

    context: ToolContext
    link_id: str
    file_name: str
    starting: asyncio.Task[None]

    async def runs(self) -> bool:
        """Whether the link is still capturing, and into our file."""
        now = await captures.read_capture(self.context.gns3, self.context.project.project_id, self.link_id)
        return now.capturing and now.file_name == self.file_name

    async def stop(self) -> None:
        """Stop it, unless it has ended or the user has started another one since."""
        if await self.runs():
            await captures.stop_capture(self.context.gns3, self.context.project.project_id, self.link_id)

    async def close(self) -> None:
        """Stop it at the end of the turn, which may have come while it was being started."""
        try:
            async with asyncio.timeout(STOP_SECONDS):
                await asyncio.wait({self.starting})
                if self.starting.exception() is None:
                    await self.stop()
        except (TimeoutError, GNS3Error) as error:
            log.warning("The capture on link %s could not be stopped at the end of a turn: %s", self.link_id, error)


def own_capture(context: ToolContext, link_id: str) -> OwnCapture | None:
    """Give the capture that this turn has started on the link, if any."""
    found = context.scope.kept(("capture", link_id))
    return found if isinstance(found, OwnCapture) else None


async def start_own(context: ToolContext, link_id: str, data_link_type: str) -> OwnCapture:
    """Start a capture and keep it for the turn. Raises GNS3Error as gns3-server does."""
    project = context.project
    await asyncio.to_thread(captures.remove_earlier_files, project.path, link_id)
    await _drop_fetched(context, link_id)
    name = captures.new_file_name(link_id)
    task = asyncio.create_task(captures.start_capture(context.gns3, project.project_id, link_id, name, data_link_type))
    own = OwnCapture(context, link_id, name, task)
    # kept before it has started: a turn that is aborted meanwhile has to find it
    context.scope.keep(("capture", link_id), own, own.close)
    try:
        await asyncio.shield(task)
    except GNS3Error:
        context.scope.forget(("capture", link_id))
        raise
    return own


async def stop_own(own: OwnCapture) -> None:
    """Stop it now; what a remote compute has captured is fetched before, since it cannot be had afterwards."""
    context, link_id = own.context, own.link_id
    now = await captures.read_capture(context.gns3, context.project.project_id, link_id)
    if now.capturing and now.file_name == own.file_name and now.compute_id != LOCAL:
        path = await captures.fetch_stream(context.gns3, context.project.project_id, link_id)
        await _drop_fetched(context, link_id)
        context.scope.keep(("fetched capture", link_id), path, lambda: _remove(path))
    await own.stop()
    context.scope.forget(("capture", link_id))


def fetched_file(context: ToolContext, capture: captures.LinkCapture) -> Path | None:
    """Give what was fetched of a remote capture before it was stopped; nothing once another one has been started."""
    found = context.scope.kept(("fetched capture", capture.link_id))
    return found if isinstance(found, Path) and not capture.capturing else None


async def _drop_fetched(context: ToolContext, link_id: str) -> None:
    path = context.scope.kept(("fetched capture", link_id))
    if isinstance(path, Path):
        context.scope.forget(("fetched capture", link_id))
        await _remove(path)


async def _remove(path: Path) -> None:
    await asyncio.to_thread(path.unlink, missing_ok=True)
