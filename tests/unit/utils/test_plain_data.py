from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gns3server_copilot.utils.plain_data import MAX_DEPTH, MAX_INTEGER_BITS, as_text, json_text, plain, put
from tests.unit.utils.strange_values import (
    STRANGE_VALUES,
    LyingInteger,
    LyingText,
    deep_dict,
    doubling_list,
    is_strict_json,
    texts,
    values,
)


@pytest.mark.parametrize("name", STRANGE_VALUES)
def test_any_value_becomes_strict_json(name: str) -> None:
    assert is_strict_json(plain(STRANGE_VALUES[name]))


@given(values(st.just("a")))
def test_plain_data_is_strict_json_and_stays_as_it_is(value: Any) -> None:
    data = plain(value)
    assert is_strict_json(data)
    assert plain(data) == data


json_data = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**64), 2**64)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(json_data)
def test_json_data_is_not_changed(data: Any) -> None:
    assert plain(data) == data


@pytest.mark.parametrize(
    ("value", "data"),
    [
        (float("nan"), "NaN"),
        (float("-inf"), "-Infinity"),
        (b"r\xc3\xa9\xff", "ré\\xff"),
        ("\ud83d\ude00 \udc80", "😀 \\udc80"),
        ({"b", "a"}, ["a", "b"]),
        (("a", 1), ["a", 1]),
        (ValueError("boom"), "ValueError: boom"),
        (2**MAX_INTEGER_BITS, hex(2**MAX_INTEGER_BITS)),
        (2**MAX_INTEGER_BITS - 1, 2**MAX_INTEGER_BITS - 1),
        ({None: 1, 1.5: 2}, {"null": 1, "1.5": 2}),
        ({1: "a", "1": "b"}, {"1": "a", "original_1": "b"}),
    ],
)
def test_what_json_has_no_word_for(value: object, data: object) -> None:
    assert plain(value) == data


def test_numbers_and_texts_are_read_past_what_their_classes_override() -> None:
    assert plain([LyingInteger(5), LyingText("a")]) == [5, "a"]


def test_what_contains_itself_is_cut_where_it_begins_again() -> None:
    inside: list[Any] = ["a"]
    inside.append(inside)
    assert plain(inside) == ["a", "<list that contains itself>"]


def test_the_same_list_twice_is_written_twice() -> None:
    shared = ["a"]
    assert plain([shared, {"b": shared}]) == [["a"], {"b": ["a"]}]


def test_too_deep_nesting_is_flattened_with_its_keys_and_texts_in_order() -> None:
    data = plain(deep_dict(MAX_DEPTH + 2))
    for _ in range(MAX_DEPTH):
        (data,) = data.values()
    assert data == ["level 2", "level 1", "level 0", "name", "the bottom"][-len(data) :]
    assert data[-2:] == ["name", "the bottom"]


def test_shared_members_do_not_grow_without_bound() -> None:
    started = time.monotonic()
    text = json_text(doubling_list(1000))
    assert "the bottom" in text
    assert len(text) < 10_000_000
    assert time.monotonic() - started < 5


@given(texts)
def test_a_text_is_its_own_text(text: str) -> None:
    assert as_text(text) == plain(text)


@pytest.mark.parametrize(("value", "text"), [(None, ""), ("", ""), (0, "0"), (False, "false"), (["é"], '["é"]')])
def test_values_as_text(value: object, text: str) -> None:
    assert as_text(value) == text


@given(st.lists(st.tuples(st.sampled_from(["a", "original_a", "original_a_2", "b"]), st.integers()), max_size=12))
def test_put_overwrites_nothing(pairs: list[tuple[str, int]]) -> None:
    target: dict[str, Any] = {}
    for key, value in pairs:
        put(target, key, value)
    assert sorted(target.values()) == sorted(value for _, value in pairs)
