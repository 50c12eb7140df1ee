"""What the tools for devices ask before anything is sent: the guard, and whether a line is a secret's stand-in."""

from __future__ import annotations

from collections.abc import Sequence

from gns3server_copilot.consoles.guard import Verdict, judge_config, judge_read, judge_vpcs
from gns3server_copilot.consoles.service import Consoles
from gns3server_copilot.knowledge.schemas.family import Family
from gns3server_copilot.redaction.placeholders import holds_placeholder

PLACEHOLDER = (
    "it holds a placeholder that stands for a secret in what you were shown. The device would take it literally: leave "
    "the line out, or let a person type it with the real secret."
)


def read_verdicts(consoles: Consoles, family: Family, commands: Sequence[str]) -> list[Verdict]:
    """Judge commands that may only read."""
    guard = consoles.guard(family)
    return [_without_placeholder(judge_read(guard, command)) for command in commands]


def config_verdicts(consoles: Consoles, family: Family, lines: Sequence[str]) -> list[Verdict]:
    """Judge a configuration, one verdict for each of its lines."""
    return [_without_placeholder(verdict) for verdict in judge_config(consoles.guard(family), lines)]


def vpcs_verdicts(consoles: Consoles, family: Family, commands: Sequence[str]) -> list[Verdict]:
    """Judge commands for a virtual PC."""
    guard = consoles.guard(family)
    return [_without_placeholder(judge_vpcs(guard, command)) for command in commands]


def _without_placeholder(verdict: Verdict) -> Verdict:
    return Verdict(verdict.line, False, PLACEHOLDER) if holds_placeholder(verdict.line) else verdict
