"""A small file system of its own below a folder, to fill up or to make read-only. Needs root."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

KIB = 1024


class SmallDisk:
    """A tmpfs that is mounted on `path`."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def fill(self) -> None:
        """Leave no free block."""
        # in small pieces: the last one may fit where a larger one does not
        with (self.path / "filler").open("wb", buffering=0) as filler:
            for size in (64 * KIB, 4 * KIB):
                while True:
                    try:
                        filler.write(b"\0" * size)
                    except OSError:
                        break

    def free(self) -> None:
        """Give the space back."""
        (self.path / "filler").unlink()

    def set_read_only(self, read_only: bool) -> None:
        """Forbid or allow writing. Nothing may be open for writing."""
        _run("mount", "-o", f"remount,{'ro' if read_only else 'rw'}", str(self.path))


@contextmanager
def small_disk(path: Path, kib: int) -> Iterator[SmallDisk]:
    """Mount one on `path`, which is made; skips the test where that is not possible."""
    if os.geteuid() != 0:
        pytest.skip("a small disk has to be mounted by root")
    path.mkdir(mode=0o700)
    try:
        _run("mount", "-t", "tmpfs", "-o", f"size={kib}k,mode=0700", "tmpfs", str(path))
    except (OSError, subprocess.CalledProcessError) as error:
        path.rmdir()
        pytest.skip(f"a small disk cannot be mounted here: {error}")
    try:
        yield SmallDisk(path)
    finally:
        _run("umount", "--lazy", str(path))


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True, timeout=30)
