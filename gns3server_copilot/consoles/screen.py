"""What a terminal would show of a console's output, as lines.

Terminal sequences, backspaces and carriage returns are carried out on the last line, so that erased pager prompts,
repainted prompts and colours leave nothing behind. There is no width: a device that wraps its echo at some column only
garbles the line of the echo, which nobody reads (see `session`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

#: A run of text, a terminal sequence (CSI, OSC, or two characters), or one control character.
TOKEN = re.compile(
    r"[^\x00-\x1f\x7f\x80-\x9f]+"
    r"|\x1b\[[0-9;?=>!]*[ -/]*[@-~]"
    r"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)"
    r"|\x1b[()*+][0-9A-Za-z]"
    r"|\x1b[^\[\]()*+\x1b]"
    r"|[\x00-\x1a\x1c-\x1f\x7f\x80-\x9f]"
)
#: A sequence that has not wholly arrived. Longer ones are none.
UNFINISHED = re.compile(r"\x1b(?:\[[0-9;?=>!]{0,30}[ -/]*|\][^\x07\x1b]{0,200}|[()*+])?\Z")
CSI = re.compile(r"\x1b\[([0-9;]*)([@-~])")

#: Lines and characters kept of one command's output; what is beyond loses its middle.
MAX_LINES = 60_000
MAX_CHARS = 6_000_000
#: Lines kept of what a device prints while nobody waits for it.
IDLE_LINES = 400
#: Characters kept of one line: progress marks can go on for hours.
MAX_LINE = 100_000
#: Characters kept of the bare stream, which echoes are looked for in.
STREAM_CHARS = 4096


class Screen:
    """Lines that are complete, and the line that the cursor is on.

    Positions count lines from the beginning of the session, so that they stay valid when old lines are dropped.
    """

    def __init__(self) -> None:
        self.line = ""
        #: grows with everything that arrives
        self.received = 0
        self.stream = ""
        #: whether somebody waits for an output, which is to be kept whole
        self.keeping = False
        self._streaming = False
        self._lines: list[str] = []
        self._chars = 0
        self._dropped = 0
        self._cursor = 0
        self._pending = ""

    @property
    def position(self) -> int:
        """The number of the line that the cursor is on."""
        return self._dropped + len(self._lines)

    def feed(self, text: str) -> None:
        """Take in what has arrived, cut anywhere."""
        self.received += len(text)
        text = self._pending + text
        unfinished = UNFINISHED.search(text)
        self._pending = unfinished[0] if unfinished else ""
        if unfinished:
            text = text[: unfinished.start()]
        for token in TOKEN.findall(text):
            first = token[0]
            if first == "\x1b":
                self._sequence(token)
            elif first < " " or "\x7f" <= first <= "\x9f":
                self._control(first)
            else:
                self._write(token)
                if self._streaming:
                    self.stream = (self.stream + token)[-STREAM_CHARS:]

    def since(self, position: int) -> list[str]:
        """Give the complete lines from this position on, without trailing spaces."""
        return [line.rstrip() for line in self._lines[max(position - self._dropped, 0) :]]

    def last(self, count: int) -> list[str]:
        """Give the last complete lines, at most `count`."""
        return [line.rstrip() for line in self._lines[-count:]]

    def erase_line(self) -> None:
        """Forget what is on the cursor's line, a pager's prompt say."""
        self.line = ""
        self._cursor = 0

    def begin_stream(self) -> None:
        """Keep, from here on, the bare stream of what arrives, in which an echo is looked for."""
        self.stream = ""
        self._streaming = True

    def end_stream(self) -> None:
        """Keep it no longer."""
        self._streaming = False

    def forget_lines(self, keep: int = 60) -> None:
        """Drop all complete lines but the last ones."""
        drop = len(self._lines) - keep
        if drop > 0:
            self._drop(0, drop)

    def _drop(self, begin: int, count: int) -> None:
        self._chars -= sum(map(len, self._lines[begin : begin + count]))
        del self._lines[begin : begin + count]
        self._dropped += count

    def _write(self, run: str) -> None:
        if self._cursor == len(self.line):
            self.line += run
        else:
            line = self.line.ljust(self._cursor)
            self.line = line[: self._cursor] + run + line[self._cursor + len(run) :]
        self._cursor += len(run)
        if len(self.line) > MAX_LINE:
            self.line = self.line[-MAX_LINE // 2 :]
            self._cursor = min(self._cursor, len(self.line))

    def _control(self, character: str) -> None:
        if character == "\n":
            self._new_line()
        elif character == "\r":
            self._cursor = 0
        elif character == "\b":
            self._cursor = max(self._cursor - 1, 0)
        elif character == "\t":
            self._write(" " * (8 - self._cursor % 8))

    def _new_line(self) -> None:
        self._lines.append(self.line)
        self._chars += len(self.line)
        self.line = ""
        self._cursor = 0
        if not self.keeping and len(self._lines) > IDLE_LINES:
            self._drop(0, IDLE_LINES // 2)
        elif len(self._lines) > MAX_LINES or self._chars > MAX_CHARS:
            self._drop(len(self._lines) // 2, len(self._lines) // 4 or 1)

    def _sequence(self, token: str) -> None:
        found = CSI.fullmatch(token)
        if found is None:
            return
        numbers = [int(number or 0) for number in found[1].split(";")]
        self._carry_out(found[2], numbers[0], max(numbers[0], 1))

    def _carry_out(self, what: str, number: int, times: int) -> None:
        match what:
            case "D":
                self._cursor = max(self._cursor - times, 0)
            case "C":
                self._cursor += times
            case "G":
                self._cursor = times - 1
            case "K" | "J" if number == 0:
                self.line = self.line[: self._cursor]
            case "K" if number == 1:
                self.line = " " * self._cursor + self.line[self._cursor :]
            case "K":
                self.line = ""
            case "J" | "H" if self.line.strip():
                # a screen that is cleared or written elsewhere: what stood here stays readable
                self._new_line()
            case "P":
                self.line = self.line[: self._cursor] + self.line[self._cursor + times :]
            case "@":
                self.line = self.line[: self._cursor] + " " * times + self.line[self._cursor :]


def without_blank_ends(lines: Sequence[str]) -> list[str]:
    """Give the lines without blank ones at the beginning and the end."""
    begin, end = 0, len(lines)
    while begin < end and not lines[begin].strip():
        begin += 1
    while end > begin and not lines[end - 1].strip():
        end -= 1
    return list(lines[begin:end])
