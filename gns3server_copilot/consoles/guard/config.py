"""Configuration lines of the command lines whose words may be abbreviated."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile

from gns3server_copilot.consoles.guard import reasons
from gns3server_copilot.consoles.guard.family import FamilyGuard
from gns3server_copilot.consoles.guard.lines import has_open_quote
from gns3server_copilot.consoles.guard.rules import abbreviations_of
from gns3server_copilot.consoles.guard.verdict import Verdict, allowed, refused
from gns3server_copilot.consoles.guard.words import MAX_PEELED, judge_read_words

#: Words after which another place stands: rename x to y.
PLACES = abbreviations_of(("to", "before", "after"), ("a", "b", "t"), abbreviations=True)
#: The root of a tree, with what stands below it in the same word: /system for / system.
GLUED_ROOT = re.compile(r"(?<!\S)/+(?=\S)")


class ConfigJudge:
    """Judges the lines of one configuration in their order: what `exit` leaves depends on those before."""

    def __init__(self, guard: FamilyGuard) -> None:
        self._guard = guard
        self._depth = 0
        characters = "".join(map(re.escape, "`" + guard.rules.config.characters))
        self._bad = re.compile(rf"[{characters}]|\$\(")

    def judge(self, line: str, *, last: bool) -> Verdict:
        """Judge a normalised line; `last` says that only comments follow."""
        guard = self._guard
        for mark in guard.rules.comments:
            if line.startswith(mark):
                return allowed(mark)
        if bad := self._bad.search(line):
            return refused(line, reasons.character(bad[0]))
        if has_open_quote(line, guard.rules.config.quotes):
            return refused(line, reasons.OPEN_QUOTE)
        if "/" in guard.negation_words:
            line = GLUED_ROOT.sub("/ ", line)
        words = line.split(" ")
        if words[0].lower() in guard.leave_words or words[0].lower() in guard.exit_words:
            return self._left(line, words, last)
        readings = self._readings([word.lower() for word in words])
        if len(readings) > MAX_PEELED:
            return refused(line, reasons.TOO_DEEP)
        verdict = allowed(line)
        for peeled, reading in enumerate(readings):
            upper = self._as_upper_command(line, words[peeled:], reading)
            if upper and (not upper.allowed or not peeled):
                verdict = upper
            if not verdict.allowed:
                return verdict
            if upper and reading[0] in guard.rules.runs:
                # the rest has been judged for what it is
                return verdict
            if rule := guard.config_refused.find(reading):
                return refused(line, reasons.because(rule[1], line, rule[0]))
            if peeled and (reading[0] in guard.exit_words or reading[0] in guard.leave_words):
                return refused(line, reasons.because(words[peeled], line, "modes"))
        if guard.rules.config.allow and not self._is_known(readings):
            return refused(line, reasons.UNKNOWN_CONFIG)
        if not self._depth and guard.inside.find(readings[-1]) is not None:
            return refused(line, reasons.OUTSIDE)
        if guard.rules.config.tree and len(readings) > 1:
            branch = list(takewhile(lambda word: word not in PLACES, readings[-1]))
            if rule := guard.config_refused.could_lead_into(branch):
                return refused(line, reasons.leads_into(rule[1], line))
        return self._entered(line, readings) or verdict

    def _readings(self, words: list[str]) -> list[list[str]]:
        """Give the line, then what is left after each word such as no."""
        readings = [words]
        while len(words) > 1 and words[0] in self._guard.negation_words and len(readings) <= MAX_PEELED:
            words = words[1:]
            readings.append(words)
        return readings

    def _as_upper_command(self, line: str, words: Sequence[str], lower: Sequence[str]) -> Verdict | None:
        """Judge a line that could be a command of the upper mode: `do reload`, `show running-config`."""
        guard = self._guard
        if len(words) > 1 and lower[0] in guard.run_words:
            verdict = judge_read_words(guard, " ".join(words[1:]))
            sent = f"{words[0]} {verdict.line}"
        elif lower[0] in guard.upper_words:
            verdict = judge_read_words(guard, " ".join(words))
            # sh is short for shutdown too
            sent = verdict.line if lower[0] in guard.upper_heads else line
        else:
            return None
        return allowed(sent, verdict.stop_after) if verdict.allowed else refused(line, verdict.reason)

    def _left(self, line: str, words: Sequence[str], last: bool) -> Verdict:
        word = words[0].lower()
        config = self._guard.rules.config
        if word not in config.exit + config.leave and (rule := self._guard.config_refused.find([word, *words[1:]])):
            return refused(line, reasons.because(rule[1], line, rule[0]))
        if len(words) == 1 and word in self._guard.exit_words and self._depth:
            self._depth -= 1
            return allowed(line)
        if len(words) == 1 and word in self._guard.leave_words and last:
            return allowed(line)
        return refused(line, reasons.because(words[0], line, "modes"))

    def _is_known(self, readings: Sequence[Sequence[str]]) -> bool:
        guard = self._guard
        if readings[0][0] in guard.upper_heads:
            return True
        # in a tree a next word can be anything: the line is known by what it does there
        return guard.config_allow.find(readings[0 if guard.rules.config.tree else -1]) is not None

    def _entered(self, line: str, readings: Sequence[Sequence[str]]) -> Verdict | None:
        """Keep count of the modes, and refuse to enter one whose own lines are refused when written from above."""
        guard = self._guard
        inner = any(guard.inner_modes.find(reading) is not None for reading in readings)
        if not inner and all(guard.modes.find(reading) is None for reading in readings):
            return None
        for reading in readings:
            if rule := guard.config_refused.could_lead_into(reading):
                return refused(line, reasons.leads_into(rule[1], line))
        self._depth = self._depth + 1 if inner else 1
        return None
