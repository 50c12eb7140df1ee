"""Any text is either data or a mistake with a line; nothing else comes out of it."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from gns3server_copilot.knowledge.problems import WrongFileError
from gns3server_copilot.knowledge.yaml_text import YamlText

PARTS = [
    "a:",
    " ",
    "\n",
    "- ",
    "[",
    "]",
    "{",
    "}",
    "'",
    '"',
    "&x ",
    "*x",
    "!!int ",
    "|\n",
    ">",
    "#",
    "? ",
    ": ",
    "no",
    "1.5",
    "---",
    "%",
    "\t",
]


@given(st.text() | st.lists(st.sampled_from(PARTS), max_size=20).map("".join))
def test_no_text_breaks_it(text):
    try:
        parsed = YamlText(text)
    except WrongFileError as error:
        assert 0 <= error.line <= len(text) + 1
        assert "\n" not in error.message
    else:
        json.dumps(parsed.data, default=str)
        parsed.line_of(("a", 0, "b"))


def test_lines_are_those_of_the_keys_and_items():
    parsed = YamlText("a: 1\nb:\n  - c: 2\n    d:\n      - 3\n      -\n")
    assert parsed.data == {"a": 1, "b": [{"c": 2, "d": [3, None]}]}
    lines = [
        parsed.line_of(path)
        for path in (("a",), ("b",), ("b", 0), ("b", 0, "d"), ("b", 0, "d", 1), ("b", 0, "x"), ("b", 9))
    ]
    assert lines == [1, 2, 3, 4, 6, 3, 2]
