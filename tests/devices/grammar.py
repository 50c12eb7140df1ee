"""Finding the command that a line means, shortened words included."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.devices.personality import Command


@dataclass(frozen=True)
class Match:
    """The outcome: a command with the words that its placeholders stand for, or why there is none."""

    command: Command | None = None
    words: dict[str, str] = field(default_factory=dict)
    problem: str = "unknown"


def find_command(line: str, commands: Sequence[tuple[str, Command]], abbreviations: bool) -> Match:
    """Find the one command whose words fit the line; an exact one wins over shortened ones.

    `commands` are pairs of the words, variables filled in, and the command.
    """
    fits = [(command, fit) for words, command in commands if (fit := _fit(line, words, abbreviations)) is not None]
    if not fits:
        longer = any(_fit(line, _beginning(words, line), abbreviations) is not None for words, _ in commands)
        return Match(problem="incomplete" if longer else "unknown")
    best = max(exactness for _, (exactness, _) in fits)
    chosen = [(command, words) for command, (exactness, words) in fits if exactness == best]
    if len({command.command for command, _ in chosen}) > 1:
        return Match(problem="ambiguous")
    command, words = chosen[0]
    return Match(command, words, "")


def _beginning(pattern: str, line: str) -> str:
    """Give as many words of the pattern as the line has, none when that is all of it."""
    words = pattern.split()
    count = len(line.split())
    return " ".join(words[:count]) if 0 < count < len(words) else "\0"


def _fit(line: str, pattern: str, abbreviations: bool) -> tuple[int, dict[str, str]] | None:
    """Give how many words fit exactly and what the placeholders stand for; None when the line does not fit."""
    typed, wanted = line.split(), pattern.split()
    words: dict[str, str] = {}
    exact = 0
    for position, want in enumerate(wanted):
        if want.endswith("...>"):
            words[want[1:-4]] = " ".join(typed[position:])
            return (exact, words) if len(typed) > position else None
        if position >= len(typed):
            return None
        word = typed[position]
        if want.startswith("<"):
            words[want[1:-1]] = word
        elif word == want:
            exact += 1
        elif not (abbreviations and want.lower().startswith(word.lower())):
            return None
    return (exact, words) if len(typed) == len(wanted) else None
