"""Many patterns at once, found by the words that a line begins with or has in it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache

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


class Beginnings:
    """Patterns of beginnings of lines."""

    def __init__(self, patterns: Iterable[Pattern], own_words: frozenset[str], abbreviations: bool) -> None:
        self.patterns = tuple(patterns)
        self._own_words = own_words
        self._abbreviations = abbreviations
        #: by what a line's first word can be
        self._first: dict[str, list[int]] = {}
        #: by what any word of a line can be
        self._anywhere: dict[str, list[int]] = {}
        #: those that have to be tried on every line
        self._always: list[int] = []
        #: a regular expression for a word anywhere
        self._word_patterns: list[tuple[re.Pattern[str], int]] = []
        for index, pattern in enumerate(self.patterns):
            self._add(index, pattern)
        self._word_pattern = lru_cache(REMEMBERED_WORDS)(self._find_word_pattern)

    def find(self, words: Sequence[str]) -> int | None:
        """Give the place of the first pattern found that the line begins with, or could by abbreviation."""
        if not words:
            return None
        for index in self._first.get(words[0], ()):
            if self._fits(self.patterns[index], words):
                return index
        if self._anywhere:
            for word in words:
                for index in self._anywhere.get(word, ()):
                    if self._fits(self.patterns[index], words):
                        return index
        for index in self._always:
            if self._fits(self.patterns[index], words):
                return index
        if self._word_patterns:
            for word in words:
                found = self._word_pattern(word)
                if found is not None:
                    return found
        return None

    def _fits(self, pattern: Pattern, words: Sequence[str]) -> bool:
        return pattern.matches(words, own_words=self._own_words, abbreviations=self._abbreviations, beginning=True)

    def _find_word_pattern(self, word: str) -> int | None:
        return next((index for regex, index in self._word_patterns if regex.fullmatch(word)), None)

    def _add(self, index: int, pattern: Pattern) -> None:
        first = pattern.steps[0] if pattern.steps else None
        if first is not None and first.literals:
            self._index(self._first, first, index)
            return
        second = pattern.steps[1] if first is None and len(pattern.steps) > 1 else None
        if second is not None and second.literals:
            self._index(self._anywhere, second, index)
        elif second is not None and second.regex is not None and len(pattern.steps) == 2:
            self._word_patterns.append((second.regex, index))
        else:
            self._always.append(index)

    def _index(self, by_word: dict[str, list[int]], step: Step, index: int) -> None:
        abbreviations = self._abbreviations and not step.exact
        for word in abbreviations_of(step.literals, self._own_words, abbreviations=abbreviations):
            by_word.setdefault(word, []).append(index)


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
