"""Finds and reads knowledge files: bounded, regular, and inside their directory."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from gns3server_copilot.knowledge.kinds import KINDS, Kind
from gns3server_copilot.knowledge.problems import Problem, WrongFileError

MAX_BYTES = 1_048_576
MAX_FILES = 1000


class Directory:
    """A directory of knowledge files. Every method may raise OSError when the directory itself cannot be read."""

    def __init__(self, path: Path) -> None:
        self._root = path.resolve(strict=True)
        if not self._root.is_dir():
            raise NotADirectoryError(f"{path} is no directory")

    def files(self, kind: Kind) -> Iterator[Path | Problem]:
        """Give the files of a kind in the order of their names, and a problem for each that cannot be one."""
        folder = self._root / kind.name
        if not folder.is_dir():
            if folder.is_symlink() or folder.exists():
                yield Problem(kind.name, 0, "this has to be a folder")
            return
        if not folder.resolve().is_relative_to(self._root):
            yield Problem(kind.name, 0, "the folder is a link that leads out of the directory")
            return
        names = sorted(os.listdir(folder))
        for name in names[:MAX_FILES]:
            if name.startswith(".") or name.endswith("~"):
                continue
            shown = f"{kind.name}/{name}"
            if not name.endswith(kind.suffix):
                yield Problem(shown, 0, f"the name has to end with {kind.suffix}")
            elif kind.only is not None and name.removesuffix(kind.suffix) not in kind.only:
                wanted = ", ".join(f"{one}{kind.suffix}" for one in sorted(kind.only))
                yield Problem(shown, 0, f"nothing uses a file of this name; there are {wanted}")
            else:
                yield folder / name
        if len(names) > MAX_FILES:
            yield Problem(kind.name, 0, f"only the first {MAX_FILES} files are looked at")

    def unknown_folders(self) -> Iterator[Problem]:
        """Give a problem for each folder that is none of a kind."""
        known = [kind.name for kind in KINDS]
        for entry in sorted(os.scandir(self._root), key=lambda one: one.name):
            if entry.is_dir() and entry.name not in known and not entry.name.startswith("."):
                yield Problem(entry.name, 0, f"nothing uses a folder of this name; there are {', '.join(known)}")

    def read(self, path: Path) -> bytes:
        """Give a file's bytes. Raises WrongFileError, and OSError when the file cannot be read."""
        resolved = path.resolve(strict=True)
        if not resolved.is_relative_to(self._root):
            raise WrongFileError("it is a link that leads out of the directory")
        # not a link any more, and without waiting for the other end of a pipe
        descriptor = os.open(resolved, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise WrongFileError("it is no regular file")
            content = file.read(MAX_BYTES + 1)
        if len(content) > MAX_BYTES:
            raise WrongFileError("it is larger than 1 MB")
        return content
