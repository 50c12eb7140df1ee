"""What a telnet console has sent, as the lines that a person would see."""

from __future__ import annotations

import codecs
import re

IAC, SB, SE = 255, 250, 240
#: WILL, WONT, DO, DONT: an option byte follows.
NEGOTIATIONS = range(251, 255)
#: Sequences that move the cursor to another line or clear the screen: what follows is a line of its own.
MOVES = re.compile(r"\x1b\[[0-?]*[ -/]*[ABEFHJdf]")
SEQUENCES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # colours, cursor, queries
    r"|\x1b[\]P_^][^\x07\x1b]*(?:\x07|\x1b\\)?"  # titles
    r"|\x1b(?![\[\]P_^])[ -/]*[0-~]"
)
#: A sequence whose end has not come yet.
UNFINISHED = re.compile(r"\x1b(?:\[[0-?]*[ -/]*|[ -/]*)?$")
UNSEEN = re.compile(r"[\x00-\x07\x0e-\x1f\x7f]")
#: Characters that are kept: enough for a login banner; a backlog may be hundreds of KB.
KEPT = 4096


class TelnetText:
    """Collects the text of a telnet stream, in whatever pieces it comes. Nothing is ever answered."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._unfinished = b""
        self._tail = ""

    def feed(self, data: bytes) -> None:
        """Add what has been received."""
        self._tail = (self._tail + self._decoder.decode(self._without_commands(data)))[-KEPT:]

    @property
    def lines(self) -> list[str]:
        """The last lines, the one that the cursor is in at the end."""
        text = UNFINISHED.sub("", SEQUENCES.sub("", MOVES.sub("\n", self._tail)))
        return [_as_seen(line) for line in text.replace("\r\n", "\n").split("\n")]

    def _without_commands(self, data: bytes) -> bytes:
        data = self._unfinished + data
        self._unfinished = b""
        if IAC not in data:
            return data
        text = bytearray()
        position = 0
        while (start := data.find(IAC, position)) >= 0:
            text += data[position:start]
            end = _end_of_command(data, start)
            if end is None:
                self._unfinished = data[start:]
                return bytes(text)
            if data[start + 1] == IAC:
                text.append(IAC)
            position = end
        return bytes(text + data[position:])


def _end_of_command(data: bytes, start: int) -> int | None:
    """Give where the command that begins at `start` ends; None when its end has not come yet."""
    if start + 1 >= len(data):
        return None
    command = data[start + 1]
    if command in NEGOTIATIONS:
        return start + 3 if start + 2 < len(data) else None
    if command == SB:
        end = data.find(bytes((IAC, SE)), start + 2)
        return end + 2 if end >= 0 else None
    return start + 2


def _as_seen(line: str) -> str:
    """Give a line after its carriage returns and backspaces have done their work."""
    line = line.rstrip("\r").rpartition("\r")[2]
    while "\b" in line:
        before, _, after = line.partition("\b")
        line = before[:-1] + after
    return UNSEEN.sub("", line)
