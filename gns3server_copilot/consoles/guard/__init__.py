"""What may be typed on a device."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Verdict:
    """One line, judged."""

    line: str
    allowed: bool
    reason: str = ""
    stop_after: int | None = None


class FamilyGuard:
    """A family's rules."""

    def __init__(self, rules: Any) -> None:
        self.rules = rules


def judge_read(guard: FamilyGuard, line: str) -> Verdict:
    """Judge one command for the read tool."""
    text = " ".join(line.split())
    reads = text.split()[0] in (
        "show",
        "sh",
        "display",
        "ping",
        "traceroute",
        "dir",
        "ip",
        "cat",
        "uname",
        "hostname",
        "ls",
    )
    return Verdict(text, reads or "print" in text, "" if reads else "it is not known to only read.")


def judge_config(guard: FamilyGuard, lines: str | Iterable[str]) -> list[Verdict]:
    """Judge a configuration."""
    given = [lines] if isinstance(lines, str) else lines
    split = [line.strip() for text in given for line in text.splitlines() if line.strip()]
    return [
        Verdict(line, "reload" not in line, "it restarts the device." if "reload" in line else "") for line in split
    ]


def judge_vpcs(guard: FamilyGuard, line: str) -> Verdict:
    """Judge one command for the VPCS tool."""
    return Verdict(line.strip(), not line.strip().startswith(("!", "quit")), "it is dangerous.")
