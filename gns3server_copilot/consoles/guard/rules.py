"""Many patterns at once, found by the words that a line begins with or has in it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Literal

from gns3server_copilot.knowledge.guard_patterns import Pattern, Step, compile_pattern
from gns3server_copilot.knowledge.schemas.guard import Category, Refusals

#: Words of configurations repeat.
REMEMBERED_WORDS = 4096


def abbreviations_of(words: Iterable[str], own_words: Collection[str], *, abbreviations: bool) -> frozenset[str]:
    """Give everything that a device could take for one of `words`; `own_words` only stand for themselves."""
    full = frozenset(words)
    if not abbreviations:
        return full
    parts = {word[:length] for word in full for length in range(1, len(word))}
    return full | parts.difference(own_words)


#: A step of a pattern, ready for one family: the words that it takes, a regular expression, any word, a gap, the end.
BoundStep = frozenset[str] | re.Pattern[str] | Literal["any", "gap", "end"]


class Beginnings:
    """Patterns of beginnings of lines."""

    def __init__(self, patterns: Iterable[Pattern], own_words: frozenset[str], abbreviations: bool) -> None:
        self._own_words = own_words
        self._abbreviations = abbreviations
        self._patterns = [tuple(self._bound(step) for step in pattern.steps) for pattern in patterns]
        #: by what a line's first word can be
        self._first: dict[str, list[int]] = {}
        #: by what any word of a line can be, for patterns that begin with a gap
        self._anywhere: dict[str, list[int]] = {}
        #: those that have to be tried on every line
        self._always: list[int] = []
        #: a regular expression for a word anywhere
        self._word_patterns: list[tuple[re.Pattern[str], int]] = []
        for index, steps in enumerate(self._patterns):
            self._add(index, steps)
        self._word_pattern = lru_cache(REMEMBERED_WORDS)(self._find_word_pattern)

    def find(self, words: Sequence[str]) -> int | None:
        """Give the place of the first pattern found that the line begins with, or could by abbreviation."""
        if not words:
            return None
        for index in self._first.get(words[0], ()):
            if _fits(self._patterns[index], 1, words, 1):
                return index
        if self._anywhere:
            for position, word in enumerate(words):
                for index in self._anywhere.get(word, ()):
                    if _fits(self._patterns[index], 2, words, position + 1):
                        return index
        for index in self._always:
            if _fits(self._patterns[index], 0, words, 0):
                return index
        if self._word_patterns:
            for word in words:
                found = self._word_pattern(word)
                if found is not None:
                    return found
        return None

    def _find_word_pattern(self, word: str) -> int | None:
        return next((index for regex, index in self._word_patterns if regex.fullmatch(word)), None)

    def _bound(self, step: Step | None) -> BoundStep:
        if step is None:
            return "gap"
        if step.end:
            return "end"
        if step.regex is not None:
            return step.regex
        if not step.literals:
            return "any"
        abbreviations = self._abbreviations and not step.exact
        return abbreviations_of(step.literals, self._own_words, abbreviations=abbreviations)

    def _add(self, index: int, steps: tuple[BoundStep, ...]) -> None:
        match steps:
            case (frozenset() as words, *_):
                self._index(self._first, words, index)
            case ("gap", frozenset() as words, *_):
                self._index(self._anywhere, words, index)
            case ("gap", re.Pattern() as regex):
                self._word_patterns.append((regex, index))
            case _:
                self._always.append(index)

    def _index(self, by_word: dict[str, list[int]], words: frozenset[str], index: int) -> None:
        for word in words:
            by_word.setdefault(word, []).append(index)


def _fits(steps: tuple[BoundStep, ...], step: int, words: Sequence[str], word: int) -> bool:
    """Tell whether the words from `word` on begin like the steps from `step` on."""
    while step < len(steps):
        here = steps[step]
        if here == "gap":
            return any(_fits(steps, step + 1, words, later) for later in range(word, len(words) + 1))
        if here == "end":
            return word == len(words)
        if word == len(words):
            return False
        if isinstance(here, frozenset):
            if words[word] not in here:
                return False
        elif here != "any" and not here.fullmatch(words[word]):
            return False
        step, word = step + 1, word + 1
    return True


class Refused:
    """Beginnings of lines that are refused, each for the reason of its category."""

    def __init__(self, refusals: Refusals, own_words: frozenset[str], abbreviations: bool) -> None:
        rules = [(category, compile_pattern(text)) for category, texts in refusals.items() for text in texts]
        leading = [(category, part) for category, pattern in rules for part in _leading_into(pattern)]
        self._rules = [(category, pattern.text) for category, pattern in rules]
        self._leading = [(category, part.text) for category, part in leading]
        self._beginnings = Beginnings((pattern for _, pattern in rules), own_words, abbreviations)
        self._leads = Beginnings((part for _, part in leading), own_words, abbreviations)

    def find(self, words: Sequence[str]) -> tuple[Category, str] | None:
        """Give the category and the text of a rule that the line falls under, or could."""
        found = self._beginnings.find(words)
        return None if found is None else self._rules[found]

    def could_lead_into(self, words: Sequence[str]) -> tuple[Category, str] | None:
        """Give a rule of which `words` could be the beginning, so that a next line could complete it."""
        found = self._leads.find(words)
        return None if found is None else self._leading[found]


def _leading_into(pattern: Pattern) -> Iterator[Pattern]:
    """Give the pattern's own beginnings, as whole lines."""
    for length in range(1, len(pattern.steps)):
        if pattern.steps[length - 1] is not None and pattern.steps[length:] != (Step(end=True),):
            yield Pattern(pattern.text, (*pattern.steps[:length], Step(end=True)))
