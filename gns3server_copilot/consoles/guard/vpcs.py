"""Commands of VPCS, which may be abbreviated; several of them reach files and sockets of the computer that runs it."""

from __future__ import annotations

import re

from gns3server_copilot.consoles.guard import programs, reasons
from gns3server_copilot.consoles.guard.family import FamilyGuard
from gns3server_copilot.consoles.guard.verdict import Verdict, allowed, refused

#: Old versions run what follows `!` on their computer, and some end at input that they do not expect.
BAD_CHARACTER = re.compile(r"[^A-Za-z0-9 _.:/-]")


def judge_vpcs_line(guard: FamilyGuard, line: str, *, read_only: bool) -> Verdict:
    """Judge a normalised line; without `read_only` what sets addresses is allowed too."""
    if bad := BAD_CHARACTER.search(line):
        return refused(line, reasons.character(bad[0]))
    words = line.split()
    word = words[0].lower()
    known = sorted({*guard.rules.read.commands, *guard.read_programs, *guard.config_programs})
    candidates = [word] if word in known else [one for one in known if one.startswith(word)]
    if len(candidates) > 1:
        return refused(line, reasons.ambiguous(words[0], candidates))
    name = candidates[0] if candidates else word
    if rule := guard.config_refused.find([name, *words[1:]]):
        return refused(line, reasons.because(rule[1], line, rule[0]))
    reason = ""
    for known_programs in (guard.read_programs, {} if read_only else guard.config_programs):
        if program := known_programs.get(name):
            try:
                rest = programs.checked(name, program, words[1:], abbreviations=False)
            except programs.NotAllowedError as error:
                reason = str(error)
            else:
                return allowed(" ".join([name, *rest]), program.rules.stop_after)
    if not reason and read_only and name in guard.config_programs:
        reason = f"`{name}` changes the PC. Use execute_vpcs_commands for changes."
    return refused(line, reason or reasons.not_read(words[0], list(guard.read_programs)))
