"""The console of a scripted device: a TCP port that speaks plain bytes, and reading of keys and lines from it."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Coroutine

_IAC, _SUBNEGOTIATION, _SUBNEGOTIATION_END = 255, 250, 240
_WITH_OPTION = range(251, 255)

_MOST_UNSENT = 256 * 1024
_MOST_BACKLOG = 64 * 1024

RETURN = "\r"
INTERRUPT = "\x03"
IOS_ESCAPE = "\x1e"
END_OF_CONFIGURATION = "\x1a"


class KeyReader:
    """Turns the bytes of a connection into keys, wherever they are cut: telnet commands are taken out, and each of
    CR, LF, CR LF and CR NUL is one RETURN."""

    def __init__(self) -> None:
        self._command = bytearray()
        self._after_return = False

    def feed(self, data: bytes) -> list[str]:
        keys = []
        for key in self._without_telnet(data).decode("latin-1"):
            second_half = self._after_return and key in "\n\0"
            self._after_return = key == RETURN
            if not second_half:
                keys.append(RETURN if key == "\n" else key)
        return keys

    def _without_telnet(self, data: bytes) -> bytes:
        text = bytearray()
        for octet in data:
            if self._command:
                self._continue(octet, text)
            elif octet == _IAC:
                self._command.append(octet)
            else:
                text.append(octet)
        return bytes(text)

    def _continue(self, octet: int, text: bytearray) -> None:
        self._command.append(octet)
        kind = self._command[1]
        if kind == _IAC:
            text.append(_IAC)
        elif kind == _SUBNEGOTIATION:
            if not self._command.endswith(bytes((_IAC, _SUBNEGOTIATION_END))):
                return
        elif kind in _WITH_OPTION and len(self._command) < 3:
            return
        self._command.clear()


class Console:
    """Listens on loopback. What is written while nobody has ever connected is kept for the first who does.

    The server's console wrapper makes one connection and holds it for the node's life; a second one is accepted too
    and sees the same output.
    """

    def __init__(self) -> None:
        self._keys: asyncio.Queue[str] = asyncio.Queue()
        self._writers: set[asyncio.StreamWriter] = set()
        self._backlog: bytearray | None = bytearray()
        self._server: asyncio.Server | None = None
        self.at_line_start = True

    async def listen(self, host: str, port: int) -> int:
        """Start listening; the port (that of `port`, or the kernel's choice for 0)."""
        self._server = await asyncio.start_server(self._serve, host, port)
        return int(self._server.sockets[0].getsockname()[1])

    async def close(self) -> None:
        if self._server:
            self._server.close()
        for writer in list(self._writers):
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        keys = KeyReader()
        self._writers.add(writer)
        if self._backlog is not None:
            writer.write(bytes(self._backlog))
            self._backlog = None
        try:
            while data := await reader.read(4096):
                for key in keys.feed(data):
                    self._keys.put_nowait(key)
        except OSError:
            pass
        finally:
            self._writers.discard(writer)
            writer.close()

    def write(self, text: str) -> None:
        """Put text on the screen; `\\n` becomes CR LF. It is dropped when the reader is far behind."""
        if text:
            self.at_line_start = text.endswith("\n")
        data = text.replace("\n", "\r\n").encode("latin-1", "replace")
        if self._backlog is not None:
            if len(self._backlog) < _MOST_BACKLOG:
                self._backlog += data
            return
        for writer in self._writers:
            if writer.transport.get_write_buffer_size() < _MOST_UNSENT:
                writer.write(data)

    async def read_key(self) -> str:
        return await self._keys.get()

    def flush_keys(self) -> None:
        """Forget what was typed ahead."""
        while not self._keys.empty():
            self._keys.get_nowait()

    async def interrupted(self, keys: str) -> None:
        """Return when one of `keys` is typed; other keys are typed ahead and stay."""
        ahead: list[str] = []
        try:
            while (key := await self._keys.get()) not in keys:
                ahead.append(key)
        finally:
            self._put_back(ahead)

    def _put_back(self, ahead: list[str]) -> None:
        later: list[str] = []
        while not self._keys.empty():
            later.append(self._keys.get_nowait())
        for key in ahead + later:
            self._keys.put_nowait(key)


class Interrupted(Exception):
    """A break key was typed."""


class LineEditor:
    """Reads lines with echo; `prompt` and what is typed can be shown again after a log line."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._prompt = ""
        self._typed = ""
        self._reading = False
        self._escape = ""

    async def read_line(self, prompt: str, enders: str = "") -> str:
        """One line without its end. Raises Interrupted for Ctrl-C. A key of `enders` ends the line and is its end."""
        self._prompt, self._typed = prompt, ""
        self._console.write(prompt)
        self._reading = True
        try:
            return await self._edit(enders)
        finally:
            self._reading = False

    async def _edit(self, enders: str) -> str:
        while True:
            key = await self._console.read_key()
            if key == RETURN:
                self._console.write("\n")
                return self._typed
            if key in enders:
                self._console.write("^" + chr(ord(key) + 64) + "\n")
                return self._typed + key
            if key == INTERRUPT:
                raise Interrupted
            self._take(key)

    def _take(self, key: str) -> None:
        if key == "\x1b" or self._escape:
            # An arrow or function key: ESC [ … letter. There is no history to move in.
            self._escape += key
            if len(self._escape) > 1 and (key.isalpha() or key == "~"):
                self._escape = ""
        elif key in "\b\x7f":
            if self._typed:
                self._typed = self._typed[:-1]
                self._console.write("\b \b")
        elif key == "\x15":
            self._console.write("\b \b" * len(self._typed))
            self._typed = ""
        elif key.isprintable():
            self._typed += key
            self._console.write(key)

    def interject(self, text: str, *, redraw: bool) -> None:
        """Print a log line; with `redraw` the prompt and what is typed so far come again below it."""
        self._console.write(text + "\n" if self._console.at_line_start else f"\n{text}\n")
        if redraw and self._reading:
            self._console.write(self._prompt + self._typed)


async def until_interrupted(console: Console, keys: str, work: Coroutine[None, None, None]) -> bool:
    """Do `work`; False, with the work cancelled, when one of `keys` is typed before its end."""
    working = asyncio.ensure_future(work)
    stop = asyncio.ensure_future(console.interrupted(keys))
    try:
        await asyncio.wait({stop, working}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            return False
        working.result()
        return True
    finally:
        for task in (stop, working):
            task.cancel()
        await asyncio.gather(stop, working, return_exceptions=True)
