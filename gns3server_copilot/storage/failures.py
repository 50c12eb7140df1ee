"""What SQLite and the file system say, put into plain sentences."""

from __future__ import annotations

import errno
import logging
import sqlite3

from gns3server_copilot.errors import StorageError

log = logging.getLogger(__name__)

CLOSED = "The chat database of this project has been closed. Open the project, then try again."
IN_USE = "The chat database of this project is in use by another program. Close that program, then try again."
NOT_WRITABLE = (
    "The chat database of this project cannot be written. Give the user that runs gns3server write access to the "
    "folder gns3-copilot in the project's directory and to what is in it."
)
DISK_FULL = "The disk with this project's chat database is full. Free some space, then try again."
DISK_FAILED = (
    "The chat database of this project cannot be read or written. Check the disk of the project's directory, then "
    "close the project and open it again."
)
DAMAGED = (
    "The chat database of this project is damaged. Close the project and open it again: the file is then set aside "
    "and a new one is begun."
)
NO_PROJECT_FOLDER = "The directory of this project does not exist on the server. Restore it, then try again."

_BY_SQLITE_CODE = {
    sqlite3.SQLITE_BUSY: IN_USE,
    sqlite3.SQLITE_LOCKED: IN_USE,
    sqlite3.SQLITE_READONLY: NOT_WRITABLE,
    sqlite3.SQLITE_CANTOPEN: NOT_WRITABLE,
    sqlite3.SQLITE_PERM: NOT_WRITABLE,
    sqlite3.SQLITE_AUTH: NOT_WRITABLE,
    sqlite3.SQLITE_FULL: DISK_FULL,
    sqlite3.SQLITE_CORRUPT: DAMAGED,
    sqlite3.SQLITE_NOTADB: DAMAGED,
}
#: SQLITE_ERROR and what follows: our statements do not fit tables that only look like ours.
_CONTENT_AT_FAULT = (
    sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_NOTADB,
    sqlite3.SQLITE_ERROR,
    sqlite3.SQLITE_CONSTRAINT,
    sqlite3.SQLITE_MISMATCH,
)
_BY_ERRNO = {
    errno.EACCES: NOT_WRITABLE,
    errno.EPERM: NOT_WRITABLE,
    errno.EROFS: NOT_WRITABLE,
    errno.ENOSPC: DISK_FULL,
    errno.EDQUOT: DISK_FULL,
    errno.ENOENT: NO_PROJECT_FOLDER,
    errno.ENOTDIR: NO_PROJECT_FOLDER,
}


class DamagedFileError(Exception):
    """The file is to be set aside; the message says why, for the log. Never leaves this package."""


def explain(error: sqlite3.Error | OSError) -> StorageError:
    """Give the StorageError that says what to do about an error of SQLite or of the file system, and log the error."""
    log.warning("A chat database cannot be used: %s", error)
    if isinstance(error, OSError):
        return StorageError(_BY_ERRNO.get(error.errno or 0, DISK_FAILED))
    return StorageError(_BY_SQLITE_CODE.get(_code(error), DISK_FAILED))


def is_damage(error: sqlite3.Error) -> bool:
    """Tell whether the content of a file being opened is at fault, so that setting it aside helps."""
    return _code(error) in _CONTENT_AT_FAULT


def is_in_use(error: sqlite3.Error) -> bool:
    """Tell whether another program's lock is at fault."""
    return _code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def _code(error: sqlite3.Error) -> int:
    # errors that the sqlite3 module raises by itself carry no code; extended codes keep the primary one in 8 bits
    return getattr(error, "sqlite_errorcode", 0) & 0xFF
