"""Changes that have begun are let finish: who leaves stops the waiting, never the change."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypeVar

from gns3server_copilot.errors import CopilotError
from gns3server_copilot.utils.uncancelled import begin

#: Calls that change different nodes of a project and run at once. gns3-server writes the whole project after each, on
#: its event loop: more at a time are no faster, and make everybody else wait for several writings in a row.
WIDTH = 3

log = logging.getLogger(__name__)

T = TypeVar("T")


@dataclass(frozen=True)
class Outcome:
    """What came of a change: `done` is None while it still goes on. `said` is a sentence for whoever asked for it."""

    what: str
    done: bool | None
    said: str


class BegunChanges:
    """The changes that were begun for one purpose, in order."""

    def __init__(self) -> None:
        self._begun: list[tuple[asyncio.Task[Any], Callable[[Any], str]]] = []

    def add(self, task: asyncio.Task[Any], told: Callable[[Any], str]) -> None:
        """Add a change that has begun; `told` makes a sentence of its result."""
        self._begun.append((task, told))

    async def outcomes(self, seconds: float) -> list[Outcome]:
        """Give what has come of them, after at most so many seconds for those that still go on."""
        tasks = [task for task, _ in self._begun]
        if tasks:
            await asyncio.wait(tasks, timeout=seconds)
        return [_outcome(task, told) for task, told in self._begun]


_begun: ContextVar[BegunChanges | None] = ContextVar("begun_changes", default=None)


@contextmanager
def begun_changes(begun: BegunChanges | None) -> Iterator[None]:
    """Have `begun` get the changes that are begun in the block, by tasks that are made in it, too."""
    token = _begun.set(begun)
    try:
        yield
    finally:
        _begun.reset(token)


def _done(result: Any) -> str:
    return "Done."


async def let_finish(what: str, change: Coroutine[Any, Any, T], told: Callable[[T], str] = _done) -> T:
    """Wait for `change`, which runs in a task of its own; when the wait is cancelled it goes on and its end is logged.

    A handler of gns3-server that is cancelled half-way leaves half a change behind: a node on the compute that the
    controller does not know, a lock counter that never goes down. `what` names the change, without secrets; `told`
    makes a sentence of its result for a turn that was stopped meanwhile.
    """
    begun = _begun.get()
    with begun_changes(None):  # what a change begins in its turn is a part of it
        task = begin(change, what)
    if begun is not None:
        begun.add(task, told)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        task.add_done_callback(_log_end)
        raise


def _outcome(task: asyncio.Task[Any], told: Callable[[Any], str]) -> Outcome:
    what = task.get_name()
    if not task.done():
        return Outcome(what, None, "It was still going on when the turn ended, and is let finish.")
    if task.cancelled():
        return Outcome(what, False, "It was stopped half-way.")
    error = task.exception()
    if error is None:
        return Outcome(what, True, told(task.result()))
    said = error.message if isinstance(error, CopilotError) else "It failed inside the copilot; the log says why."
    return Outcome(what, False, said)


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
