"""A telnet stream as the lines that a person would see."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gns3server_copilot.consoles.telnet_text import KEPT, TelnetText

INTRO = b"\xff\xfb\x01\xff\xfb\x03\xff\xfb\x00\xff\xfd\x00"
SUBNEGOTIATION = b"\xff\xfa\x18\x01\xff\xf0"


def lines_of(*pieces: bytes) -> list[str]:
    """The lines after these pieces."""
    text = TelnetText()
    for piece in pieces:
        text.feed(piece)
    return text.lines


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"a\r\nb\r\nPC1> ", ["a", "b", "PC1> "]),
        (INTRO + b"PC1" + b"\xff\xf1" + SUBNEGOTIATION + b"> ", ["PC1> "]),
        (b"one\xff\xfftwo", ["one\ufffdtwo"]),
        (b"\x1b[?2004h\x1b[1;32mroot@r1\x1b[0m:~# \x1b[6n", ["root@r1:~# "]),
        (b"old\x1b[2J\x1b[HR1>", ["old", "", "R1>"]),
        (b"\x1b]0;title\x07R1#", ["R1#"]),
        (b"loading 10%\rloading 90%\rdone      \r\nR1>", ["done      ", "R1>"]),
        (b"--More-- \b\b\b\b\b\b\b\b\b         \b\b\b\b\b\b\b\b\bR1#", ["R1#"]),
        (b"R1\x00#\x07", ["R1#"]),
        ("Bienvenue à été".encode(), ["Bienvenue à été"]),
        (b"", [""]),
    ],
)
def test_lines_are_as_seen_in_whatever_pieces_they_come(data: bytes, lines: list[str]) -> None:
    assert lines_of(data) == lines
    assert lines_of(*(data[at : at + 1] for at in range(len(data)))) == lines


@pytest.mark.parametrize("begun", [b"\xff", b"\xff\xfb", b"\xff\xfa\x18\x01", b"\x1b", b"\x1b[", b"\x1b[?20", b"\xc3"])
def test_what_has_only_begun_is_not_shown(begun: bytes) -> None:
    assert lines_of(b"R1>" + begun) == ["R1>"]


def test_of_a_long_backlog_the_end_is_kept() -> None:
    lines = lines_of(b"x" * (3 * KEPT), b"\r\nR1>")
    assert lines[-1] == "R1>"
    assert sum(map(len, lines)) < KEPT


@given(st.lists(st.binary(max_size=40), max_size=20))
def test_no_bytes_break_it(pieces: list[bytes]) -> None:
    assert not any(character in line for line in lines_of(*pieces) for character in "\x00\x1b\x07\n")
