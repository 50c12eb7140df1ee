"""Somebody who types on the console of a device that is played in this process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any

from gns3server_copilot.demo.devices.console import Console

_PATIENCE = 5.0


class Typist:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    def press(self, keys: str) -> None:
        self._writer.write(keys.encode("latin-1"))

    async def see(self, ending: str) -> str:
        """What is printed up to `ending`, as it came. Raises TimeoutError that shows it."""
        seen = b""
        try:
            async with asyncio.timeout(_PATIENCE):
                while not seen.decode("latin-1").endswith(ending):
                    data = await self._reader.read(1)
                    if not data:
                        break
                    seen += data
        except TimeoutError:
            raise TimeoutError(f"no {ending!r} in {seen.decode('latin-1')!r}") from None
        return seen.decode("latin-1")

    async def run(self, line: str, prompt: str) -> str:
        """What a line prints, between its echo and the prompt."""
        self.press(line + "\r")
        echo = f"{line}\r\n"
        await self.see(echo)
        return (await self.see(prompt)).removesuffix(prompt).replace("\r\n", "\n")


@asynccontextmanager
async def typing_on(console: Console, session: Coroutine[Any, Any, None]) -> AsyncIterator[Typist]:
    """Play the session while somebody types on its console."""
    port = await console.listen("127.0.0.1", 0)
    playing = asyncio.ensure_future(session)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        yield Typist(reader, writer)
    finally:
        writer.close()
        playing.cancel()
        await asyncio.gather(playing, return_exceptions=True)
        await console.close()
