"""Options in any order behind a command: `ping 10.0.0.1 size 200 repeat 3`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gns3server_copilot.demo.ios.grammar import IncompleteCommand, InvalidArgument, convert


@dataclass(frozen=True, slots=True)
class _Value:
    value: Any
    offset: int


@dataclass(frozen=True, slots=True)
class Options:
    """What was given. `argument` is the number of the LINE that it was read from, for errors."""

    _values: dict[str, list[_Value]]
    _argument: int

    def number(self, name: str, default: int, lowest: int, highest: int, *, value: int = 0) -> int:
        """The option's number (its `value`-th one). Raises InvalidArgument outside the range."""
        if name not in self._values:
            return default
        given = self._values[name][value]
        if not lowest <= given.value <= highest:
            raise InvalidArgument(self._argument, given.offset)
        return int(given.value)

    def word(self, name: str) -> str | None:
        return str(self._values[name][0].value) if name in self._values else None


def parse_options(line: str, known: Mapping[str, tuple[str, ...]], *, argument: int) -> Options:
    """Read options; `known` has the kinds of each one's values. Names may be cut short. Raises CommandError."""
    words = [(found.group(), found.start()) for found in re.finditer(r"\S+", line)]
    values: dict[str, list[_Value]] = {}
    while words:
        word, offset = words.pop(0)
        meant = [name for name in known if name.startswith(word.lower())]
        name = word if word in meant else meant[0] if len(meant) == 1 else None
        if name is None:
            raise InvalidArgument(argument, offset)
        values[name] = []
        for kind in known[name]:
            if not words:
                raise IncompleteCommand
            text, offset = words.pop(0)
            try:
                values[name].append(_Value(convert(kind, text), offset))
            except ValueError:
                raise InvalidArgument(argument, offset) from None
    return Options(values, argument)
