"""What a screen shows of a console's output, however it is cut."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gns3server_copilot.consoles.screen import IDLE_LINES, MAX_CHARS, MAX_LINE, Screen, without_blank_ends


def shown(*pieces: str) -> list[str]:
    screen = Screen()
    for piece in pieces:
        screen.feed(piece)
    return [*screen.since(0), screen.line.rstrip()]


CASES = {
    "lines": ("a\r\nb\r\n", ["a", "b", ""]),
    "doubled returns": ("a\r\r\nb\n", ["a", "b", ""]),
    "a page prompt erased by backspaces": ("a\r\n --More-- " + "\b" * 9 + " " * 8 + "\b" * 9 + "b\r\n", ["a", "b", ""]),
    "a page prompt erased to the end of the line": ("a\r\n--More--\r\x1b[Kb\r\n", ["a", "b", ""]),
    "a page prompt erased by moving left": ("  ---- More ----\x1b[16D" + " " * 16 + "\x1b[16Dx\r\n", ["x", ""]),
    "a line painted again": ("[a] > \r[a] > i\x1b[K\r[a] > ip\x1b[K\r\n", ["[a] > ip", ""]),
    "colours and questions of the terminal": ("\x1b[6n\x1b[01;32mroot@h\x1b[00m:\x1b[?2004h~# ", ["root@h:~#"]),
    "a window title": ("\x1b]0;root@h: ~\x07# ", ["#"]),
    "tabs": ("a\tb\r\n", ["a       b", ""]),
    "a screen that is cleared": ("boot\x1b[2J\x1b[Hprompt> ", ["boot", "prompt>"]),
    "bells and other controls": ("a\x07\x0e\x0fb\x00c\r\n", ["abc", ""]),
    "characters erased and typed anew": ("show vre\b\b\x1b[Ker\r\n", ["show ver", ""]),
}


@pytest.mark.parametrize("case", CASES)
def test_it_is_what_a_terminal_would_show(case: str) -> None:
    text, lines = CASES[case]
    assert shown(text) == lines
    assert shown(*text) == lines


OUTPUT = st.text(alphabet="ab#> \r\n\b\t\x1b[;?0123456789KDJHmn]\x07é", max_size=60)


@example("\x1b\x1b0", [2])
@given(OUTPUT, st.lists(st.integers(0, 60), max_size=6))
def test_where_it_is_cut_makes_no_difference(text: str, cuts: list[int]) -> None:
    places = sorted({0, len(text), *(cut for cut in cuts if cut <= len(text))})
    assert shown(*(text[a:b] for a, b in itertools.pairwise(places))) == shown(text)


def test_positions_stay_when_old_lines_go() -> None:
    screen = Screen()
    screen.feed("".join(f"{n}\n" for n in range(IDLE_LINES * 3)))
    position = screen.position
    assert position == IDLE_LINES * 3
    screen.keeping = True
    screen.feed("".join(f"kept {n}\n" for n in range(IDLE_LINES * 3)))
    assert screen.since(position) == [f"kept {n}" for n in range(IDLE_LINES * 3)]


def test_output_without_an_end_is_bounded() -> None:
    screen = Screen()
    screen.keeping = True
    for _ in range(90):
        screen.feed(("x" * 99 + "\n") * 1000)
    assert sum(map(len, screen.since(0))) <= MAX_CHARS
    screen.feed("." * (MAX_LINE * 3))
    assert len(screen.line) <= MAX_LINE


def test_blank_lines_at_both_ends_go() -> None:
    assert without_blank_ends(["", " ", "a", "", "b", ""]) == ["a", "", "b"]
    assert without_blank_ends(["", ""]) == []
