"""A compute on loopback that takes gns3-server's requests and answers those for nodes only when the test says so.

It is what a compute that hangs looks like to a tool: a call that has begun and does not come back.
"""

from __future__ import annotations

import asyncio
import importlib.metadata
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import httpx
from aiohttp import WSMsgType, web

from tests.ground.users import UserClient, ok, unique

CAPABILITIES = {"platform": "linux", "cpus": 1, "memory": 1 << 30, "disk_size": 1 << 40, "node_types": ["vpcs"]}


class HeldCompute:
    """The compute. `begun` counts the node requests that have come; `release` lets them all be answered."""

    def __init__(self) -> None:
        self.compute_id = ""
        self.begun = 0
        self._arrived = asyncio.Condition()
        self._released = asyncio.Event()

    async def reached(self, count: int = 1, seconds: float = 10.0) -> None:
        """Return when so many node requests are being held. Raises TimeoutError."""
        async with asyncio.timeout(seconds), self._arrived:
            await self._arrived.wait_for(lambda: self.begun >= count)

    def release(self) -> None:
        """Answer what is held, and from now on everything at once."""
        self._released.set()

    async def nodes(self, request: web.Request) -> web.Response:
        """Hold the creation of a node."""
        body = await request.json()
        async with self._arrived:
            self.begun += 1
            self._arrived.notify_all()
        await self._released.wait()
        return web.json_response({**body, "status": "stopped", "console": None}, status=201)


@asynccontextmanager
async def held_compute(admin: UserClient) -> AsyncIterator[HeldCompute]:
    """Run such a compute and register it with the server; both are gone after the block."""
    held = HeldCompute()

    async def capabilities(_: web.Request) -> web.Response:
        return web.json_response({"version": importlib.metadata.version("gns3-server"), **CAPABILITIES})

    async def notifications(request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        async for message in socket:
            if message.type == WSMsgType.ERROR:
                break
        return socket

    async def anything(_: web.Request) -> web.Response:
        return web.json_response({}, status=200)

    app = web.Application()
    api = "/v3/compute"
    app.router.add_get(f"{api}/capabilities", capabilities)
    app.router.add_get(f"{api}/notifications/ws", notifications)
    app.router.add_post(f"{api}/projects/{{project}}/{{kind}}/nodes", held.nodes)
    app.router.add_route("*", "/{rest:.*}", anything)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        body: dict[str, Any] = {
            "name": unique("held"),
            "protocol": "http",
            "host": "127.0.0.1",
            "port": runner.addresses[0][1],
            "user": "gns3",
            "password": "gns3",
        }
        held.compute_id = (await ok(admin.post("/v3/computes", json=body)))["compute_id"]
        try:
            yield held
        finally:
            held.release()
            with suppress(httpx.TransportError):  # the test has stopped the server
                await ok(admin.delete(f"/v3/computes/{held.compute_id}"))
    finally:
        await runner.cleanup()
