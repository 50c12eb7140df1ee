"""Strategies and objects for the tests of everything that takes any value whatever."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from enum import IntEnum
from pathlib import PurePosixPath
from typing import Any, NoReturn

from hypothesis import strategies as st

from gns3server_copilot.utils.parse_tool_content import MAX_LITERAL_LENGTH


class RaisingText:
    def __str__(self) -> str:
        raise RuntimeError("no text")

    __repr__ = __str__


class RaisingEverything:
    def __getattribute__(self, name: str) -> NoReturn:
        raise RuntimeError(f"no {name}")


class RaisingMapping(Mapping[str, object]):
    def __getitem__(self, key: str) -> NoReturn:
        raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        raise RuntimeError("no members")

    def __len__(self) -> int:
        return 3


class RaisingList(list[object]):
    def __iter__(self) -> Iterator[object]:
        raise RuntimeError("no members")


class LyingInteger(int):
    def __pos__(self) -> NoReturn:
        raise RuntimeError("no number")

    def bit_length(self) -> NoReturn:
        raise RuntimeError("no number")


class LyingText(str):
    def __str__(self) -> NoReturn:
        raise RuntimeError("no text")

    def encode(self, *_: object) -> NoReturn:
        raise RuntimeError("no bytes")


class Colour(IntEnum):
    RED = 1


def list_inside_itself() -> list[Any]:
    inside: list[Any] = ["kept"]
    inside.append({"again": inside})
    return inside


def dict_inside_itself() -> dict[str, Any]:
    inside: dict[str, Any] = {"error": "kept", "nodes": []}
    inside["nodes"].append(inside)
    return inside


def deep_list(depth: int) -> list[Any]:
    deep: list[Any] = ["the bottom"]
    for _ in range(depth):
        deep = [deep]
    return deep


def deep_dict(depth: int) -> dict[str, Any]:
    deep: dict[str, Any] = {"name": "the bottom"}
    for level in range(depth):
        deep = {f"level {level}": deep}
    return deep


def doubling_list(levels: int) -> list[Any]:
    """Written out it has 2 ** levels members; in memory it is small."""
    doubling: list[Any] = ["the bottom"]
    for _ in range(levels):
        doubling = [doubling, doubling]
    return doubling


STRANGE_VALUES: dict[str, Any] = {
    "object": object(),
    "object without text": RaisingText(),
    "object without attributes": RaisingEverything(),
    "mapping without members": RaisingMapping(),
    "list without members": RaisingList([1]),
    "dict of objects without text": {RaisingText(): [RaisingText()]},
    "integer that lies": LyingInteger(5),
    "text that lies": LyingText("kept"),
    "enum": Colour.RED,
    "exception": ValueError("kept"),
    "exception class": ValueError,
    "bytes": b"kept \xff\x00",
    "bytearray": bytearray(b"kept"),
    "memoryview": memoryview(b"kept"),
    "set": {"kept", 1, None, (2, 3)},
    "frozenset of tuples": frozenset({("a", frozenset({"b"}))}),
    "tuple": ("kept", 1),
    "generator": (number for number in range(3)),
    "range": range(3),
    "nan": float("nan"),
    "infinities": [float("inf"), float("-inf")],
    "complex": 1j,
    "huge integer": 10**5000,
    "huge negative integer": -(10**5000),
    "huge integer as key": {10**5000: 10**5000},
    "lone surrogate": "kept \ud800",
    "surrogate pair": "kept \ud83d\ude00",
    "surrogates in keys": {"\udc80": "\udc80", "nodes": [{"\udfff": "\udfff"}]},
    "keys that collide": {1: "first", "1": "second", 1.5: "third", None: "fourth", "null": "fifth"},
    "list inside itself": list_inside_itself(),
    "dict inside itself": dict_inside_itself(),
    "deep list": deep_list(100_000),
    "deep dict": deep_dict(5_000),
    "doubling list": doubling_list(60),
    "datetime": datetime(2026, 1, 2, tzinfo=UTC),
    "decimal": Decimal("1.5"),
    "path": PurePosixPath("/kept"),
    "nul and separators": "\0\x1b[0m\u2028\n\n\x85",
}

#: Neither JSON nor Python literals, and hard on those who try to read them.
HARD_TEXTS = {
    "unhashable key": "{[]: 1}",
    "unary": "-" * 100_000 + "1",
    "unary in a list": "[" + "-" * 100_000 + "1]",
    "not": "[" + "not " * 50_000 + "1]",
    "sum": "[1" + "+1" * 20_000 + "]",
    "integer": "9" * 5000,
    "integer in a literal": "('a', " + "9" * 5000 + ")",
    "brackets": "[" * 100_000 + "]" * 100_000,
    "brackets and a letter": "[" * 100_000 + "x",
    "braces": "{" * 50_000,
    "deep object": '{"a":' * 5000 + "1" + "}" * 5000,
    "quotes": "'" * 99_999,
    "nul": "['\0']",
    "call": "__import__('os').getcwd()",
    "starred": "[*'ab', **{}]",
    "f-string": "f'{1}'",
    "too long": "('a'," + " " * MAX_LITERAL_LENGTH + ")",
}

texts = st.text(st.characters(codec=None), max_size=12)
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-3, 5)
    | st.integers()
    | st.floats()
    | texts
    | st.binary(max_size=6)
    | st.sampled_from([Decimal(1), "Error: x", "None", "{}", "[]", " "])
    | st.builds(RaisingText)
    | st.builds(ValueError, st.just("boom"))
    | st.just(5000).map(lambda digits: 10**digits)
)


def values(keys: st.SearchStrategy[Any], leaves: st.SearchStrategy[Any] = scalars) -> st.SearchStrategy[Any]:
    """JSON-like values and worse ones, their objects with these keys (others now and then)."""
    return st.recursive(
        leaves,
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.tuples(inner, inner)
            | st.dictionaries(keys | texts | st.integers(0, 3) | st.none(), inner, max_size=5)
        ),
        max_leaves=12,
    )


def is_strict_json(value: object) -> bool:
    """Whether the value is JSON data that any other program can read back as it is."""
    text = json.dumps(value, allow_nan=False, ensure_ascii=False)
    return bool(json.loads(text.encode("utf-8")) == value)
