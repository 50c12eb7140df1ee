"""Long lists of numbered names said shortly: `e2..e7` for six ports, `PC1..PC100` for a hundred nodes."""

from __future__ import annotations

import re
from collections.abc import Iterable

NUMBERED = re.compile(r"(.*?)(0|[1-9][0-9]{0,8})")
#: Shorter runs read better one by one.
SHORTEST_RUN = 3


def in_runs(names: Iterable[str]) -> list[str]:
    """Give `names` in their order, with runs of three or more consecutive numbers as `first..last`."""
    runs: list[list[str]] = []
    expected: tuple[str, int] | None = None
    for name in names:
        numbered = NUMBERED.fullmatch(name)
        this = (numbered[1], int(numbered[2])) if numbered else None
        if this is not None and this == expected:
            runs[-1].append(name)
        else:
            runs.append([name])
        expected = (this[0], this[1] + 1) if this else None
    return [piece for run in runs for piece in ([f"{run[0]}..{run[-1]}"] if len(run) >= SHORTEST_RUN else run)]


def natural_order(name: str) -> tuple[str, int]:
    """Sort key that puts PC2 before PC10."""
    numbered = NUMBERED.fullmatch(name)
    return (numbered[1], int(numbered[2])) if numbered else (name, -1)
