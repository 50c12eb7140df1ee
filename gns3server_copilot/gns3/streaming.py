"""Answers of gns3-server that come piece by piece, in process.

httpx's ASGITransport hands out the first byte after the last, so an answer without an end would never be seen.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, MutableMapping
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from starlette.types import ASGIApp

#: Pieces that may wait for their reader; the sender then waits too.
WAITING_PIECES = 16
#: What a handler gets to end by itself once its client has gone.
LEAVING_SECONDS = 1.0


class StreamedAnswer:
    """An answer that has begun: its status, and its body as an iterator of pieces."""

    def __init__(self, status: int, pieces: AsyncIterator[bytes]) -> None:
        self.status = status
        self._pieces = pieces

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._pieces


@asynccontextmanager
async def streamed(app: ASGIApp, url: str, headers: Mapping[str, str]) -> AsyncIterator[StreamedAnswer]:
    """GET `url` of `app` and give the answer once it begins; leaving the block ends the request.

    What the application raises is raised here, by the block's start or by its pieces.
    """
    gone = asyncio.Event()
    begun: asyncio.Queue[int | None] = asyncio.Queue()
    pieces: asyncio.Queue[bytes | None] = asyncio.Queue(WAITING_PIECES)
    asked = False
    failure: Exception | None = None

    async def receive() -> MutableMapping[str, Any]:
        nonlocal asked
        if not asked:
            asked = True
            return {"type": "http.request", "body": b"", "more_body": False}
        await gone.wait()
        return {"type": "http.disconnect"}

    async def send(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            begun.put_nowait(message["status"])
        elif message["type"] == "http.response.body":
            if message.get("body"):
                await pieces.put(message["body"])
            if not message.get("more_body"):
                await pieces.put(None)

    async def call() -> None:
        nonlocal failure
        try:
            await app(_scope(url, headers), receive, send)
        except Exception as error:
            failure = error
            raise
        finally:
            begun.put_nowait(None)
            with suppress(asyncio.QueueFull):
                pieces.put_nowait(None)

    async def read() -> AsyncIterator[bytes]:
        while (piece := await _next(pieces, task)) is not None:
            yield piece
        # an application that breaks off half-way may have ended its answer properly before
        await asyncio.wait({task}, timeout=LEAVING_SECONDS)
        if failure is not None:
            raise failure

    task = asyncio.create_task(call())
    try:
        status = await begun.get()
        if status is None:
            await task
            raise RuntimeError("the application has sent no answer")
        yield StreamedAnswer(status, read())
    finally:
        gone.set()
        await _end(task)


async def _next(pieces: asyncio.Queue[bytes | None], task: asyncio.Task[None]) -> bytes | None:
    if task.done() and pieces.empty():
        task.result()
        return None
    return await pieces.get()


async def _end(task: asyncio.Task[None]) -> None:
    """Let the handler end, which a full queue or a source that never ends keeps it from doing: then it is cancelled."""
    if not task.done():
        await asyncio.wait({task}, timeout=LEAVING_SECONDS)
    if not task.done():
        task.cancel()
        await asyncio.wait({task})
    if not task.cancelled():
        task.exception()


def _scope(url: str, headers: Mapping[str, str]) -> MutableMapping[str, Any]:
    parts = urlsplit(url)
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": parts.scheme,
        "path": parts.path,
        "raw_path": parts.path.encode(),
        "query_string": parts.query.encode(),
        "root_path": "",
        "headers": [(b"host", parts.netloc.encode())]
        + [(name.lower().encode(), value.encode()) for name, value in headers.items()],
        "client": ("127.0.0.1", 0),
        "server": (parts.hostname, 80),
        "extensions": {},
        "state": {},
    }
