"""How much one analysis may read, how long it may take and how much memory it may use."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path

MAX_FRAMES = 200_000
MAX_SECONDS = 20.0
MAX_MEMORY = 256 << 20
MEGABYTE = 1 << 20

#: Frames between two looks at the budget; MAX_FRAMES is a multiple of it.
INTERVAL = 1000
_STATUS = Path("/proc/self/statm")


@dataclass
class Budget:
    """The caps of one analysis; `spent` is the sentence that says which one was reached.

    The time counts from the budget's making.
    """

    frames: int = MAX_FRAMES
    seconds: float = MAX_SECONDS
    memory: int = MAX_MEMORY
    spent: str = ""
    _ends: float = field(init=False)

    def __post_init__(self) -> None:
        self._ends = time.monotonic() + self.seconds

    def allows(self, frames: int) -> bool:
        """Whether to go on after so many frames. Asked every INTERVAL frames, of which `frames` is a multiple."""
        if not self.spent and frames >= self.frames:
            self.spent = f"Only the first {frames:,} frames were read."
        elif not self.spent and not self.has_time():
            self.spent += f" Only the first {frames:,} frames were read."
        return not self.spent

    def has_time(self) -> bool:
        """Whether time and memory are left for what has been read."""
        if time.monotonic() > self._ends:
            self.spent = self.spent or f"Stopped after {self.seconds:g} seconds."
            return False
        if _resident() > self.memory:
            self.spent = self.spent or f"Stopped at {self.memory // MEGABYTE} MB of memory."
            return False
        return True


def _resident() -> int:
    """Bytes of memory that this process has in use."""
    try:
        return int(_STATUS.read_text().split()[1]) * 4096
    except OSError:
        return 0
