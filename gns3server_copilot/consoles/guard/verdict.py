"""What the guard says of one line."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Verdict:
    """One line, judged.

    `line` is to be sent exactly so, and only if `allowed`: spaces are collapsed, abbreviations that were resolved are
    written out, bounds are added. `reason` is "" when allowed, else plain words that say what to do instead.
    `stop_after`, in seconds, is set for a command that has no bound of its own and has to be broken off.
    """

    line: str
    allowed: bool
    reason: str = ""
    stop_after: int | None = None


def allowed(line: str, stop_after: int | None = None) -> Verdict:
    """Give the verdict that `line` may be sent."""
    return Verdict(line, True, "", stop_after)


def refused(line: str, reason: str) -> Verdict:
    """Give the verdict that `line` may not be sent, and why."""
    return Verdict(line, False, reason)
