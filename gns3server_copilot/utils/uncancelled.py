"""Work that goes on to its end when whoever waits for it is cancelled."""

from __future__ import annotations

import asyncio
import functools
import logging
from collections.abc import Callable, Coroutine
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

log = logging.getLogger(__name__)

#: The event loop keeps only weak references to tasks.
_running: set[asyncio.Task[Any]] = set()


def begin(work: Coroutine[Any, Any, T], name: str) -> asyncio.Task[T]:
    """Give a task that runs `work` and lives until its end, whoever drops it."""
    task = asyncio.create_task(work, name=name)
    _running.add(task)
    task.add_done_callback(_running.discard)
    return task


def uncancelled(work: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, Coroutine[Any, Any, T]]:
    """Make a coroutine function that can be left but not stopped half-way: a cancellation ends the waiting alone.

    All that reads or writes gns3-server's database goes through this. A query that is cancelled between its two steps
    leaves an open cursor, which the frames of the cancelled task keep until they are collected as garbage; so long it
    holds SQLite's shared lock, and every write of the whole server ends with "database is locked".
    """

    @functools.wraps(work)
    async def waiting(*args: P.args, **kwargs: P.kwargs) -> T:
        task = begin(work(*args, **kwargs), work.__qualname__)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            task.add_done_callback(_log_failure)
            raise

    return waiting


def _log_failure(task: asyncio.Task[Any]) -> None:
    if not task.cancelled() and (error := task.exception()):
        log.warning("%s failed after nobody waited for it any more: %s", task.get_name(), error)
