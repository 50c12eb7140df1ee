"""What the doctor's checks find."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

PACKAGE_DIRECTORY = Path(__file__).parents[2]


class Mark(StrEnum):
    """How a finding is to be taken."""

    GOOD = "✓"
    WRONG = "✗"
    #: Neither good nor wrong: something to know.
    NOTE = "–"


@dataclass(frozen=True)
class Finding:
    """One sentence about one thing; `check` names the thing for programs."""

    check: str
    mark: Mark
    text: str


def good(check: str, text: str) -> Finding:
    """Give a finding that all is well."""
    return Finding(check, Mark.GOOD, text)


def wrong(check: str, text: str) -> Finding:
    """Give a finding of something that must be put right."""
    return Finding(check, Mark.WRONG, text)


def note(check: str, text: str) -> Finding:
    """Give a finding that is worth knowing."""
    return Finding(check, Mark.NOTE, text)


def contained(check: str, look: Callable[[], Iterator[Finding]]) -> Iterator[Finding]:
    """Yield what a check finds; what it raises is a finding too."""
    try:
        yield from look()
    except Exception as error:  # a broken module or package of ours is what the doctor is for
        yield wrong(check, f"This could not be checked: {described(error)}.")


def described(error: BaseException) -> str:
    """Give an error on one line, with the place in our package that it came from."""
    text = " ".join(f"{type(error).__name__}: {error}".split())[:300].rstrip(".")
    if isinstance(error, SyntaxError):
        return text  # names its place itself
    ours = [frame for frame in traceback.extract_tb(error.__traceback__) if _is_ours(frame.filename)]
    if not ours:
        return text
    return f"{text} (in {Path(ours[-1].filename).relative_to(PACKAGE_DIRECTORY.parent)}, line {ours[-1].lineno})"


def _is_ours(filename: str) -> bool:
    return Path(filename).is_relative_to(PACKAGE_DIRECTORY)
