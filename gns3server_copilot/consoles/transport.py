"""One telnet connection to a console: always drained, and closed in the one way that harms nobody.

gns3-server's console server takes two things badly, for every user of the console (docs/developer/consoles.md): a
connection that goes while output streams, and a telnet command that is cut in two. So writes are small and never
hold byte 255, and the end is a half-close that is read to its end.
"""

from __future__ import annotations

import asyncio
import codecs
import contextlib
import importlib
from collections.abc import Callable
from typing import Any

from gns3server_copilot.errors import ConsoleError

CONNECT_SECONDS = 5.0
NEGOTIATION_SECONDS = 0.5
CLOSE_SECONDS = 1.0
#: As much as is taken in without a pause.
READ_BYTES = 8_192
WRITE_BYTES = 1_000
#: What a device that asks is told of our terminal. Wide, so that lines are not cut.
COLUMNS, ROWS = 250, 60


class Transport:
    """A connection that hands everything it receives, decoded, to `on_text` until it is closed."""

    def __init__(self, reader: Any, writer: Any, on_text: Callable[[str], None]) -> None:
        self._reader = reader
        self._writer = writer
        self._on_text = on_text
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._changed = asyncio.Event()
        self.closed = False
        self._pump = asyncio.create_task(self._drain(), name="console")

    async def wait(self, seconds: float) -> None:
        """Wait until something has arrived since the last wait, or the connection has ended, or so long."""
        if not self._changed.is_set() and not self.closed:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._changed.wait()
        self._changed.clear()

    def write(self, text: str) -> None:
        """Type. Raises ConsoleError when the connection has ended."""
        if self.closed or self._writer.is_closing():
            raise ConsoleError("The console has closed its connection: the node may have stopped.")
        data = text.encode("utf-8", "replace")
        for begin in range(0, len(data), WRITE_BYTES):
            self._writer.write(data[begin : begin + WRITE_BYTES])

    async def close(self) -> None:
        """Half-close, read what still comes to its end, close. Takes at most a second."""
        with contextlib.suppress(OSError, RuntimeError, AttributeError):
            if not self.closed:
                self._writer.transport.write_eof()
        try:
            async with asyncio.timeout(CLOSE_SECONDS):
                await asyncio.shield(self._pump)
        except TimeoutError:
            self._pump.cancel()
        finally:
            self.closed = True
            self._writer.close()

    async def _drain(self) -> None:
        try:
            while data := await self._reader.read(READ_BYTES):
                # telnetlib3 leaves the NUL of CR NUL in
                self._on_text(self._decoder.decode(data).replace("\0", ""))
                self._changed.set()
        except (OSError, EOFError):
            pass
        finally:
            self.closed = True
            self._changed.set()


async def open_transport(host: str, port: int, on_text: Callable[[str], None]) -> Transport:
    """Connect within CONNECT_SECONDS, negotiation included. Raises ConsoleError that says why not."""
    telnetlib3 = await asyncio.to_thread(importlib.import_module, "telnetlib3")
    try:
        async with asyncio.timeout(CONNECT_SECONDS):
            return await _connect(telnetlib3, host, port, on_text)
    except (TimeoutError, OSError) as error:
        reason = getattr(error, "strerror", None) or "no answer"
        raise ConsoleError(f"The console at {host} port {port} cannot be reached: {reason}.") from None


async def _connect(telnetlib3: Any, host: str, port: int, on_text: Callable[[str], None]) -> Transport:
    clients: list[Any] = []

    def client(**options: Any) -> Any:
        # of this class, or a server started from a terminal announces the operator's window
        clients.append(telnetlib3.TelnetClient(**options))
        return clients[-1]

    try:
        reader, writer = await telnetlib3.open_connection(
            host,
            port,
            client_factory=client,
            encoding=False,
            connect_minwait=0,
            connect_maxwait=NEGOTIATION_SECONDS,
            connect_timeout=CONNECT_SECONDS,
            cols=COLUMNS,
            rows=ROWS,
        )
    except BaseException:
        # a connection that is made and that nobody reads would hold the console up for everybody
        for made in clients:
            transport = getattr(made, "_transport", None)
            if transport is not None:
                transport.close()
        raise
    return Transport(reader, writer, on_text)
