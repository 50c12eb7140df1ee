"""A turn's sessions with devices: kept between its calls, one user of a console at a time, always left clean."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from gns3server_copilot.consoles.locks import Lease
from gns3server_copilot.consoles.session import Session
from gns3server_copilot.tools.base import ToolContext
from gns3server_copilot.tools.devices import Device, consoles_of, families_of
from gns3server_copilot.utils.uncancelled import uncancelled

log = logging.getLogger(__name__)


@asynccontextmanager
async def device_session(context: ToolContext, device: Device) -> AsyncIterator[Session]:
    """Give a session at a device's prompt, the turn's own if it has one, and the console to nobody else meanwhile.

    When the block ends well, the session is kept for the turn's next call. When it does not, and when it is cancelled,
    the console is brought back to a clean prompt and closed. Raises CopilotErrors that say why it cannot be used.
    """
    consoles = consoles_of(context)
    node = device.node
    await consoles.require_permission(context.user.user_id, context.project.project_id, node)
    host, port = consoles.address(node)
    lease = await consoles.locks.acquire(
        node.id, f"another chat (of {context.user.username})", context.settings.console_wait_seconds
    )
    key = ("console", node.id)
    session: Session | None = context.scope.kept(key)
    try:
        if session is not None and (session.closed or session.address != (host, port)):
            context.scope.forget(key)
            await session.disconnect()
            session = None
        if session is None:
            session = await consoles.session(
                node, context.project.project_id, device.found, families_of(context), context.user.user_id
            )
            await session.attach(host, port)
            context.scope.keep(key, session, session.disconnect)
        await session.ready()
        yield session
    except BaseException:
        context.scope.forget(key)
        await _leave(session, lease)
        raise
    if session.lost:
        context.scope.forget(key)
        await _leave(session, lease)
    lease.release()


@uncancelled
async def _leave(session: Session | None, lease: Lease) -> None:
    """Leave a console in order; only then it is somebody else's turn."""
    try:
        if session is not None:
            await session.close()
    except Exception:
        log.exception("A console could not be left in order")
    finally:
        lease.release()
