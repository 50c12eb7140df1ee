"""Changes that have begun are let finish: who leaves stops the waiting, never the change."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any, TypeVar

from gns3server_copilot.errors import CopilotError

#: Calls for different nodes that run at once.
WIDTH = 8

log = logging.getLogger(__name__)

T = TypeVar("T")

#: The event loop keeps only weak references to tasks.
_running: set[asyncio.Task[Any]] = set()


async def let_finish(what: str, change: Coroutine[Any, Any, T]) -> T:
    """Wait for `change`, which runs in a task of its own; when the wait is cancelled it goes on and its end is logged.

    A handler of gns3-server that is cancelled half-way leaves half a change behind: a node on the compute that the
    controller does not know, a lock counter that never goes down. `what` names the change in the log, without secrets.
    """
    task = asyncio.create_task(change, name=what)
    _running.add(task)
    task.add_done_callback(_running.discard)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        task.add_done_callback(_log_end)
        raise


def _log_end(task: asyncio.Task[Any]) -> None:
    if task.cancelled():
        log.warning("%s: stopped half-way", task.get_name())
        return
    error = task.exception()
    if error is None:
        log.info("%s: done, after nobody waited for it any more", task.get_name())
    elif isinstance(error, CopilotError):
        log.warning("%s: failed after nobody waited for it any more: %s", task.get_name(), error.message)
    else:
        log.error("%s: failed after nobody waited for it any more", task.get_name(), exc_info=error)
