"""The page of figures, docs/benchmarks.md: each program owns the part between its two marks."""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import re
import statistics
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"


def machine() -> str:
    """Say on what and when this was measured."""
    return (
        f"{datetime.date.today().isoformat()}, {os.cpu_count()} cores, {_processor()}, Linux {platform.release()}, "
        f"Python {platform.python_version()}, gns3-server {version('gns3-server')}, "
        f"copilot {version('gns3server-copilot')}"
    )


def spread(figures: Sequence[float], digits: int = 2) -> str:
    """Give the median with the least and the greatest."""
    return f"{statistics.median(figures):.{digits}f} ({min(figures):.{digits}f}–{max(figures):.{digits}f})"


def report(part: str, text: str, *, within: bool, write: bool) -> int:
    """Print a program's figures, put them into its part of the page when asked to, and give the exit status."""
    text = f"{machine()}.\n\n{text}"
    print(text)
    if write:
        begin, end = f"<!-- {part}: begin -->", f"<!-- {part}: end -->"
        before, rest = PAGE.read_text().split(begin)
        PAGE.write_text(f"{before}{begin}\n{text}\n{end}{rest.split(end)[1]}")
    if not within:
        print("a limit is passed", file=sys.stderr)
    return 0 if within else 1


def options(description: str, rounds: int) -> argparse.ArgumentParser:
    """Give the command line that all programs share: --rounds and --write."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--rounds", type=int, default=rounds, help=f"rounds of each variant (default: {rounds})")
    parser.add_argument("--write", action="store_true", help="put the figures into docs/benchmarks.md")
    return parser


def _processor() -> str:
    try:
        models = re.findall(r"^model name\s*: (.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    except OSError:
        models = []
    return models[0] if models else platform.machine()
