"""Reading an event stream exactly as strictly as the GNS3 web UI does, or a little more so.

The web UI takes lines that begin with `data: ` (one space) as one JSON object each, tells the kind of an event by its
`type`, ignores all other lines and throws away what has no final newline. Here, whatever it would ignore without need
is an error, so that no event can get lost unnoticed.
"""

from __future__ import annotations

import asyncio
import codecs
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx

Event = dict[str, Any]

#: Longest wait of a test for an event; heartbeats count.
WAIT_SECONDS = 30.0


class StreamError(AssertionError):
    """The stream is not what the web UI can read."""


class EventParser:
    """Turns the bytes of a stream into events, however they are cut."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("strict")
        self._rest = ""

    def feed(self, data: bytes) -> list[Event]:
        """Give the events that these bytes complete. Raises StreamError."""
        try:
            *lines, self._rest = (self._rest + self._decoder.decode(data)).split("\n")
        except UnicodeDecodeError as error:
            raise StreamError(f"the stream is not UTF-8: {error}") from error
        return [event for line in lines for event in self._parse(line)]

    def end(self) -> None:
        """Check that the stream ended after a whole line. Raises StreamError."""
        try:
            self._decoder.decode(b"", final=True)
        except UnicodeDecodeError as error:
            raise StreamError(f"the stream ends inside a character: {error}") from error
        if self._rest:
            raise StreamError(f"the stream ends inside a line, which the web UI throws away: {self._rest!r}")

    @staticmethod
    def _parse(line: str) -> list[Event]:
        if not line or line.startswith(":"):
            return []
        if not line.startswith("data: ") or line.startswith("data:  "):
            raise StreamError(f"a line that is not `data: ` with one space: {line!r}")
        if "\r" in line:
            raise StreamError(f"a line with a carriage return: {line!r}")
        try:
            event = json.loads(line.removeprefix("data: "), parse_constant=_refuse_constant)
        except ValueError as error:
            raise StreamError(f"a line that is not JSON ({error}): {line!r}") from error
        if not isinstance(event, dict) or not isinstance(event.get("type"), str):
            raise StreamError(f"an event that is not an object with a type: {line!r}")
        return [event]


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


class EventStream:
    """A stream that is being read. `events` are those read so far."""

    def __init__(self, response: httpx.Response) -> None:
        self.response = response
        self.events: list[Event] = []
        self._bytes = response.aiter_bytes()
        self._parser = EventParser()
        self._waiting: list[Event] = []
        self._ended = False

    async def next(self, *kinds: str, seconds: float = WAIT_SECONDS) -> Event:
        """Read on to the next event of one of these kinds (any kind but a heartbeat when none is named).

        Raises TimeoutError, and StreamError when the stream ends first.
        """
        async with asyncio.timeout(seconds):
            async for event in self:
                if event["type"] in kinds or (not kinds and event["type"] != "heartbeat"):
                    return event
        raise StreamError(f"the stream ended without {' or '.join(kinds) or 'an event'}: {kinds_of(self.events)}")

    async def rest(self, seconds: float = WAIT_SECONDS) -> list[Event]:
        """Read to the end and give all events from the first on. Raises TimeoutError."""
        async with asyncio.timeout(seconds):
            async for _ in self:
                pass
        return self.events

    async def drop(self) -> None:
        """Close the connection, as a browser whose page is left."""
        await self.response.aclose()

    async def __aiter__(self) -> AsyncIterator[Event]:
        while True:
            while self._waiting:
                event = self._waiting.pop(0)
                self.events.append(event)
                yield event
            if self._ended:
                return
            try:
                self._waiting += self._parser.feed(await anext(self._bytes))
            except StopAsyncIteration:
                self._ended = True
                self._parser.end()


@asynccontextmanager
async def open_stream(client: httpx.AsyncClient, method: str, path: str, **request: Any) -> AsyncIterator[EventStream]:
    """Open an event stream and check its status and headers; the connection closes with the block.

    Raises StreamError when the answer is no event stream.
    """
    async with client.stream(method, path, **request) as response:
        if response.status_code != 200:
            await response.aread()
            raise StreamError(f"{method} {path} answered {response.status_code}: {response.text}")
        check_headers(response.headers)
        yield EventStream(response)


def check_headers(headers: httpx.Headers) -> None:
    """Check that neither a browser nor a proxy will hold the events back. Raises StreamError."""
    content_type = headers.get("content-type", "").replace(" ", "").lower()
    if content_type not in ("text/event-stream", "text/event-stream;charset=utf-8"):
        raise StreamError(f"the content type is {content_type}")
    if not {"no-cache", "no-transform"} <= {part.strip() for part in headers.get("cache-control", "").split(",")}:
        raise StreamError(f"Cache-Control is {headers.get('cache-control')}")
    if headers.get("x-accel-buffering") != "no":
        raise StreamError(f"X-Accel-Buffering is {headers.get('x-accel-buffering')}")


def kinds_of(events: list[Event]) -> list[str]:
    """Give the types of events, runs of the same type shortened to one."""
    kinds = [str(event["type"]) for event in events]
    return [kind for at, kind in enumerate(kinds) if at == 0 or kinds[at - 1] != kind]


def text_of(events: list[Event]) -> str:
    """Give the text that the content events add up to."""
    return "".join(event["content"] for event in events if event["type"] == "content")


def tool_outputs(events: list[Event]) -> list[Any]:
    """Give the responses of the tools, in the order in which they ended."""
    return [json.loads(event["tool_output"]) for event in events if event["type"] == "tool_end"]
