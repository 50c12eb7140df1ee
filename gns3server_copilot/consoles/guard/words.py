"""Reading commands of the many command lines whose words may be abbreviated: IOS and its likes, VRP, Junos, FRR."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gns3server_copilot.consoles.guard import programs, reasons
from gns3server_copilot.consoles.guard.family import FamilyGuard, KnownProgram
from gns3server_copilot.consoles.guard.filters import checked_filters
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
        if not _is_run(guard, first, after):
            return _judge(guard, line, rest)
        rest = after
    return refused(line, reasons.TOO_DEEP)


def could_be(guard: FamilyGuard, word: str, full: str) -> bool:
    """Tell whether a device could take `word` for `full`."""
    return word == full or (guard.rules.abbreviations and word != "" and full.startswith(word))


def _is_run(guard: FamilyGuard, first: str, after: str) -> bool:
    if not after:
        return False
    if first.lower() in guard.rules.runs:
        return True
    return any(could_be(guard, first.lower(), run) for run in guard.rules.runs) and not _heads(guard, first.lower())


def _heads(guard: FamilyGuard, word: str) -> list[str]:
    if word in guard.commands:
        return [word]
    return sorted(one for one in guard.commands if could_be(guard, word, one))


def _judge(guard: FamilyGuard, line: str, text: str) -> Verdict:
    command, pipe, filters = text.partition("|")
    words = command.split()
    if not words:
        return refused(line, reasons.EMPTY)
    candidates = _heads(guard, words[0].lower())
    allowed_heads = [one for one in candidates if one in guard.heads]
    if not allowed_heads:
        return refused(line, _why_not(guard, line, words))
    if len(candidates) > 1:
        return refused(line, reasons.ambiguous(words[0], candidates))
    words[0] = candidates[0]
    if bad := BAD_CHARACTER.search(command):
        return refused(line, reasons.character(bad[0]))
    lower = [word.lower() for word in words]
    if rule := guard.read_refused.find(lower):
        return refused(line, reasons.because(rule[1].text, line, rule[0]))
    if program := guard.read_programs.get(words[0]):
        return _judge_program(guard, line, words, program, piped=bool(pipe))
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
            for word, step in zip(words, pattern.steps, strict=False):
                if step is None:
                    break
                full = [one for one in step.literals if could_be(guard, word.lower(), one)]
                named.append(word if word.lower() in full or not full else full[0])
            return [*named, *words[len(named) :]]
    return []


def _why_not(guard: FamilyGuard, line: str, words: Sequence[str]) -> str:
    lower = [word.lower() for word in words]
    for refusals in (guard.read_refused, guard.config_refused):
        if rule := refusals.find(lower):
            return reasons.because(rule[1].text, line, rule[0])
    if not guard.heads:
        return reasons.NO_RULES
    return reasons.not_read(words[0], guard.heads[:EXAMPLES])
