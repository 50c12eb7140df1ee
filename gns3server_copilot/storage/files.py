"""The chat database as a file: made for its owner alone, never reached through a link, set aside but never deleted."""

from __future__ import annotations

import contextlib
import logging
import os
import stat
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from gns3server_copilot.errors import StorageError
from gns3server_copilot.schemas.identity import ProjectRef
from gns3server_copilot.storage.failures import explain
from gns3server_copilot.storage.location import DIRECTORY, database_path

log = logging.getLogger(__name__)

#: What SQLite keeps beside the file.
SIDE_FILES = ("-wal", "-shm", "-journal")
_HELD_BACK = ("-wal", "-journal")


class DatabaseFile:
    """The project's chat database before SQLite opens it. Every method blocks, and raises StorageError."""

    def __init__(self, project: ProjectRef) -> None:
        self._project_id = project.project_id
        self.path = database_path(Path(project.path))

    def prepare(self) -> None:
        """Make the folder (0700) and the file (0600) if need be; set links and whatever is no plain file aside.

        The folder itself is not replaced: a link in its place is refused.
        """
        try:
            self._prepare_folder()
            self._prepare_file()
        except OSError as error:
            raise explain(error) from error

    def left_unclean(self) -> bool:
        """Tell whether the last program that had the file open ended without closing it."""
        return any(_size(self._beside(suffix)) for suffix in _HELD_BACK)

    def set_aside(self, reason: object) -> None:
        """Rename the file and what SQLite keeps beside it, and say so in the log."""
        self._rename(("", *SIDE_FILES), reason)

    def _rename(self, suffixes: Iterable[str], reason: object) -> None:
        time = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
        kept = self.path.with_name(f"{self.path.name}.corrupt-{time}")
        number = 1
        while any(os.path.lexists(f"{kept}{suffix}") for suffix in ("", *SIDE_FILES)):
            number += 1
            kept = self.path.with_name(f"{self.path.name}.corrupt-{time}-{number}")
        try:
            for suffix in suffixes:
                if os.path.lexists(self._beside(suffix)):
                    os.rename(self._beside(suffix), f"{kept}{suffix}")
        except OSError as error:
            raise explain(error) from error
        log.warning("The chat database of project %s was set aside as %s: %s", self._project_id, kept.name, reason)

    def _beside(self, suffix: str) -> str:
        return f"{self.path}{suffix}"

    def _prepare_folder(self) -> None:
        folder = self.path.parent
        try:
            os.mkdir(folder, 0o700)
        except FileExistsError:
            if not stat.S_ISDIR(os.lstat(folder).st_mode):
                raise StorageError(
                    f"{DIRECTORY} in the project's directory is not a folder of its own but a link or a file. "
                    "Remove it, then try again."
                ) from None

    def _prepare_file(self) -> None:
        for suffix in ("", *SIDE_FILES):
            path = self._beside(suffix)
            try:
                mode = os.lstat(path).st_mode
            except FileNotFoundError:
                continue
            if not stat.S_ISREG(mode):
                reason = f"{os.path.basename(path)} is not a plain file but a link, a folder or the like"
                self._rename((suffix,) if suffix else ("", *SIDE_FILES), reason)
            elif stat.S_IMODE(mode) & 0o077:
                with contextlib.suppress(PermissionError):  # somebody else's file that we may still use
                    os.chmod(path, 0o600)
        if not self.path.exists():
            # not with open(): closing a second handle of an open file would drop SQLite's locks on it
            os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_RDWR, 0o600))


def _size(path: str) -> int:
    try:
        return os.lstat(path).st_size
    except OSError:
        return 0
