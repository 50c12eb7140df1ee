"""Answers that come piece by piece from an application in the same process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from fastapi import FastAPI, HTTPException, Request
from fastapi.responses import StreamingResponse

from gns3server_copilot.errors import GNS3Error
from gns3server_copilot.gns3.client import GNS3Client

app = FastAPI()
ended = asyncio.Event()


@app.middleware("http")
async def add_header(request: Request, call_next: Any) -> Any:
    """As gns3-server has one: it stands between the stream and its reader."""
    answer = await call_next(request)
    answer.headers["x-test"] = "yes"
    return answer


@app.get("/v3/endless")
async def endless() -> StreamingResponse:
    """A stream that never ends by itself."""

    async def pieces() -> AsyncIterator[bytes]:
        try:
            number = 0
            while True:
                yield b"%d" % number
                number += 1
                await asyncio.sleep(0)
        finally:
            ended.set()

    return StreamingResponse(pieces())


@app.get("/v3/short")
async def short(request: Request) -> StreamingResponse:
    """A stream of two pieces, which tells who asks."""

    async def pieces() -> AsyncIterator[bytes]:
        yield request.headers["authorization"].encode()
        yield (request.client.host if request.client else "?").encode()

    return StreamingResponse(pieces())


@app.get("/v3/refused")
async def refused() -> None:
    """No stream at all."""
    raise HTTPException(409, "This link has no active packet capture")


@app.get("/v3/broken")
async def broken() -> StreamingResponse:
    """A stream that fails half-way."""

    async def pieces() -> AsyncIterator[bytes]:
        yield b"one"
        raise RuntimeError("no more")

    return StreamingResponse(pieces())


@pytest.fixture
def client() -> GNS3Client:
    """A client of that application."""
    return GNS3Client(app, "token")


async def test_a_stream_is_read_while_it_comes_and_ended_by_leaving_it(client: GNS3Client) -> None:
    ended.clear()
    found = []
    async with client.stream("/endless") as pieces:
        async for piece in pieces:
            found.append(piece)
            if len(found) == 40:
                break
    assert found == [b"%d" % number for number in range(40)]
    async with asyncio.timeout(5):
        await ended.wait()


async def test_a_stream_that_ends_is_read_to_its_end(client: GNS3Client) -> None:
    async with client.stream("/short") as pieces:
        assert [piece async for piece in pieces] == [b"Bearer token", b"127.0.0.1"]


async def test_a_refusal_is_gns3_servers_own(client: GNS3Client) -> None:
    with pytest.raises(GNS3Error, match="no active packet capture") as raised:
        async with client.stream("/refused"):
            pass
    assert raised.value.status == 409


async def test_a_stream_that_breaks_raises(client: GNS3Client) -> None:
    found = []
    with pytest.raises(BaseException, match=r"no more|unhandled"):
        async with client.stream("/broken") as pieces:
            async for piece in pieces:
                found.append(piece)
    assert found == [b"one"]


async def test_a_reader_that_is_cancelled_ends_the_stream(client: GNS3Client) -> None:
    ended.clear()
    begun = asyncio.Event()

    async def read() -> None:
        async with client.stream("/endless") as pieces:
            async for _ in pieces:
                begun.set()
                await asyncio.sleep(0)

    reading = asyncio.create_task(read())
    await begun.wait()
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    async with asyncio.timeout(5):
        await ended.wait()
