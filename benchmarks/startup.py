"""What the copilot costs before anybody chats: the stock server's start, its memory, and every other Python program.

    python -m benchmarks.startup [--rounds N] [--write]

Starts the `gns3server` of this environment in turn without the copilot (GNS3_COPILOT=0) and with it, A B A B, after
one uncounted start of each. Exits with 1 when a limit is passed: on a machine that does other things at the same time,
the processor time is what to go by.
"""

from __future__ import annotations

import re
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path

from benchmarks import page
from benchmarks.stock_server import StockServer, clean_environment

LIMIT_SECONDS = 0.3
LIMIT_MB = 30.0
LIMIT_MICROSECONDS = 1000.0

SETTLE_SECONDS = 1.0
INTERPRETER_STARTS = 11


@dataclass
class Starts:
    """The measured starts of one variant; `answer` is the status of a copilot route, which shows that it is the one."""

    environment: dict[str, str]
    home: Path
    answer: int
    seconds: list[float] = field(default_factory=list)
    processor_seconds: list[float] = field(default_factory=list)
    megabytes: list[float] = field(default_factory=list)

    def measure(self, programs: Path) -> None:
        """Start the server once and keep its figures."""
        with StockServer(programs, self.home, **self.environment) as server:
            if server.get("/v3/copilot/status")[0] != self.answer:
                raise RuntimeError(f"not the server that was to be measured; its log:\n{server.log_path.read_text()}")
            time.sleep(SETTLE_SECONDS)
            self.seconds.append(server.seconds)
            self.processor_seconds.append(server.processor_seconds)
            self.megabytes.append(server.resident_mb())

    def forget(self) -> None:
        """Drop the figures of the first start, which makes the database."""
        self.seconds.clear()
        self.processor_seconds.clear()
        self.megabytes.clear()


def measure_starts(programs: Path, folder: Path, rounds: int) -> tuple[Starts, Starts]:
    """Give the starts without and with the copilot."""
    without = Starts({"GNS3_COPILOT": "0"}, folder / "without", HTTPStatus.NOT_FOUND)
    with_it = Starts({}, folder / "with", HTTPStatus.UNAUTHORIZED)
    for variant in (without, with_it):
        variant.measure(programs)
        variant.forget()
    for done in range(rounds):
        for variant in (without, with_it):
            variant.measure(programs)
        print(
            f"round {done + 1} of {rounds}: {without.seconds[-1]:.2f} s, {with_it.seconds[-1]:.2f} s", file=sys.stderr
        )
    return without, with_it


def measure_interpreter(folder: Path) -> float:
    """Give the microseconds that a Python program of this environment spends on importing us (median)."""
    figures = []
    for _ in range(INTERPRETER_STARTS):
        done = subprocess.run(
            [sys.executable, "-X", "importtime", "-c", "pass"],
            cwd=folder,
            env=clean_environment(folder),
            capture_output=True,
            text=True,
            check=True,
        )
        match = re.search(r"\|\s+(\d+) \|\s+gns3server_copilot\.autoload$", done.stderr, re.MULTILINE)
        if match is None:
            raise RuntimeError("gns3server_copilot.pth is not at work in this environment")
        figures.append(float(match[1]))
    return statistics.median(figures)


def table(without: Starts, with_it: Starts, microseconds: float) -> tuple[str, bool]:
    """Give the figures as a Markdown table, and whether all are within their limits."""
    lines = ["| | without | with | difference | limit |", "|---|--:|--:|--:|--:|"]
    within = microseconds < LIMIT_MICROSECONDS
    rows = (
        ("start until `/v3/version` answers", "s", without.seconds, with_it.seconds, LIMIT_SECONDS),
        ("processor time of that", "s", without.processor_seconds, with_it.processor_seconds, LIMIT_SECONDS),
        ("memory of the server (RSS)", "MB", without.megabytes, with_it.megabytes, LIMIT_MB),
    )
    for name, unit, before, after, limit in rows:
        difference = statistics.median(after) - statistics.median(before)
        within = within and difference < limit
        lines.append(
            f"| {name} | {page.spread(before)} {unit} | {page.spread(after)} {unit} | {difference:+.2f} | {limit:g} |"
        )
    lines.append(f"| `python -c pass` | | {microseconds:.0f} µs | | {LIMIT_MICROSECONDS:g} |")
    return "\n".join(lines), within


def main() -> int:
    """Measure, print, and give the exit status."""
    asked = page.options("Measure what the copilot costs at the start of the stock server.", rounds=6).parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        without, with_it = measure_starts(Path(sysconfig.get_path("scripts")), folder, asked.rounds)
        microseconds = measure_interpreter(folder)
    figures, within = table(without, with_it, microseconds)
    heading = f"{asked.rounds} starts of each, in turn; medians (least–most)."
    return page.report("startup", figures, heading=heading, within=within, write=asked.write)


if __name__ == "__main__":
    sys.exit(main())
