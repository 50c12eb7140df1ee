"""Lines for RouterOS: a path of menus, a command, parameters; each is sent from the root of all menus."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gns3server_copilot.consoles.guard import programs, reasons
from gns3server_copilot.consoles.guard.family import FamilyGuard
from gns3server_copilot.consoles.guard.verdict import Verdict, allowed, refused
from gns3server_copilot.knowledge.guard_patterns import Pattern

#: No menu lies deeper.
MAX_MENUS = 6
BAD_CHARACTER = re.compile(r"[^A-Za-z0-9 _.:/,@*+%=!<>~\"&|-]")
WORD = re.compile(r'(?:[^ "]|"[^"]*")+')
#: The only command in brackets that is let through: it gives numbers of entries and changes nothing.
FIND = re.compile(r'\[ ?find(?: where)?(?: [a-z0-9.-]+[=~]"?[\w.:/*-]+"?| ![a-z0-9-]+| [a-z0-9-]+)* ?\]')
FOUND = "FOUND"
COMMAND_MARK = re.compile(r":[A-Za-z]")
PATH = re.compile(r"[A-Za-z0-9-]+(?:/[A-Za-z0-9-]+)*")
ADDRESS = re.compile(r"!?[0-9A-Fa-f.:]+(?:%[a-z0-9]+)?(?:/[0-9]{1,3})?")
SEVERAL_PARTS = re.compile(r"[:/]")
#: Parameters that make a print write a file or never end, wherever they stand.
BAD_PARAMETER = re.compile(
    r"(?i)(?:f|fi|fil|file|in|int|inte|inter|interv|interva|interval|append)=.*|ap|app|appe.*|fo|fol.*"
)


class _ShapeError(Exception):
    """The line cannot be read as a path, a command and parameters."""


def judge_read_menus(guard: FamilyGuard, line: str) -> Verdict:
    """Judge a normalised line for the read tool."""
    try:
        words = _words(line)
    except _ShapeError as error:
        return refused(line, str(error))
    return _judge_read(guard, line, words)


class MenuConfigJudge:
    """Judges the lines of one configuration in their order, keeping the menu that they have entered."""

    def __init__(self, guard: FamilyGuard) -> None:
        self._guard = guard
        self._menu: list[str] = []

    def judge(self, line: str) -> Verdict:
        """Judge a normalised line. It is sent with its whole path; one that only enters a menu becomes `/`."""
        guard = self._guard
        if any(line.startswith(mark) for mark in guard.rules.comments):
            return allowed("#")
        finds = FIND.findall(line)
        try:
            words = _words(FIND.sub(FOUND, line))
        except _ShapeError as error:
            return refused(line, str(error))
        if not line.startswith("/"):
            words = [*self._menu, *words]
        lower = [word.lower() for word in words]
        if rule := guard.config_refused.find(lower):
            return refused(line, reasons.because(rule[1], line, rule[0]))
        if not words or not self._has_command(lower):
            self._menu = words
            return allowed("/")
        if not finds and not guard.read_program_words.isdisjoint(lower):
            read = _judge_read(guard, line, words)
            # one letter may well be the beginning of a menu or of a value
            if read.allowed or any(len(word) > 1 for word in guard.read_program_words.intersection(lower)):
                return read
        sent = "/" + " ".join(words)
        for found in finds:
            sent = sent.replace(FOUND, found, 1)
        return allowed(sent)

    def _has_command(self, words: Sequence[str]) -> bool:
        if len(words) > MAX_MENUS or not all(PATH.fullmatch(word) for word in words):
            return True
        return not self._guard.command_words.isdisjoint(words)


def _words(line: str) -> list[str]:
    """Give the words, those of a path `/ip/address` each for itself. Raises _ShapeError."""
    if bad := BAD_CHARACTER.search(line):
        raise _ShapeError(reasons.character(bad[0]))
    if line.count('"') % 2:
        raise _ShapeError(reasons.OPEN_QUOTE)
    words: list[str] = []
    for index, word in enumerate(WORD.findall(line)):
        if COMMAND_MARK.match(word):
            raise _ShapeError(reasons.character(":"))
        text = word.removeprefix("/") if index == 0 else word
        several = "=" not in text and SEVERAL_PARTS.search(text)
        if several and not (PATH.fullmatch(text) or ADDRESS.fullmatch(text)):
            raise _ShapeError(reasons.character(several[0]))
        if index and word.startswith("/"):
            raise _ShapeError(reasons.character("/"))
        if ".." in text.split("/") or text == ".":
            raise _ShapeError(reasons.character(".."))
        words += text.split("/") if PATH.fullmatch(text) else [text]
    return [word for word in words if word]


def _judge_read(guard: FamilyGuard, line: str, words: Sequence[str]) -> Verdict:
    if not words:
        return refused(line, reasons.EMPTY)
    lower = [word.lower() for word in words]
    readings = _best(
        [full for pattern in guard.allow_by_word.get(lower[0], ()) if (full := _written_out(pattern, lower))], lower
    )
    if len(readings) > 1:
        return refused(line, reasons.ambiguous(line, ["/" + " ".join(full) for full in readings]))
    if not readings:
        if rule := guard.config_refused.find(lower):
            return refused(line, reasons.because(rule[1], line, rule[0]))
        return refused(line, reasons.not_read(line[:60], _examples(guard)))
    full = readings[0]
    rest = words[len(full) :]
    program = guard.read_programs.get(full[-1])
    if program is None:
        return refused(line, reasons.not_read(line[:60], _examples(guard))) if rest else allowed("/" + " ".join(full))
    condition = next((index for index, word in enumerate(rest) if word.lower() == "where"), len(rest))
    if bad := next((word for word in rest if BAD_PARAMETER.fullmatch(word)), None):
        return refused(line, f"`{bad}` writes a file or never ends. Leave it out.")
    if command := next((word for word in rest[:condition] if word.lower() in guard.rules.read.commands), None):
        return refused(line, f"`{command}` is a command of its own. Send it on a line of its own.")
    try:
        checked = programs.checked(full[-1], program, rest[:condition], abbreviations=True)
    except programs.NotAllowedError as error:
        return refused(line, str(error))
    return allowed("/" + " ".join([*full, *checked, *rest[condition:]]), program.rules.stop_after)


def _written_out(pattern: Pattern, words: Sequence[str]) -> tuple[str, ...]:
    """Give the menus and the command of the pattern in full, if the words begin with them or with abbreviations."""
    if len(words) < len(pattern.steps):
        return ()
    full: list[str] = []
    for step, word in zip(pattern.steps, words, strict=False):
        if step is None:
            return ()
        near = [word] if word in step.literals else [one for one in step.literals if one.startswith(word)]
        if len(near) != 1:
            return ()
        full.append(near[0])
    return tuple(full)


def _best(readings: Sequence[tuple[str, ...]], words: Sequence[str]) -> list[tuple[str, ...]]:
    """Give the readings in which a word stands for itself earlier than in others: ip is no abbreviation of ipv6."""
    ranked = {full: [one == word for one, word in zip(full, words, strict=False)] for full in readings}
    best = max(ranked.values(), default=[])
    return [full for full, rank in ranked.items() if rank == best]


def _examples(guard: FamilyGuard) -> list[str]:
    return ["/… print", "/… export", "/ping"] if guard.allow else []
