"""Command lines as IOS takes them: keywords may be cut short, and errors say what and where.

A pattern is a line of words. Words in lower case are keywords, words in upper case are arguments:

    ADDRESS MASK WILDCARD   dotted quads               → IPv4Address
    NUMBER                  decimal                    → int
    AREA                    decimal or dotted quad     → IPv4Address
    INTERFACE               gi0/1, Loopback 0, …       → str, the full name
    WORD                    anything without a space   → str
    LINE                    the rest of the line       → str
"""

from __future__ import annotations

import re
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from ipaddress import AddressValueError, IPv4Address
from typing import Any

INTERFACE_KINDS = ("GigabitEthernet", "Loopback")

Result = str | None | Coroutine[Any, Any, str | None]
Handler = Callable[..., Result]

_INTERFACE = re.compile(r"([A-Za-z]+)(\d+(?:/\d+)*)")


class CommandError(Exception):
    """The line is not a command; `message` is what IOS prints."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class InvalidInput(CommandError):
    """The word at `position` fits nowhere. IOS marks it with a `^` below the echoed line."""

    def __init__(self, position: int) -> None:
        super().__init__("% Invalid input detected at '^' marker.")
        self.position = position


class InvalidArgument(CommandError):
    """Raised by a handler: its argument number `index` is wrong, from `offset` on."""

    def __init__(self, index: int = 0, offset: int = 0) -> None:
        super().__init__("% Invalid input detected at '^' marker.")
        self.index = index
        self.offset = offset


class IncompleteCommand(CommandError):
    def __init__(self) -> None:
        super().__init__("% Incomplete command.")


class AmbiguousCommand(CommandError):
    def __init__(self, line: str) -> None:
        super().__init__(f'% Ambiguous command:  "{line}"')


@dataclass(frozen=True, slots=True)
class Command:
    pattern: tuple[str, ...]
    handler: Handler
    privileged: bool = False


@dataclass(frozen=True, slots=True)
class Match:
    handler: Handler
    arguments: tuple[Any, ...]
    positions: tuple[int, ...]
    """Where each argument stands in the line."""

    def call(self, target: object) -> str | None:
        """What the command prints, for handlers that need not wait. Raises CommandError."""
        try:
            result = self.handler(target, *self.arguments)
        except InvalidArgument as error:
            raise self._located(error) from None
        assert result is None or isinstance(result, str)
        return result

    async def run(self, target: object) -> str | None:
        """What the command prints; handlers that wait are waited for. Raises CommandError."""
        try:
            result = self.handler(target, *self.arguments)
            return await result if isinstance(result, Coroutine) else result
        except InvalidArgument as error:
            raise self._located(error) from None

    def _located(self, error: InvalidArgument) -> InvalidInput:
        return InvalidInput(self.positions[error.index] + error.offset)


@dataclass(slots=True)
class _Word:
    text: str
    position: int


def interface_name(text: str) -> str | None:
    """The full name for `gi0/1`, `Lo0`, `GigabitEthernet0/1`; None where it is none of ours."""
    found = _INTERFACE.fullmatch(text)
    if not found:
        return None
    kind = _kind(found[1])
    return kind + found[2] if kind else None


def _kind(text: str) -> str | None:
    return next((kind for kind in INTERFACE_KINDS if kind.lower().startswith(text.lower())), None)


def _is_keyword(word: str) -> bool:
    return not word.isupper()


def convert(kind: str, text: str) -> Any:
    """The argument's value; raises ValueError where the text is no such argument."""
    if kind in ("ADDRESS", "WILDCARD"):
        return IPv4Address(text)
    if kind == "MASK":
        mask = IPv4Address(text)
        host_bits = ~int(mask) & 0xFFFFFFFF
        if host_bits & (host_bits + 1):
            raise ValueError("not a netmask")
        return mask
    if kind == "NUMBER":
        if not text.isascii() or not text.isdigit():
            raise ValueError("not a number")
        return int(text)
    if kind == "AREA":
        return IPv4Address(int(text)) if text.isdigit() else IPv4Address(text)
    if kind == "INTERFACE":
        name = interface_name(text)
        if name is None:
            raise ValueError("not an interface")
        return name
    return text


class CommandTable:
    def __init__(self) -> None:
        self._commands: list[Command] = []

    def command(self, *patterns: str, privileged: bool = False) -> Callable[[Handler], Handler]:
        """Decorator: the function is called for lines that fit one of `patterns`, with the arguments in order."""

        def register(handler: Handler) -> Handler:
            self._commands += [Command(tuple(pattern.split()), handler, privileged) for pattern in patterns]
            return handler

        return register

    def find(self, line: str, *, privileged: bool = True) -> Match:
        """The command that `line` is. Raises CommandError."""
        words = [_Word(found.group(), found.start()) for found in re.finditer(r"\S+", line)]
        alive = [command for command in self._commands if privileged or not command.privileged]
        values: list[Any] = []
        positions: list[int] = []
        index = 0
        while index < len(words):
            alive = [command for command in alive if len(command.pattern) > index]
            _join_interface(words, index, alive)
            alive = _fitting(alive, index, words[index], line)
            expected = alive[0].pattern[index]
            word = words[index]
            index += 1
            if _is_keyword(expected):
                continue
            positions.append(word.position)
            if expected == "LINE":
                values.append(line[word.position :].rstrip())
                break
            values.append(convert(expected, word.text))
        complete = [command for command in alive if len(command.pattern) == index]
        if not complete:
            raise IncompleteCommand
        return Match(complete[0].handler, tuple(values), tuple(positions))


def _join_interface(words: list[_Word], index: int, alive: list[Command]) -> None:
    """`Loopback 0` is one argument, as `Loopback0` is."""
    wanted = any(command.pattern[index] == "INTERFACE" for command in alive)
    if wanted and index + 1 < len(words) and words[index].text.isalpha() and words[index + 1].text[0].isdigit():
        joined = words[index].text + words[index + 1].text
        if interface_name(joined):
            words[index] = _Word(joined, words[index].position)
            del words[index + 1]


def _fitting(alive: list[Command], index: int, word: _Word, line: str) -> list[Command]:
    """The commands that go on with `word`: keywords before arguments, whole keywords before short ones."""
    typed = word.text.lower()
    keywords = {command.pattern[index] for command in alive if _is_keyword(command.pattern[index])}
    meant = {keyword for keyword in keywords if keyword.startswith(typed)}
    if typed in meant:
        meant = {typed}
    if len(meant) > 1:
        raise AmbiguousCommand(line.strip())
    if meant:
        return [command for command in alive if command.pattern[index] in meant]
    for command in alive:
        expected = command.pattern[index]
        if not _is_keyword(expected) and _accepts(expected, word.text):
            return [other for other in alive if other.pattern[index] == expected]
    raise InvalidInput(word.position)


def _accepts(kind: str, text: str) -> bool:
    try:
        convert(kind, text)
    except (ValueError, AddressValueError):
        return False
    return True
