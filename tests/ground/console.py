"""A person at a console, for tests: type a line, read what it gave."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import telnetlib3

CONNECT_SECONDS = 5.0
COMMAND_SECONDS = 20.0
#: vpcs takes 0.1 s for an Enter.
QUIET_SECONDS = 0.25
#: A prompt at the end of what has come: a name, perhaps a mode in brackets, and > or #.
PROMPT = re.compile(r"(?:^|[\r\n])[\w.\-\[\]~@:/]+(?:\([\w\-]+\))?[>#] ?$")


class Console:
    """An open telnet console. Only for consoles that are quiet: it knows neither pagers nor log lines."""

    def __init__(self, reader: telnetlib3.TelnetReader, writer: telnetlib3.TelnetWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._received = ""

    async def read_until(self, pattern: str | re.Pattern[str], seconds: float = COMMAND_SECONDS) -> str:
        """Give everything up to the end of the pattern; what follows is kept. Raises TimeoutError that shows it."""
        try:
            async with asyncio.timeout(seconds):
                while not (match := re.search(pattern, self._received)):
                    data = await self._reader.read(4096)
                    if not data:
                        raise ConnectionError(f"the console closed after {self._received!r}")
                    self._received += data.decode("utf-8", "replace").replace("\0", "")
        except TimeoutError:
            raise TimeoutError(f"no {pattern!r} in {seconds} s; the console said {self._received!r}") from None
        given, self._received = self._received[: match.end()], self._received[match.end() :]
        return given

    def type(self, text: str) -> None:
        """Send characters as they are."""
        self._writer.write(text.encode())

    async def run(self, command: str, seconds: float = COMMAND_SECONDS) -> str:
        """Type a line and give what it printed, without its echo and the prompt after it."""
        self.type(command + "\r")
        await self.read_until(re.escape(command), seconds)  # the echo: a prompt before it is not this command's
        received = await self.read_until(PROMPT, seconds)
        lines = received.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        return "\n".join(lines[1:-1])

    async def wake(self, seconds: float = COMMAND_SECONDS) -> None:
        """Press Enter and wait for the prompt: consoles say nothing to a newcomer.

        A device that was busy prints one prompt of its own and then the one for Enter, and vpcs throws away what is
        typed between the two; so it is over when the console has been quiet for a moment.
        """
        self.type("\r")
        await self.read_until(PROMPT, seconds)
        with suppress(TimeoutError):
            while True:
                await self.read_until(r"[\s\S]+", QUIET_SECONDS)

    async def close(self) -> None:
        """Leave as gns3-server bears it: half-close, read to the end, close."""
        with suppress(OSError, RuntimeError, TimeoutError):
            self._writer.transport.write_eof()
            async with asyncio.timeout(1):
                while await self._reader.read(4096):
                    pass
        self._writer.close()


@asynccontextmanager
async def open_console(port: int, host: str = "127.0.0.1") -> AsyncIterator[Console]:
    """Connect to a telnet console."""
    # connect_timeout is for TCP alone
    async with asyncio.timeout(CONNECT_SECONDS):
        reader, writer = await telnetlib3.open_connection(
            host,
            port,
            client_factory=telnetlib3.TelnetClient,
            encoding=False,
            connect_minwait=0,
            connect_timeout=CONNECT_SECONDS,
        )
    console = Console(reader, writer)
    try:
        yield console
    finally:
        await console.close()
