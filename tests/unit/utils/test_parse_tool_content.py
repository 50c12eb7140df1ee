from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gns3server_copilot.utils import parse_tool_content
from tests.unit.utils.strange_values import HARD_TEXTS, STRANGE_VALUES, values


@pytest.mark.parametrize(
    ("content", "data"),
    [
        (None, {}),
        ("", {}),
        (" \n", {}),
        ("{}", {}),
        (b"", {}),
        ({"a": 1}, {"a": 1}),
        ([1], [1]),
        (5, 5),
        (True, True),
        (1.5, 1.5),
        ("42", 42),
        ("null", None),
        ("None", None),
        ("true", True),
        ("True", True),
        ("(1, 2)", (1, 2)),
        ("{1, 2}", {1, 2}),
        ("b'x'", b"x"),
        ("0x1F", 31),
        ("'text'", "text"),
        (' {"a": [true, null]} ', {"a": [True, None]}),
        (" {'a': [True, None]} ", {"a": [True, None]}),
        (b'{"a": 1}', {"a": 1}),
        ("  plain text\n", {"raw": "plain text"}),
        ("true story", {"raw": "true story"}),
        (b"\xff", {"raw": "\\xff"}),
        (ValueError("boom"), {"raw": "ValueError: boom"}),
        ((1, "a"), [1, "a"]),
    ],
)
def test_content_and_its_data(content: object, data: object) -> None:
    parsed = parse_tool_content(content)
    assert parsed == data
    assert type(parsed) is type(data)


def test_text_that_is_both_is_read_as_json() -> None:
    assert parse_tool_content(r'"\u0041\/"') == "A/"


def test_data_is_returned_itself() -> None:
    data = {"a": [1]}
    assert parse_tool_content(data) is data


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
        max_leaves=10,
    ).filter(lambda data: data is not None)
)
def test_written_data_is_read_back(data: Any) -> None:
    assert parse_tool_content(json.dumps(data)) == data
    assert parse_tool_content(repr(data)) == data


def test_no_value_of_a_repeated_key_is_lost() -> None:
    assert parse_tool_content('{"a": 1, "a": 2}') == {"a": 2, "original_a": 1}
    assert parse_tool_content("{'a': 1, 'a': 2}") == {"raw": "{'a': 1, 'a': 2}"}


@pytest.mark.parametrize("name", HARD_TEXTS)
def test_a_text_that_cannot_be_read_stays_a_text(name: str) -> None:
    text = HARD_TEXTS[name]
    assert parse_tool_content(text) == {"raw": text}


@pytest.mark.parametrize("text", ["5in", "1if 1else 2", r"C:\dir \d", "interface 0x1for"])
def test_device_text_makes_no_warning(text: str, recwarn: pytest.WarningsRecorder) -> None:
    assert parse_tool_content(text) == {"raw": text}
    assert not recwarn.list


@pytest.mark.parametrize("name", STRANGE_VALUES)
def test_strange_content_never_raises(name: str) -> None:
    parse_tool_content(STRANGE_VALUES[name])


@given(values(st.just("a")) | st.text(alphabet="[]{}()'\"\\,:-+1 aeENTrufns\n#"))
def test_any_content_never_raises(content: Any) -> None:
    parse_tool_content(content)
