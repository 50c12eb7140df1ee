"""Turns a turn's events into a server-sent event stream that proxies and the GNS3 web UI understand."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from gns3server_copilot.agent.events import Event
from gns3server_copilot.agent.turn import Turn

HEADERS = {"Cache-Control": "no-cache, no-transform", "X-Accel-Buffering": "no"}


def encode(event: Event) -> bytes:
    """Give an event's line: exactly `data: `, one JSON object, an empty line; always valid UTF-8."""
    text = json.dumps(event, ensure_ascii=False, separators=(",", ":"))
    return b"data: " + text.encode("utf-8", errors="replace") + b"\n\n"


def event_stream(turn: Turn, heartbeat_seconds: float) -> StreamingResponse:
    """Answer with the turn's events from its first on."""

    async def lines() -> AsyncIterator[bytes]:
        # what has come meanwhile goes out at once: each piece passes all of gns3-server's middleware
        async for events in turn.events.follow_together(heartbeat_seconds):
            yield b"".join(map(encode, events))

    return EventStream(turn, lines())


class EventStream(StreamingResponse):
    """A stream that counts as a reader of its turn for exactly as long as it is served."""

    def __init__(self, turn: Turn, lines: AsyncIterator[bytes]) -> None:
        super().__init__(lines, media_type="text/event-stream", headers=HEADERS)
        self._turn = turn

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve it."""
        with self._turn.reading():
            await super().__call__(scope, receive, send)
