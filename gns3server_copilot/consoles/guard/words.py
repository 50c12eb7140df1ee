"""Reading commands of the many command lines whose words may be abbreviated: IOS and its likes, VRP, Junos, FRR."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gns3server_copilot.consoles.guard import programs, reasons
from gns3server_copilot.consoles.guard.family import FamilyGuard, KnownProgram
from gns3server_copilot.consoles.guard.filters import QUOTES, checked_filters
from gns3server_copilot.consoles.guard.lines import has_open_quote
from gns3server_copilot.consoles.guard.verdict import Verdict, allowed, refused

#: More words such as do and no before a command than anybody types.
MAX_PEELED = 4
#: A command is made of these; a filter's pattern has characters of its own (`filters`).
BAD_CHARACTER = re.compile(r"[^A-Za-z0-9 _.:/,@*+%^()\[\]#=\"'-]")
#: Heads that are named as examples of what is allowed.
EXAMPLES = 5


def judge_read_words(guard: FamilyGuard, line: str) -> Verdict:
    """Judge a normalised line for the read tool."""
    rest = line
    for _ in range(MAX_PEELED):
        first, _, after = rest.partition(" ")
        word = first.lower()
        if not after or not (word in guard.rules.runs or (word in guard.run_words and not guard.meanings(word))):
            return _judge(guard, line, rest)
        rest = after
    return refused(line, reasons.TOO_DEEP)


def _judge(guard: FamilyGuard, line: str, text: str) -> Verdict:
    command, pipe, filters = text.partition("|")
    words = command.split()
    if not words:
        return refused(line, reasons.EMPTY)
    candidates = guard.meanings(words[0].lower())
    if not any(one in guard.heads for one in candidates):
        return refused(line, _why_not(guard, line, words))
    if len(candidates) > 1:
        return refused(line, reasons.ambiguous(words[0], candidates))
    words[0] = candidates[0]
    bad = BAD_CHARACTER.search(command)
    if bad or any(one in line for one in guard.rules.read.characters):
        return refused(line, reasons.character(bad[0] if bad else _first_of(guard.rules.read.characters, line)))
    if has_open_quote(command, QUOTES):
        return refused(line, reasons.OPEN_QUOTE)
    lower = [word.lower() for word in words]
    if rule := guard.read_refused.find(lower):
        return refused(line, reasons.because(rule[1], line, rule[0]))
    if program := guard.read_programs.get(words[0]):
        return _judge_program(guard, line, words, program, piped=bool(pipe))
    if " -" in command:
        # no word of theirs, but it could be an option of what stands behind the command line
        return refused(line, reasons.character("-"))
    sent = _allowed_words(guard, words, lower)
    if not sent:
        return refused(line, _why_not(guard, line, words))
    if not pipe:
        return allowed(" ".join(sent))
    try:
        return allowed(" | ".join([" ".join(sent), *checked_filters(guard, filters)]))
    except programs.NotAllowedError as error:
        return refused(line, str(error))


def _judge_program(
    guard: FamilyGuard, line: str, words: Sequence[str], program: KnownProgram, *, piped: bool
) -> Verdict:
    if piped:
        return refused(line, f"`{words[0]}` is not allowed with a pipe. Leave the pipe out.")
    try:
        rest = programs.checked(words[0], program, words[1:], abbreviations=guard.rules.abbreviations)
    except programs.NotAllowedError as error:
        return refused(line, str(error))
    return allowed(" ".join([words[0], *rest]), program.rules.stop_after)


def _allowed_words(guard: FamilyGuard, words: Sequence[str], lower: Sequence[str]) -> list[str]:
    """Give the words with those written out that the rule names, or nothing if no rule allows them."""
    for pattern in guard.allow:
        if pattern.matches(lower, abbreviations=guard.rules.abbreviations):
            named: list[str] = []
            for word, short, step in zip(words, lower, pattern.steps, strict=False):
                if step is None:
                    break
                full = [one for one in step.literals if one.startswith(short)]
                named.append(word if short in full or not full else full[0])
            return [*named, *words[len(named) :]]
    return []


def _why_not(guard: FamilyGuard, line: str, words: Sequence[str]) -> str:
    lower = [word.lower() for word in words]
    for refusals in (guard.read_refused, guard.config_refused):
        if rule := refusals.find(lower):
            return reasons.because(rule[1], line, rule[0])
    if not guard.heads:
        return reasons.NO_RULES
    return reasons.not_read(words[0], guard.heads[:EXAMPLES])


def _first_of(characters: str, line: str) -> str:
    return next(one for one in characters if one in line)
