"""Listening to consoles without typing."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from gns3server_copilot.consoles.listener import watch_console
from gns3server_copilot.consoles.waiting_signs import Sign
from tests.devices import play
from tests.ground.waiting import until

HOST = "127.0.0.1"
INTRO = b"\xff\xfb\x01\xff\xfb\x03\xff\xfd\x18"


class Server:
    """A console that does what a test says; `received` is all that it was ever sent."""

    def __init__(self) -> None:
        self.received = bytearray()
        self.open = 0
        self.address = (HOST, 0)


Script = Callable[[asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def console(script: Script) -> AsyncIterator[Server]:
    """Run a console that plays the script to everybody who connects, and then stays open."""
    state = Server()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        state.open += 1
        playing = asyncio.create_task(_played(script, writer))
        while data := await reader.read(1024):
            state.received += data
        playing.cancel()
        state.open -= 1
        writer.close()

    server = await asyncio.start_server(serve, HOST, 0)
    state.address = (HOST, server.sockets[0].getsockname()[1])
    async with server:
        yield state


async def _played(script: Script, writer: asyncio.StreamWriter) -> None:
    writer.write(INTRO)
    await script(writer)


async def test_a_console_is_left_as_soon_as_its_prompt_stands_and_is_sent_nothing() -> None:
    async def boot(writer: asyncio.StreamWriter) -> None:
        for piece in (b"Booting\r\n", b"R1#", b" is not a prompt\r\n", b"\xff\xf1R1> "):
            writer.write(piece)
            await asyncio.sleep(0.05)

    begun = time.monotonic()
    async with console(boot) as server:
        sighting = await watch_console(server.address, "R1", 30)
        await until(lambda: asyncio.sleep(0, server.open == 0))
        assert server.received == b""
    assert sighting.sign is Sign.PROMPT
    assert sighting.last_lines == ("Booting", "R1# is not a prompt", "R1>")
    assert time.monotonic() - begun < 5


async def test_a_scripted_device_is_seen_at_its_question_and_typed_nothing() -> None:
    async with play("cisco_ios", hostname="R1") as device:
        device.emit("\n\nPress RETURN to get started!\n\n\n*Mar  1 00:00:07: %SYS-5-RESTART: System restarted\n")
        sighting = await watch_console((HOST, device.port), "R1", 30)
        assert sighting.sign is Sign.QUESTION
        assert device.typed == []
        await until(lambda: asyncio.sleep(0, device.clients == 0))


async def test_a_boot_that_lasts_longer_than_the_wait_is_told_with_its_last_words() -> None:
    async def boot(writer: asyncio.StreamWriter) -> None:
        for number in range(1000):
            writer.write(f"[{number}] starting service {number} >\r\n".encode())
            await asyncio.sleep(0.02)

    async with console(boot) as server:
        sighting = await watch_console(server.address, "R1", 1)
    assert sighting.sign is None and not sighting.closed
    assert len(sighting.last_lines) == 3
    assert "starting service" in sighting.last_lines[-1]
    assert 0.9 < sighting.seconds < 5


async def test_an_idle_console_is_left_after_a_moment() -> None:
    async def nothing(writer: asyncio.StreamWriter) -> None:
        return

    async with console(nothing) as server:
        sighting = await watch_console(server.address, "R1", 60, first_words=0.2)
    assert sighting.silent and sighting.sign is None and not sighting.closed
    assert sighting.seconds < 5


async def test_a_console_that_speaks_late_is_waited_for_when_nobody_says_otherwise() -> None:
    async def late(writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.5)
        writer.write(b"frr login: ")

    async with console(late) as server:
        sighting = await watch_console(server.address, "R1", 60)
    assert sighting.sign is Sign.QUESTION


async def test_a_boot_loader_is_believed_only_when_it_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gns3server_copilot.consoles.waiting_signs.BOOT_LOADER_QUIET", 0.5)

    async def goes_on(writer: asyncio.StreamWriter) -> None:
        writer.write(b"grub> ")
        await asyncio.sleep(0.1)
        writer.write(b"\r\nLinux\r\nR1# ")

    async def stays(writer: asyncio.StreamWriter) -> None:
        writer.write(b"monitor: boot failed\r\nrommon 1 > ")

    async with console(goes_on) as server:
        assert (await watch_console(server.address, "R1", 30)).sign is Sign.PROMPT
    async with console(stays) as server:
        sighting = await watch_console(server.address, "R1", 30)
    assert sighting.sign is Sign.BOOT_LOADER
    assert sighting.last_lines[-1] == "rommon 1 >"


async def test_a_console_that_ends_or_refuses_is_said() -> None:
    async def ends(writer: asyncio.StreamWriter) -> None:
        writer.write(b"Bad image\r\n")
        writer.close()

    async with console(ends) as server:
        sighting = await watch_console(server.address, "R1", 30)
    assert sighting.closed and sighting.last_lines == ("Bad image",)
    assert (await watch_console(server.address, "R1", 0.3)).closed


async def test_a_cancelled_listener_leaves_the_console() -> None:
    async def boot(writer: asyncio.StreamWriter) -> None:
        writer.write(b"Booting")

    async with console(boot) as server:
        listening = asyncio.create_task(watch_console(server.address, "R1", 60))
        await until(lambda: asyncio.sleep(0, server.open == 1))
        listening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await listening
        await until(lambda: asyncio.sleep(0, server.open == 0))
        assert server.received == b""


async def test_a_long_backlog_is_drained_to_its_end() -> None:
    async def backlog(writer: asyncio.StreamWriter) -> None:
        writer.write(b"log line\r\n" * 100_000 + b"R1> ")
        await writer.drain()

    async with console(backlog) as server:
        sighting = await watch_console(server.address, "R1", 30)
    assert sighting.sign is Sign.PROMPT
