"""A family's rules, compiled for judging many lines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from gns3server_copilot.consoles.guard.rules import Beginnings, Refused, abbreviations_of
from gns3server_copilot.knowledge.guard_patterns import Pattern, compile_pattern, compile_value, fits_values
from gns3server_copilot.knowledge.schemas.guard import GuardRules, Program, Refusals

#: Characters for what may stand on a line, in a reason.
MAX_SHAPES = 300
#: Words before a command that are looked behind on every device, whether it knows them or not.
PREFIXES = frozenset(("do", "run", "no", "undo", "default"))
#: Refused in every configuration, in case a device is of another family than it is taken for.
EVERYWHERE: Refusals = {
    "restarts": ("=reload|reboot|halt|poweroff",),
    "erases": ("=erase|format",),
    "saves": ("=write",),
    "modes": ("=configure terminal|private|exclusive", "=system-view"),
    "users": ("=username|aaa",),
    "shells": ("=bash|python|python3|tclsh|guestshell|sudo|su|request", "=start shell"),
    "sessions": ("=telnet|ssh",),
    "later": ("=alias",),
}


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a program; `values` tests each word of its value."""

    name: str
    values: tuple[Callable[[str], bool], ...]


class KnownProgram:
    """A program's rules, compiled."""

    def __init__(self, name: str, rules: Program) -> None:
        self.name = name
        self.rules = rules
        self.options = {name: Option(name, compile_value(value)) for name, value in rules.options.items()}
        #: patterns of what else may stand on the line, by their first word; under None those with any or none
        self._words: dict[str | None, list[Pattern]] = {None: []}
        for pattern in map(compile_pattern, rules.words):
            first = pattern.steps[0] if pattern.steps else None
            for key in first.literals if first and first.literals else (None,):
                self._words.setdefault(key, []).append(pattern)

    def takes(self, words: Sequence[str]) -> bool:
        """Tell whether these words, which are no options, may stand on the line."""
        near = self._words.get(words[0], []) if words else []
        return any(pattern.matches(words, abbreviations=False) for pattern in (*near, *self._words[None]))

    @cached_property
    def usage(self) -> str:
        """What is allowed, in words."""
        known = ", ".join([*(f"-{letter}" for letter in self.rules.flags), *self.options]) or "none"
        shapes: list[str] = []
        for words in self.rules.words:
            shape = f"`{f'{self.name} {words}'.replace('~', '').strip()}`"
            if sum(map(len, shapes)) + len(shape) < MAX_SHAPES or not shapes:
                shapes.append(shape[:MAX_SHAPES])
        return f"Allowed is {' or '.join(shapes)}, with the options {known}."


class Filter:
    """What may follow a filter's name."""

    def __init__(self, value: str) -> None:
        self.pattern = value in ("pattern", "optional")
        self.optional = value == "optional"
        self._values = () if self.pattern else compile_value(value)

    def takes(self, words: Sequence[str]) -> bool:
        """Tell whether the words are the value of a filter without a pattern."""
        return fits_values(self._values, words)


class FamilyGuard:
    """What may be typed on the devices of one family. Build it once for each loaded file: it never changes."""

    def __init__(self, rules: GuardRules) -> None:
        read, config = rules.read, rules.config
        self.rules = rules
        self.own_words = frozenset(config.keywords)
        self.allow = tuple(compile_pattern(text) for text in read.allow)
        #: the rules of `allow` by what a line's first word can be
        self.allow_by_word: dict[str, list[Pattern]] = {}
        for pattern in self.allow:
            for word in abbreviations_of(_first_words([pattern]), (), abbreviations=rules.abbreviations):
                self.allow_by_word.setdefault(word, []).append(pattern)
        self.read_programs = {name: KnownProgram(name, program) for name, program in read.programs.items()}
        self.config_programs = {name: KnownProgram(name, program) for name, program in config.programs.items()}
        self.read_program_names = ", ".join(sorted(read.programs))
        self.program_names = ", ".join(sorted({*read.programs, *config.programs}))
        self.filters = {name: Filter(value) for name, value in read.filters.items()}
        self.read_refused = Refused(read.refuse, frozenset(), rules.abbreviations)
        refuse: Refusals = dict(config.refuse)
        if rules.language == "words":
            refuse |= {category: (*refuse.get(category, ()), *texts) for category, texts in EVERYWHERE.items()}
        self.config_refused = Refused(refuse, self.own_words, rules.abbreviations)
        self.config_allow = self._beginnings(config.allow)
        self.modes = self._beginnings(config.modes)
        self.inside = self._beginnings(config.inside)
        self.inner_modes = self._beginnings(config.inner_modes)

        self.heads = tuple(dict.fromkeys([*_first_words(self.allow), *self.read_programs]))
        self._commands = frozenset((*self.heads, *read.commands))
        self._meanings: dict[str, list[str]] = {}
        for command in sorted(self._commands):
            for word in abbreviations_of([command], (), abbreviations=rules.abbreviations):
                self._meanings.setdefault(word, []).append(command)
        beside = {*config.negations, *rules.runs, *config.exit, *config.leave}
        self.upper_heads = frozenset(self.heads) - beside
        #: what the device could take for one of them
        self.run_words = self._abbreviations(rules.runs)
        self.upper_words = self._abbreviations(self.upper_heads)
        self.negation_words = self._abbreviations(config.negations) | PREFIXES
        self.exit_words = self._abbreviations(config.exit)
        self.command_words = self._abbreviations(read.commands)
        self.read_program_words = self._abbreviations(self.read_programs)
        self.leave_words = self._abbreviations(config.leave)

    def meanings(self, word: str) -> Sequence[str]:
        """Give the commands for which a first word, in lower case, could stand."""
        return [word] if word in self._commands else self._meanings.get(word, [])

    def _abbreviations(self, words: Iterable[str]) -> frozenset[str]:
        return abbreviations_of(words, self.own_words, abbreviations=self.rules.abbreviations)

    def _beginnings(self, texts: Iterable[str]) -> Beginnings:
        return Beginnings(map(compile_pattern, texts), self.own_words, self.rules.abbreviations)


def _first_words(patterns: Iterable[Pattern]) -> list[str]:
    return [word for pattern in patterns if pattern.steps and pattern.steps[0] for word in pattern.steps[0].literals]
