from __future__ import annotations

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from gns3server_copilot.demo.devices.console import Console, KeyReader, until_interrupted

TELNET = [b"\xff\xfb\x01", b"\xff\xfd\x03", b"\xff\xf1", b"\xff\xfa\x18\x00xterm\xff\xf0", b"\xff\xff"]


def read(*pieces: bytes) -> str:
    keys = KeyReader()
    return "".join(key for piece in pieces for key in keys.feed(piece))


def test_telnet_commands_are_taken_out():
    assert read(b"\xff\xfb\x01a\xff\xf1b\xff\xfa\x18\x00xterm\xff\xf0c") == "abc"


def test_doubled_255_is_one_key():
    assert read(b"a\xff\xffb") == "a\xffb"


def test_each_line_end_is_one_return():
    assert read(b"a\rb\nc\r\nd\r\0e") == "a\rb\rc\rd\re"


@given(st.lists(st.sampled_from([*TELNET, b"show", b"\r\n", b"\r\0", b"\r", b"\n", b"\x03"])), st.integers(1, 4))
def test_pieces_do_not_matter(parts: list[bytes], size: int):
    data = b"".join(parts)
    assert read(*(data[i : i + size] for i in range(0, len(data), size))) == read(data)


async def test_first_comer_gets_what_was_printed_before():
    console = Console()
    port = await console.listen("127.0.0.1", 0)
    console.write("booting\n")
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    assert await reader.readexactly(9) == b"booting\r\n"
    console.write("more")
    assert await reader.readexactly(4) == b"more"
    writer.close()
    await console.close()


async def test_keys_typed_ahead_are_kept_when_nothing_interrupts():
    console = Console()
    port = await console.listen("127.0.0.1", 0)
    _, writer = await asyncio.open_connection("127.0.0.1", port)
    started = asyncio.Event()

    async def work() -> None:
        started.set()
        await asyncio.sleep(0.05)

    running = asyncio.ensure_future(until_interrupted(console, "\x03", work()))
    await started.wait()
    writer.write(b"ab")
    await writer.drain()
    assert await running
    assert [await console.read_key(), await console.read_key()] == ["a", "b"]
    writer.close()
    await console.close()
