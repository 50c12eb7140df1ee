"""Ends of turns that could not be stored when they came: the file was locked, the disk was full.

They are kept in memory and stored as soon as the file can be written again and somebody asks for the conversation.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from gns3server_copilot.agent.turn import Turn
from gns3server_copilot.errors import CopilotError, StorageError

log = logging.getLogger(__name__)

Key = tuple[str, str]


@dataclass(frozen=True)
class Ending:
    """A turn that is over, and how it has ended."""

    turn: Turn
    failure: CopilotError | None
    aborted: bool


class UnstoredEndings:
    """The endings of one project that are still to be stored with `store`, by user and session."""

    def __init__(self, store: Callable[[Ending], Awaitable[object]]) -> None:
        self._store = store
        self._endings: dict[Key, Ending] = {}
        self._lock = asyncio.Lock()

    def add(self, key: Key, ending: Ending) -> None:
        """Keep the ending for later."""
        self._endings[key] = ending

    async def forget(self, key: Key) -> None:
        """Store it no more: its conversation is deleted. Returns when no storing of it is under way."""
        async with self._lock:
            self._endings.pop(key, None)

    async def store(self, key: Key) -> None:
        """Store the session's ending if there is one. Raises StorageError when that is still not possible."""
        if key not in self._endings:
            return
        async with self._lock:
            ending = self._endings.get(key)
            if ending is None:
                return
            try:
                await self._store(ending)
            except StorageError:
                raise
            except Exception:  # another try would fail in the same way, and stand in the way of all that follows
                log.exception("The end of a turn could not be stored and is given up")
            self._endings.pop(key, None)

    async def try_to_store(self, user_id: str | None = None) -> None:
        """Store what can be stored now: of one user, or of everybody."""
        for key in list(self._endings):
            if user_id in (None, key[0]):
                with contextlib.suppress(StorageError):  # said when it first happened
                    await self.store(key)
