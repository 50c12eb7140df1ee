"""The events of a turn, kept from its first to its last so that any number of readers can follow."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

Event = dict[str, Any]


class EventLog:
    """Every event of one turn in order. Readers follow it at their own pace; a slow one holds up nobody."""

    def __init__(self, session_id: str) -> None:
        self.session_id = session_id
        self._events: list[Event] = []
        self._changed = asyncio.Event()
        self._end = asyncio.Event()

    @property
    def ended(self) -> bool:
        """Whether the last event is there."""
        return self._end.is_set()

    async def wait_for_end(self) -> None:
        """Return when the last event is there."""
        await self._end.wait()

    def append(self, kind: str, **fields: Any) -> None:
        """Add an event; after the end it is dropped, so that a late one cannot follow the terminal event."""
        if self.ended:
            return
        self._events.append({"type": kind, "session_id": self.session_id, **fields})
        self._wake()

    def end(self) -> None:
        """Let readers finish when they have read what is there."""
        self._end.set()
        self._wake()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    async def follow(self, heartbeat_seconds: float) -> AsyncIterator[Event]:
        """Yield the events from the first to the last, and a heartbeat after each such time of silence."""
        async for events in self.follow_together(heartbeat_seconds):
            for event in events:
                yield event

    async def follow_together(self, heartbeat_seconds: float) -> AsyncIterator[list[Event]]:
        """The same, with all events at once that have come since the reader was here the last time."""
        position = 0
        while True:
            changed = self._changed
            if position < len(self._events):
                events = self._events[position:]
                position = len(self._events)
                yield events
                continue
            if self.ended:
                return
            try:
                async with asyncio.timeout(heartbeat_seconds):
                    await changed.wait()
            except TimeoutError:
                yield [{"type": "heartbeat", "session_id": self.session_id}]
