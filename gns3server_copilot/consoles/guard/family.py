"""A family's rules, compiled for judging many lines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from gns3server_copilot.knowledge.guard_patterns import Pattern, compile_pattern, compile_value
from gns3server_copilot.knowledge.schemas.guard import Category, GuardRules, Program, Refusals

Tests = tuple[Callable[[str], bool], ...]


class Refused:
    """Beginnings of lines that are refused, found by the first word that a line may abbreviate."""

    def __init__(self, refusals: Refusals, own_words: frozenset[str], abbreviations: bool) -> None:
        self._own_words = own_words
        self._abbreviations = abbreviations
        self._by_word: dict[str, list[tuple[Category, Pattern]]] = {}
        self._always: list[tuple[Category, Pattern]] = []
        for category, texts in refusals.items():
            for text in texts:
                self._add(category, compile_pattern(text))

    def find(self, words: Sequence[str]) -> tuple[Category, Pattern] | None:
        """Give the first rule that the line could fall under."""
        seen: set[int] = set()
        for word in words:
            for found in self._by_word.get(word, ()):
                if id(found) not in seen and self._fits(found[1], words):
                    return found
                seen.add(id(found))
        return next((found for found in self._always if self._fits(found[1], words)), None)

    def could_lead_into(self, words: Sequence[str]) -> tuple[Category, Pattern] | None:
        """Give a rule of which `words` could be the beginning, so that a next line could complete it."""
        for found in {id(rule): rule for rules in self._by_word.values() for rule in rules}.values():
            steps = found[1].steps
            for length in range(1, len(steps)):
                part = Pattern(found[1].text, steps[:length])
                if steps[length - 1] is not None and self._fits(part, words, beginning=False):
                    return found
        return None

    def _fits(self, pattern: Pattern, words: Sequence[str], beginning: bool = True) -> bool:
        return pattern.matches(words, own_words=self._own_words, abbreviations=self._abbreviations, beginning=beginning)

    def _add(self, category: Category, pattern: Pattern) -> None:
        rule = (category, pattern)
        first = next((step for step in pattern.steps if step is not None and step.literals), None)
        if first is None:
            self._always.append(rule)
            return
        keys: set[str] = set(first.literals)
        if self._abbreviations and not first.exact:
            keys |= {literal[:length] for literal in first.literals for length in range(1, len(literal))}
        for key in keys:
            self._by_word.setdefault(key, []).append(rule)


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a program; `values` tests each word of its value."""

    name: str
    values: Tests


class KnownProgram:
    """A program's rules, compiled."""

    def __init__(self, rules: Program) -> None:
        self.rules = rules
        self.options = {name: Option(name, compile_value(value)) for name, value in rules.options.items()}
        self.words = tuple(compile_pattern(text) for text in rules.words)


class Filter:
    """What may follow a filter's name."""

    def __init__(self, value: str) -> None:
        self.pattern = value in ("pattern", "optional")
        self.optional = value == "optional"
        self._values = () if self.pattern else compile_value(value)

    def takes(self, words: Sequence[str]) -> bool:
        """Tell whether the words are the value of a filter without a pattern."""
        return len(words) == len(self._values) and all(
            test(word) for test, word in zip(self._values, words, strict=True)
        )


class FamilyGuard:
    """What may be typed on the devices of one family. Build it once for each loaded file: it never changes."""

    def __init__(self, rules: GuardRules) -> None:
        read, config = rules.read, rules.config
        self.rules = rules
        self.own_words = frozenset(config.keywords)
        self.allow = tuple(compile_pattern(text) for text in read.allow)
        self.read_programs = _programs(read.programs)
        self.config_programs = _programs(config.programs)
        self.heads = tuple(dict.fromkeys([*_first_words(self.allow), *self.read_programs]))
        self.commands = frozenset((*self.heads, *read.commands))
        beside = {*config.negations, *rules.runs, *config.exit, *config.leave}
        self.upper_heads = tuple(head for head in self.heads if head not in beside)
        self.read_refused = Refused(read.refuse, frozenset(), rules.abbreviations)
        self.config_refused = Refused(config.refuse, self.own_words, rules.abbreviations)
        self.filters = {name: Filter(value) for name, value in read.filters.items()}
        self.modes = tuple(compile_pattern(text) for text in config.modes)
        self.inner_modes = tuple(compile_pattern(text) for text in config.inner_modes)

    def enters(self, words: Sequence[str], modes: Sequence[Pattern]) -> bool:
        """Tell whether a configuration line begins like one of `modes`."""
        abbreviations = self.rules.abbreviations
        return any(
            mode.matches(words, own_words=self.own_words, abbreviations=abbreviations, beginning=True) for mode in modes
        )


def _programs(programs: dict[str, Program]) -> dict[str, KnownProgram]:
    return {name: KnownProgram(rules) for name, rules in programs.items()}


def _first_words(patterns: Iterable[Pattern]) -> list[str]:
    return [word for pattern in patterns if pattern.steps and pattern.steps[0] for word in pattern.steps[0].literals]
