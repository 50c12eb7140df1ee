"""Listens to a node's console until the device waits for somebody. It never sends a byte.

A GNS3 console is shared, so whatever was typed could land in a boot loader or in somebody's session. Negotiation is
not answered either: gns3-server's console does not wait for it, and an answer that its reads cut in two would end the
console for everybody.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from dataclasses import dataclass

from gns3server_copilot.consoles.telnet_text import TelnetText
from gns3server_copilot.consoles.waiting_signs import Sign, recognise
from gns3server_copilot.gns3.changes import let_finish
from gns3server_copilot.gns3.text import clipped, printable

CONNECT_SECONDS = 5.0
#: The console's wrapper opens a moment after the node counts as started.
REFUSED_SECONDS = 3.0
RETRY_SECONDS = 0.1
READ_BYTES = 65_536
#: How long the other side may take to close after us.
LEAVE_SECONDS = 1.0
LINES_TOLD = 3
LINE_LENGTH = 160


@dataclass(frozen=True)
class Sighting:
    """What was seen of a console.

    `sign` is None when the device did not come to wait for anybody; `closed` then says whether the console refused us
    or ended. `last_lines` are its last words, made fit for one line each.
    """

    sign: Sign | None
    last_lines: tuple[str, ...]
    seconds: float
    closed: bool = False

    @property
    def silent(self) -> bool:
        """Whether nothing at all was printed."""
        return not self.last_lines


async def watch_console(
    address: tuple[str, int], node_name: str, seconds: float, *, first_words: float | None = None
) -> Sighting:
    """Listen for up to `seconds`, ending as soon as the device waits for somebody.

    `first_words` ends it sooner when the console stays silent for so long from the beginning: an idle console shows
    nothing to a newcomer.
    """
    begun = time.monotonic()
    watch = _Watch(node_name, begun, seconds, first_words)
    try:
        async with asyncio.timeout(min(seconds, CONNECT_SECONDS)):
            reader, writer = await _connect(address)
    except (OSError, TimeoutError):
        return watch.sighting(None, closed=True)
    try:
        return await watch.listen(reader)
    finally:
        await let_finish("leave a console", _leave(reader, writer))


async def _connect(address: tuple[str, int]) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    give_up = time.monotonic() + REFUSED_SECONDS
    while True:
        try:
            return await asyncio.open_connection(*address)
        except ConnectionRefusedError:
            if time.monotonic() > give_up:
                raise
        await asyncio.sleep(RETRY_SECONDS)


class _Watch:
    def __init__(self, node_name: str, begun: float, seconds: float, first_words: float | None) -> None:
        self._node_name = node_name
        self._begun = begun
        self._deadline = begun + seconds
        self._first_words = first_words
        self._text = TelnetText()

    async def listen(self, reader: asyncio.StreamReader) -> Sighting:
        heard = time.monotonic()
        found = None
        while True:
            wake = self._deadline
            if found is not None:
                wake = min(wake, heard + found.quiet)
            elif self._first_words is not None and not self._said:
                wake = min(wake, self._begun + self._first_words)
            try:
                async with asyncio.timeout_at(asyncio.get_running_loop().time() + max(wake - time.monotonic(), 0)):
                    data = await reader.read(READ_BYTES)
            except TimeoutError:
                settled = found is not None and time.monotonic() >= heard + found.quiet
                return self.sighting(found.sign if found and settled else None)
            except OSError:
                data = b""
            if not data:
                return self.sighting(None, closed=True)
            heard = time.monotonic()
            self._text.feed(data)
            found = recognise(self._text.lines, self._node_name)

    def sighting(self, sign: Sign | None, *, closed: bool = False) -> Sighting:
        last = tuple(clipped(line, LINE_LENGTH) for line in self._said[-LINES_TOLD:])
        return Sighting(sign, last, round(time.monotonic() - self._begun, 1), closed)

    @property
    def _said(self) -> list[str]:
        return [said for line in self._text.lines if (said := printable(line))]


async def _leave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Leave as gns3-server bears it: half-close, read to the end, close. A plain close can end it for everybody."""
    with suppress(OSError, RuntimeError, TimeoutError):
        writer.write_eof()
        async with asyncio.timeout(LEAVE_SECONDS):
            while await reader.read(READ_BYTES):
                pass
    writer.close()
