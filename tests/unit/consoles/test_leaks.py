"""Nothing is left behind by many sessions, and nothing grows while consoles are chatty."""

from __future__ import annotations

import asyncio
import gc
import os
import tracemalloc
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from gns3server_copilot.consoles.credentials import StoredCredentials
from gns3server_copilot.consoles.session import Session
from tests.devices import Device, play
from tests.unit.consoles.bench import SECONDS, always, family

CHATTER = "%LINK-3-UPDOWN: Interface GigabitEthernet0/1, changed state to up"


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


async def one_session(port: int, name: str = "cisco_ios", command: str = "show clock") -> None:
    session = Session(family(name), StoredCredentials(), always)
    await session.attach("127.0.0.1", port)
    try:
        assert (await session.run(command, SECONDS)).error is None
    finally:
        await session.close()


async def cycles(count: int) -> None:
    """Attach and detach so often, while somebody else watches the console, and see that all is as it was."""
    async with play("cisco_ios", hostname="R1") as device:
        reader, writer = await asyncio.open_connection("127.0.0.1", device.port)
        watching = asyncio.create_task(drain(reader))
        await one_session(device.port)
        gc.collect()
        files, tasks = open_files(), len(asyncio.all_tasks())
        for _ in range(count):
            await one_session(device.port)
        await asyncio.sleep(0.05)
        assert open_files() <= files  # fewer when other tests have left some to the collector
        assert len(asyncio.all_tasks()) == tasks
        assert device.clients == 1
        writer.close()
        watching.cancel()


async def drain(reader: asyncio.StreamReader) -> None:
    while await reader.read(65536):
        pass


async def test_sessions_leave_no_socket_and_no_task() -> None:
    await cycles(15)


@pytest.mark.slow
async def test_200_sessions_leave_no_socket_and_no_task() -> None:
    await cycles(200)


async def chatty(count: int, lines: int, pause: float) -> None:
    """Keep sessions open on so many consoles, each of which prints so many messages, and see that memory is bounded."""
    async with AsyncExitStack() as stack:
        routers: list[Device] = [
            await stack.enter_async_context(play("cisco_ios", hostname=f"R{n}")) for n in range(count)
        ]
        sessions = []
        for router in routers:
            session = Session(family("cisco_ios"), StoredCredentials(), always)
            await session.attach("127.0.0.1", router.port)
            stack.push_async_callback(session.close)
            await session.ready()
            sessions.append(session)
        files, tasks = open_files(), len(asyncio.all_tasks())
        tracemalloc.start()
        for begin in range(0, lines, 100):
            for router in routers:
                router.emit("".join(f"\n*Mar  1 00:12:30.{n:03}: {CHATTER}\n" for n in range(begin, begin + 100)))
            await asyncio.sleep(pause)
            if begin == lines // 2 // 100 * 100:
                gc.collect()
                halfway = tracemalloc.get_traced_memory()[0]
        outputs = await asyncio.gather(*(session.run("show clock", SECONDS) for session in sessions))
        gc.collect()
        grown = tracemalloc.get_traced_memory()[0] - halfway
        tracemalloc.stop()
        assert all(output.text.endswith("*12:34:56.789 UTC Mon Mar 1 2021") for output in outputs)
        assert grown < 2_000_000, f"{grown} bytes more than half-way"
        assert open_files() <= files  # fewer when other tests have left some to the collector
        assert len(asyncio.all_tasks()) == tasks


async def test_consoles_that_talk_all_the_time_cost_no_memory() -> None:
    await chatty(3, 1_200, 0.002)


@pytest.mark.slow
async def test_an_hours_traffic_on_forty_consoles_costs_no_memory() -> None:
    # two messages a second on each, an hour long
    await chatty(40, 7_200, 0.8)


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc")
async def test_a_console_that_nobody_reads_is_still_drained() -> None:
    async with play("cisco_ios", hostname="R1") as device:
        session = Session(family("cisco_ios"), StoredCredentials(), always)
        await session.attach("127.0.0.1", device.port)
        await session.ready()
        for _ in range(50):
            device.emit("x" * 100_000 + "\n")
            await asyncio.sleep(0.002)
        transport = next(iter(device._clients)).transport
        await asyncio.sleep(0.1)
        assert transport.get_write_buffer_size() == 0
        await session.close()
