"""What the programs have in common: their options, the page that figures are written into, what they ran on."""

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


def options(description: str, rounds: int | None = None) -> argparse.ArgumentParser:
    """Give the options of every program: how many rounds, where it has any, and whether the page is written."""
    parser = argparse.ArgumentParser(description=description)
    if rounds is not None:
        parser.add_argument("--rounds", type=int, default=rounds, help=f"rounds of each variant (default: {rounds})")
    parser.add_argument("--write", action="store_true", help="put the figures into docs/benchmarks.md")
    return parser


def report(name: str, figures: str, *, heading: str = "", within: bool, write: bool) -> int:
    """Print what was measured and on what, put it on the page if asked to, and give the exit status."""
    text = "\n".join([*filter(None, [heading]), f"{machine()}.", "", figures])
    print(text)
    if write:
        _write(name, text)
    if not within:
        print("a limit is passed", file=sys.stderr)
    return 0 if within else 1


def _write(name: str, text: str) -> None:
    """Put figures between the marks of this name."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    page = PAGE.read_text()
    before, rest = page.split(begin)
    PAGE.write_text(f"{before}{begin}\n{text}\n{end}{rest.split(end)[1]}")


def spread(figures: Sequence[float]) -> str:
    """Give the median with the least and the most."""
    return f"{statistics.median(figures):.2f} ({min(figures):.2f}–{max(figures):.2f})"


def milliseconds(seconds: list[float] | None) -> str:
    """Give the same of seconds, in milliseconds; nothing for None."""
    if seconds is None:
        return ""
    least, middle, most = (1000 * value for value in (min(seconds), statistics.median(seconds), max(seconds)))
    return f"{middle:.0f} ({least:.0f}–{most:.0f}) ms"


def machine() -> str:
    """Say on what and when this was measured."""
    return (
        f"{datetime.date.today().isoformat()}, {os.cpu_count()} cores, {_processor()}, Linux {platform.release()}, "
        f"Python {platform.python_version()}, gns3-server {version('gns3-server')}, "
        f"copilot {version('gns3server-copilot')}"
    )


def _processor() -> str:
    try:
        models = re.findall(r"^model name\s*: (.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    except OSError:
        models = []
    return models[0] if models else platform.machine()
