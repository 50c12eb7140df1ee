"""The guard's three questions."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from gns3server_copilot.consoles.guard import reasons
from gns3server_copilot.consoles.guard.config import ConfigJudge
from gns3server_copilot.consoles.guard.family import FamilyGuard
from gns3server_copilot.consoles.guard.lines import MAX_LENGTH, normalised, split_lines
from gns3server_copilot.consoles.guard.menus import MenuConfigJudge, judge_read_menus
from gns3server_copilot.consoles.guard.shell import judge_config_shell, judge_read_shell
from gns3server_copilot.consoles.guard.verdict import Verdict, refused
from gns3server_copilot.consoles.guard.vpcs import judge_vpcs_line
from gns3server_copilot.consoles.guard.words import judge_read_words


def judge_read(guard: FamilyGuard, line: str) -> Verdict:
    """Judge one command for the read tool: allowed only if it is known to read."""
    text, problem = normalised(line)
    if not problem and not text:
        problem = reasons.EMPTY
    return refused(text, problem) if problem else _short(_judge_read(guard, text))


def _judge_read(guard: FamilyGuard, text: str) -> Verdict:
    match guard.rules.language:
        case "words":
            return judge_read_words(guard, text)
        case "menus":
            return judge_read_menus(guard, text)
        case "shell":
            return judge_read_shell(guard, text)
        case "vpcs":
            return judge_vpcs_line(guard, text, read_only=True)


def judge_config(guard: FamilyGuard, lines: str | Iterable[str]) -> list[Verdict]:
    """Judge a configuration for the configuration tool, one verdict for each line that is not blank, in their order.

    Lines are split at line breaks first, those of each given string too; indentation means nothing.
    """
    given = [lines] if isinstance(lines, str) else lines
    prepared = [normalised(line) for text in given for line in split_lines(text)]
    prepared = [(text, problem) for text, problem in prepared if text or problem]
    commands = [index for index, (text, _) in enumerate(prepared) if not text.startswith(guard.rules.comments)]
    last = commands[-1] if commands else -1
    judge = _config_judge(guard)
    return [
        refused(text, problem) if problem else _short(judge(text, index == last))
        for index, (text, problem) in enumerate(prepared)
    ]


def judge_vpcs(guard: FamilyGuard, line: str) -> Verdict:
    """Judge one command for the VPCS tool, which also sets addresses."""
    text, problem = normalised(line)
    if not problem and not text:
        problem = reasons.EMPTY
    return refused(text, problem) if problem else _short(judge_vpcs_line(guard, text, read_only=False))


def _short(verdict: Verdict) -> Verdict:
    """Refuse a line that has become too long by what was written out or put in."""
    if verdict.allowed and len(verdict.line) > MAX_LENGTH:
        return refused(verdict.line[:MAX_LENGTH], reasons.TOO_LONG)
    return verdict


def _config_judge(guard: FamilyGuard) -> Callable[[str, bool], Verdict]:
    config = guard.rules.config
    if not (config.refuse or config.allow or config.programs):
        return lambda line, last: refused(line, reasons.NO_RULES)
    if guard.rules.language == "words":
        words = ConfigJudge(guard)
        return lambda line, last: words.judge(line, last=last)
    if guard.rules.language == "menus":
        menus = MenuConfigJudge(guard)
        return lambda line, last: menus.judge(line)
    if guard.rules.language == "shell":
        return lambda line, last: judge_config_shell(guard, line)
    return lambda line, last: judge_vpcs_line(guard, line, read_only=False)
