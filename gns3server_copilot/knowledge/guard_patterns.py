"""The notation of the guard's patterns (`schemas/guard.py`), checked and compiled."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

GAP = "..."
END = "$"
NAMED = {
    "host": re.compile(r"[A-Za-z0-9:](?:[A-Za-z0-9._:%-]{0,100})"),
    "number": re.compile(r"\d{1,10}"),
    "word": re.compile(r"[A-Za-z0-9_.:/@%+,=][A-Za-z0-9_.:/@%+,=-]*"),
}
RANGE = re.compile(r"(\d{1,6})-(\d{1,6})")
#: Values that say something of the whole option rather than of one word.
SHAPES = frozenset({"flag", "pattern", "optional"})


@dataclass(frozen=True, slots=True)
class Step:
    """One word of a pattern."""

    literals: tuple[str, ...] = ()
    exact: bool = False
    regex: re.Pattern[str] | None = None
    end: bool = False

    def takes(self, word: str, own_words: frozenset[str], abbreviations: bool) -> bool:
        """Tell whether a device could take `word` (in lower case where case means nothing) for this step.

        `own_words` are words that stand for nothing but themselves.
        """
        if self.regex is not None:
            return self.regex.fullmatch(word) is not None
        if not self.literals or word in self.literals:
            return True
        if self.exact or not abbreviations or word in own_words:
            return False
        return any(literal.startswith(word) for literal in self.literals)


@dataclass(frozen=True, slots=True)
class Pattern:
    """A compiled pattern; a step is None for `...`."""

    text: str
    steps: tuple[Step | None, ...]

    def matches(
        self,
        words: Sequence[str],
        *,
        own_words: frozenset[str] = frozenset(),
        abbreviations: bool = True,
        beginning: bool = False,
    ) -> bool:
        """Tell whether the pattern fits all words, or with `beginning` the first ones."""
        return self._fits(0, words, 0, own_words, abbreviations, beginning)

    def _fits(
        self,
        step: int,
        words: Sequence[str],
        word: int,
        own_words: frozenset[str],
        abbreviations: bool,
        beginning: bool,
    ) -> bool:
        while step < len(self.steps):
            here = self.steps[step]
            if here is None:
                starts = range(word, len(words) + 1)
                return any(self._fits(step + 1, words, at, own_words, abbreviations, beginning) for at in starts)
            if here.end:
                return word == len(words)
            if word == len(words) or not here.takes(words[word], own_words, abbreviations):
                return False
            step, word = step + 1, word + 1
        return beginning or word == len(words)


def compile_pattern(text: str) -> Pattern:
    """Give the pattern. Raises ValueError for a broken one."""
    return Pattern(text, tuple(_step(word) for word in text.split()))


def check_pattern(text: str) -> str:
    """Give `text` in its usual spacing. Raises ValueError for a broken pattern."""
    compile_pattern(text)
    return " ".join(text.split())


def compile_value(text: str) -> tuple[Callable[[str], bool], ...]:
    """Give a test for each word that the value has: `1-15 1-15` is two numbers in a range, `flag` no word."""
    return () if text == "flag" else tuple(_test(word) for word in text.split())


def fits_values(tests: Sequence[Callable[[str], bool]], words: Sequence[str]) -> bool:
    """Tell whether `words` are a value for which `compile_value` gave `tests`."""
    return len(tests) == len(words) and all(test(word) for test, word in zip(tests, words, strict=True))


def check_value(text: str) -> str:
    """Give `text` in its usual spacing. Raises ValueError for a broken value."""
    words = text.split()
    if not words:
        raise ValueError("a value is `flag`, host, word, number, a range such as 1-20, or ~regex")
    if words[0] not in SHAPES:
        compile_value(text)
    elif len(words) > 1:
        raise ValueError(f"`{words[0]}` stands alone")
    return " ".join(words)


def _step(word: str) -> Step | None:
    if word == GAP:
        return None
    if word == "*":
        return Step()
    if word == END:
        return Step(end=True)
    if word.startswith("~"):
        return Step(regex=_regex(word[1:]))
    if word.startswith("<") and word.endswith(">"):
        if word[1:-1] not in NAMED:
            raise ValueError(f"`{word}` is none of {', '.join(f'<{name}>' for name in NAMED)}")
        return Step(regex=NAMED[word[1:-1]])
    exact = word.startswith("=")
    literals = tuple(word.removeprefix("=").split("|"))
    if not all(literals):
        raise ValueError(f"`{word}` has an empty alternative")
    return Step(literals, exact)


def _test(word: str) -> Callable[[str], bool]:
    if between := RANGE.fullmatch(word):
        low, high = int(between[1]), int(between[2])
        return lambda given: given.isdecimal() and len(given) <= 6 and low <= int(given) <= high
    if word.startswith("~"):
        regex = _regex(word[1:])
    elif word in NAMED:
        regex = NAMED[word]
    else:
        raise ValueError(f"`{word}` is no value: host, word, number, a range such as 1-20, or ~regex")
    return lambda given: regex.fullmatch(given) is not None


def _regex(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        raise ValueError(f"`~{text}` is no regular expression: {error}") from None
