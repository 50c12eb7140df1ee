"""Typing on a device's console, as a person would in a telnet window."""

from __future__ import annotations

import asyncio
import re

_ANSWER_SECONDS = 20.0
_CLOSE_SECONDS = 1.0

#: Telnet commands of three bytes; gns3-server's greeting has no others.
_TELNET = re.compile(rb"\xff[\xfb-\xfe].", re.DOTALL)


async def type_line(port: int, line: str, prompt: str) -> str:
    """What the device prints for `line`, from its echo up to the prompt. Raises TimeoutError.

    Enter is pressed first, since a console says nothing to a newcomer.
    """
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        async with asyncio.timeout(_ANSWER_SECONDS):
            writer.write(b"\r")
            await _read_until(reader, "", prompt)
            writer.write(line.encode() + b"\r")
            return await _read_until(reader, line, prompt)
    finally:
        await _leave(reader, writer)


async def _read_until(reader: asyncio.StreamReader, echo: str, prompt: str) -> str:
    received = b""
    while True:
        data = await reader.read(4096)
        if not data:
            raise TimeoutError("the console was closed")
        received += data
        text = _TELNET.sub(b"", received).decode("latin-1").replace("\r", "")
        _, found, answer = text.partition(echo) if echo else ("", "", text)
        if (found or not echo) and answer.endswith(f"\n{prompt}"):
            return found + answer


async def _leave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Half-close and read to the end: closing at once can kill the console of gns3-server 3.0 for everybody."""
    try:
        writer.write_eof()
        async with asyncio.timeout(_CLOSE_SECONDS):
            while await reader.read(4096):
                pass
    except (OSError, TimeoutError):
        pass
    finally:
        writer.close()
