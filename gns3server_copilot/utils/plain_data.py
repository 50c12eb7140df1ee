"""Any Python value as strict JSON data: what tools, models and devices return, made safe to store and to send."""

from __future__ import annotations

import json
import math
from collections import deque
from collections.abc import Mapping
from typing import Any

#: Containers nested deeper than this become one flat list of what they hold.
MAX_DEPTH = 50

#: A container met again is written out again up to this many containers; then it is only named. Without it a few
#: lists that share their members would grow into gigabytes.
MAX_REPEATED = 20_000

#: Longer integers become hexadecimal text: Python may refuse to write them in decimal (from 640 digits on).
MAX_INTEGER_BITS = 2048

_SEQUENCES = (list, tuple, set, frozenset, deque)


def plain(value: object) -> Any:
    """The value as None, bool, int, finite float, str, list or dict with text keys; never raises.

    `plain(plain(x)) == plain(x)`. Texts are kept whole, but for surrogates that UTF-8 cannot hold: pairs are joined
    and lone ones are written as `\\udc80`. NaN and infinities become text, bytes are read as UTF-8, sets are sorted.
    """
    return _Reader().read(value, 0)


def json_text(value: object) -> str:
    """The value as JSON text without line breaks; never raises."""
    return json.dumps(plain(value), ensure_ascii=False, allow_nan=False)


def as_text(value: object) -> str:
    """The value as text: a text as it is, None as "", anything else as JSON text; never raises."""
    data = plain(value)
    if data is None:
        return ""
    return data if isinstance(data, str) else json_text(data)


def put(target: dict[str, Any], key: str, value: object) -> None:
    """Store the value under its key or, when that is taken, under `original_<key>`: nothing is overwritten."""
    free = key if key not in target else f"original_{key}"
    number = len(target)
    while free in target:
        number += 1
        free = f"original_{key}_{number}"
    target[free] = value


def _clean(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        joined = text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
        return joined.encode("utf-8", "backslashreplace").decode()
    return text


def _is_container(value: object) -> bool:
    return issubclass(type(value), (Mapping, *_SEQUENCES))  # isinstance would ask the object itself


def _scalar(value: object) -> Any:
    # Base class methods are called on purpose: a subclass may have overridden its own with something that raises.
    if value is None or value is True or value is False:
        return value
    if isinstance(value, str):
        return _clean(str.__str__(value))
    if isinstance(value, int):
        number = int.__pos__(value)
        return number if number.bit_length() <= MAX_INTEGER_BITS else hex(number)
    if isinstance(value, float):
        if math.isnan(value):
            return "NaN"
        if math.isinf(value):
            return "Infinity" if value > 0 else "-Infinity"
        return float.__pos__(value)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value).decode("utf-8", "backslashreplace")
    if isinstance(value, BaseException):
        return _clean(f"{type(value).__name__}: {value}")
    return _clean(str.__str__(str(value)))


class _Reader:
    """One run of `plain`."""

    def __init__(self) -> None:
        self._inside: set[int] = set()
        self._met: dict[int, object] = {}  # holds the containers too, so that no id is given out twice
        self._containers = 0

    def read(self, value: object, depth: int) -> Any:
        try:
            return self._container(value, depth) if _is_container(value) else _scalar(value)
        except Exception:  # whatever somebody else's object raises when it is looked at
            return f"<unreadable {type(value).__name__}>"

    def _container(self, value: Any, depth: int) -> Any:
        key = id(value)
        if key in self._inside:
            return f"<{type(value).__name__} that contains itself>"
        if depth >= MAX_DEPTH:
            return self._flat(value)
        if self._is_repeated(value):
            return f"<{type(value).__name__} shown before>"
        self._inside.add(key)
        try:
            if isinstance(value, Mapping):
                return self._mapping(value, depth)
            members = [self.read(member, depth + 1) for member in list(value)]
        finally:
            self._inside.discard(key)
        return sorted(members, key=repr) if isinstance(value, (set, frozenset)) else members

    def _mapping(self, value: Mapping[Any, Any], depth: int) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for key, member in list(value.items()):
            name = self.read(key, depth + 1)
            put(result, name if isinstance(name, str) else json.dumps(name), self.read(member, depth + 1))
        return result

    def _is_repeated(self, container: Any) -> bool:
        self._containers += 1
        repeated = self._containers > MAX_REPEATED and id(container) in self._met and len(container) > 0
        self._met[id(container)] = container
        return repeated

    def _flat(self, container: Any) -> list[Any]:
        """Keys and values of all that is inside, in order, without recursion."""
        leaves: list[Any] = []
        met: dict[int, object] = {}
        waiting = [container]
        while waiting:
            value = waiting.pop()
            if not _is_container(value):
                leaves.append(self.read(value, 0))
            elif id(value) not in met and not self._is_repeated(value):
                met[id(value)] = value
                try:
                    pairs = [part for pair in value.items() for part in pair] if isinstance(value, Mapping) else value
                    waiting.extend(reversed(list(pairs)))
                except Exception:  # as in `read`
                    leaves.append(f"<unreadable {type(value).__name__}>")
        return leaves
