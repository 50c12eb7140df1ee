"""Configuration lines of the command lines whose words may be abbreviated."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from gns3server_copilot.consoles.guard import reasons
from gns3server_copilot.consoles.guard.family import FamilyGuard
from gns3server_copilot.consoles.guard.verdict import Verdict, allowed, refused
from gns3server_copilot.consoles.guard.words import MAX_PEELED, could_be, judge_read_words


class ConfigJudge:
    """Judges the lines of one configuration in their order: what `exit` leaves depends on those before."""

    def __init__(self, guard: FamilyGuard) -> None:
        self._guard = guard
        self._depth = 0
        characters = guard.rules.config.characters
        self._bad = re.compile(f"[{re.escape(characters)}]") if characters else None

    def judge(self, line: str, *, last: bool) -> Verdict:
        """Judge a normalised line; `last` says that only comments follow."""
        guard = self._guard
        for mark in guard.rules.comments:
            if line.startswith(mark):
                return allowed(mark)
        if self._bad and (bad := self._bad.search(line)):
            return refused(line, reasons.character(bad[0]))
        words = line.split()
        if verdict := self._leaving(line, words, last):
            return verdict
        sent = line
        stop_after = None
        for depth, reading in enumerate(self._readings(words)):
            if depth > MAX_PEELED:
                return refused(line, reasons.TOO_DEEP)
            verdict = self._as_upper_command(line, reading)
            if verdict and verdict.allowed and depth == 0:
                sent, stop_after = verdict.line, verdict.stop_after
            elif verdict and not verdict.allowed:
                return verdict
            if rule := guard.config_refused.find([word.lower() for word in reading]):
                return refused(line, reasons.because(rule[1].text, line, rule[0]))
            if depth and self._leaves([*reading]):
                return refused(line, reasons.because(reading[0], line, "modes"))
        return self._entered(line, words) or allowed(sent, stop_after)

    def _readings(self, words: Sequence[str]) -> Iterator[Sequence[str]]:
        """Give the line, then what is left after each word such as no."""
        yield words
        while len(words) > 1 and any(self._may_be(words[0], one) for one in self._guard.rules.config.negations):
            words = words[1:]
            yield words

    def _may_be(self, word: str, full: str) -> bool:
        word = word.lower()
        return word == full or (word not in self._guard.own_words and could_be(self._guard, word, full))

    def _as_upper_command(self, line: str, words: Sequence[str]) -> Verdict | None:
        """Judge a line that could be a command of the upper mode: `do reload`, `show running-config`."""
        guard = self._guard
        rest = words[1:]
        if rest and any(self._may_be(words[0], run) for run in guard.rules.runs):
            verdict = judge_read_words(guard, " ".join(rest))
            sent = f"{words[0]} {verdict.line}"
        elif any(self._may_be(words[0], head) for head in guard.upper_heads):
            verdict = judge_read_words(guard, " ".join(words))
            # sh is short for shutdown too
            sent = verdict.line if words[0].lower() in guard.upper_heads else line
        else:
            return None
        return allowed(sent, verdict.stop_after) if verdict.allowed else refused(line, verdict.reason)

    def _leaving(self, line: str, words: Sequence[str], last: bool) -> Verdict | None:
        config = self._guard.rules.config
        if any(self._may_be(words[0], one) for one in config.leave):
            return (
                allowed(line) if last and len(words) == 1 else refused(line, reasons.because(words[0], line, "modes"))
            )
        if not any(self._may_be(words[0], one) for one in config.exit):
            return None
        if len(words) > 1 or not self._depth:
            return refused(line, reasons.because(words[0], line, "modes"))
        self._depth -= 1
        return allowed(line)

    def _leaves(self, words: Sequence[str]) -> bool:
        config = self._guard.rules.config
        return any(self._may_be(words[0], one) for one in (*config.leave, *config.exit))

    def _entered(self, line: str, words: Sequence[str]) -> Verdict | None:
        """Keep count of the modes, and refuse to enter one whose own lines are refused when written from above."""
        guard = self._guard
        lower = [word.lower() for word in words]
        inner = guard.enters(lower, guard.inner_modes)
        if not inner and not guard.enters(lower, guard.modes):
            return None
        for reading in self._readings(words):
            if rule := guard.config_refused.could_lead_into([word.lower() for word in reading]):
                return refused(line, reasons.because(rule[1].text, line, rule[0]))
        self._depth = self._depth + 1 if inner else 1
        return None
