"""What a process has open, as the kernel tells it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

needs_proc = pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc")

DELETED = " (deleted)"


def open_files(pid: int) -> list[str]:
    """Give the names of all open files, sockets and the like; those of removed files end in ` (deleted)`."""
    names = []
    for entry in os.listdir(f"/proc/{pid}/fd"):
        try:
            names.append(os.readlink(f"/proc/{pid}/fd/{entry}"))
        except FileNotFoundError:  # closed meanwhile
            continue
    return names


def open_below(pid: int, folder: Path) -> list[str]:
    """Give the open files below a folder, removed ones included."""
    return [name for name in open_files(pid) if name.startswith(f"{folder}/")]


def counted(pid: int, matches: Callable[[str], bool] = bool) -> int:
    """Count the open files that match."""
    return sum(map(matches, open_files(pid)))


def threads(pid: int) -> int:
    """Count the threads."""
    return len(os.listdir(f"/proc/{pid}/task"))
