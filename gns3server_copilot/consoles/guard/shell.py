"""Lines for a Linux shell: one program with known options, never anything that the shell itself would act on."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence

from gns3server_copilot.consoles.guard import programs, reasons
from gns3server_copilot.consoles.guard.family import FamilyGuard, KnownProgram
from gns3server_copilot.consoles.guard.lines import has_open_quote
from gns3server_copilot.consoles.guard.verdict import Verdict, allowed, refused

#: Anything else could chain, substitute, redirect, expand a name or recall an earlier line.
BAD_CHARACTER = re.compile(r"[^A-Za-z0-9 _.:/,@+%=\"'-]")
FOLDER = re.compile(r"^(?:/usr)?/s?bin/")


def judge_read_shell(guard: FamilyGuard, line: str) -> Verdict:
    """Judge a normalised line for the read tool."""
    return _judge(guard, line, [guard.read_programs])


def judge_config_shell(guard: FamilyGuard, line: str) -> Verdict:
    """Judge a normalised line for the configuration tool, which may also read."""
    return _judge(guard, line, [guard.read_programs, guard.config_programs])


def _judge(guard: FamilyGuard, line: str, known: Sequence[Mapping[str, KnownProgram]]) -> Verdict:
    if bad := BAD_CHARACTER.search(line):
        return refused(line, reasons.character(bad[0]))
    if has_open_quote(line, "\"'"):
        return refused(line, reasons.OPEN_QUOTE)
    argv = shlex.split(line) if '"' in line or "'" in line else line.split()
    name = FOLDER.sub("", argv[0], count=1)
    usage = ""
    for programs_by_name in known:
        if program := programs_by_name.get(name):
            try:
                rest = programs.checked(name, program, argv[1:], abbreviations=False)
            except programs.NotAllowedError as error:
                usage = str(error)
            else:
                return allowed(shlex.join([argv[0], *rest]), program.rules.stop_after)
    return refused(line, _why_not(guard, line, [name, *argv[1:]], known, usage))


def _why_not(
    guard: FamilyGuard, line: str, argv: Sequence[str], known: Sequence[Mapping[str, KnownProgram]], usage: str
) -> str:
    if rule := guard.config_refused.find(argv):
        return reasons.because(argv[0], line, rule[0])
    if len(known) == 1 and judge_config_shell(guard, line).allowed:
        return f"`{argv[0]}` changes things so. {reasons.CONFIG_ONLY}"
    if usage:
        return usage
    names = guard.program_names if len(known) > 1 else guard.read_program_names
    return f"`{argv[0][:60]}` is not among the programs that may be run ({names}). {reasons.BY_HAND}"
