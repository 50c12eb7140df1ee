"""A person's terminal: text shown safely, questions read, Ctrl-C noticed."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
import termios
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TextIO

SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\^_])")
#: Controls (line feed and tab excepted) and what turns the writing direction.
UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")

GREEN, RED, FAINT = "32", "31", "2"


def printable(text: str) -> str:
    """Give a server's text without anything that a terminal would obey."""
    return UNSEEN.sub("", SEQUENCE.sub("", text))


class Screen:
    """Where a conversation is shown. Colours only on a terminal, and not with NO_COLOR set."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self.is_terminal = out.isatty()
        self._coloured = self.is_terminal and not os.environ.get("NO_COLOR")
        self._at_line_start = True

    def text(self, text: str) -> None:
        """Show a part of a text at once."""
        self._write(printable(text))

    def line(self, text: str, colour: str = "") -> None:
        """Show a line of its own."""
        if not self._at_line_start:
            self._write("\n")
        self._write(f"{self.styled(text, colour)}\n")

    def styled(self, text: str, colour: str) -> str:
        """Give a text as it is written here in a colour."""
        shown = printable(text)
        return f"\x1b[{colour}m{shown}\x1b[0m" if colour and self._coloured else shown

    def end_line(self) -> None:
        """End a line that has been begun."""
        if not self._at_line_start:
            self._write("\n")

    def _write(self, text: str) -> None:
        if text:
            self._out.write(text)
            self._out.flush()
            self._at_line_start = text.endswith("\n")


@contextmanager
def interrupts() -> Iterator[asyncio.Event]:
    """Give an event that Ctrl-C sets, instead of ending the program."""
    pressed = asyncio.Event()
    loop = asyncio.get_running_loop()
    before = signal.getsignal(signal.SIGINT)
    try:
        loop.add_signal_handler(signal.SIGINT, pressed.set)
    except (NotImplementedError, RuntimeError, ValueError):  # not the main thread: Ctrl-C is somebody else's
        yield pressed
        return
    try:
        yield pressed
    finally:
        loop.remove_signal_handler(signal.SIGINT)
        signal.signal(signal.SIGINT, before)


class Keyboard:
    """Reads a person's lines while the event loop runs on; from a pipe as well.

    `pressed` is set by Ctrl-C. At a prompt the first one only shows `hint`: it may have been meant for an answer that
    has just ended.
    """

    def __init__(self, pressed: asyncio.Event, hint: str) -> None:
        self._pressed = pressed
        self._hint = hint
        self._typing = sys.stdin.isatty()
        self._read = _typed_line if self._typing else _Pipe(sys.stdin.fileno()).line
        self._typed_so_far: Callable[[], str] = str
        if self._typing:
            with suppress(ImportError):
                import readline  # gives input() arrow keys and earlier lines

                self._typed_so_far = readline.get_line_buffer

    async def line(self, prompt: str) -> str | None:
        """Give the next line; None at the end of the input, at a second Ctrl-C, and for a pipe at the first."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[str | None] = loop.create_future()

        def deliver(line: str | None) -> None:
            if not answer.done():
                answer.set_result(line)

        def read() -> None:
            try:
                line = self._read(f"\n{prompt}")
            except (EOFError, OSError, ValueError):
                line = None
            with suppress(RuntimeError):  # the loop has ended: nobody waits any more
                loop.call_soon_threadsafe(deliver, line)

        hinted = self._typing and self._pressed.is_set()
        if hinted:
            self._pressed.clear()
            print(self._hint, flush=True)
        with _terminal_kept():
            # a daemon, since nothing can end a thread that waits for a key
            threading.Thread(target=read, daemon=True, name="keyboard").start()
            while not await self._answered(answer):
                if hinted or not self._typing:
                    return None
                hinted = True
                # the thread still reads, and still holds what has been typed
                print(f"\n{self._hint}\n{prompt}{self._typed_so_far()}", end="", flush=True)
            return answer.result()

    async def _answered(self, answer: asyncio.Future[str | None]) -> bool:
        """Wait for the line or for Ctrl-C, and tell whether it was the line."""
        interrupted = asyncio.create_task(self._pressed.wait())
        try:
            await asyncio.wait((answer, interrupted), return_when=asyncio.FIRST_COMPLETED)
        finally:
            interrupted.cancel()
        if not answer.done():
            self._pressed.clear()
        return answer.done()


def _typed_line(prompt: str) -> str:
    return input(prompt)


class _Pipe:
    """Lines of a file that is no terminal, read without Python's lock on sys.stdin, which would outlive the program."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._rest = b""

    def line(self, prompt: str) -> str | None:
        while b"\n" not in self._rest:
            piece = os.read(self._descriptor, 65536)
            if not piece:
                line, self._rest = self._rest, b""
                return line.decode(errors="replace") if line else None
            self._rest += piece
        line, _, self._rest = self._rest.partition(b"\n")
        return line.decode(errors="replace")


@contextmanager
def _terminal_kept() -> Iterator[None]:
    """Leave the terminal as it was: a read that nobody waits for any more keeps it in its own mode."""
    if not sys.stdin.isatty():
        yield
        return
    modes = termios.tcgetattr(sys.stdin)
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSANOW, modes)
