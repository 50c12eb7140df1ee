"""Changes the key file while servers use it: they see the old file or the new one, never a part of one."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gns3server_copilot.errors import ConflictError, UnavailableError
from gns3server_copilot.llm.keys import KEY_FILE, read_keys


@contextmanager
def locked(secrets_dir: Path) -> Iterator[None]:
    """Let one process at a time rotate the keys of a folder. Raises ConflictError when another one does."""
    try:
        folder = os.open(secrets_dir, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise UnavailableError(f"The secrets folder {secrets_dir} cannot be opened: {error.strerror}.") from None
    try:
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ConflictError("The keys are being rotated by another process. Wait until it has ended.") from None
        except OSError as error:  # some network file systems
            raise UnavailableError(f"The secrets folder {secrets_dir} cannot be locked: {error.strerror}.") from None
        yield
    finally:
        os.close(folder)


def add_key(secrets_dir: Path) -> None:
    """Put a new key before the present ones. Raises UnavailableError."""
    from cryptography.fernet import Fernet

    _write(secrets_dir, [Fernet.generate_key().decode(), *_keys(secrets_dir)])


def keep_newest_key(secrets_dir: Path) -> None:
    """Drop all keys but the newest. Raises UnavailableError."""
    _write(secrets_dir, _keys(secrets_dir)[:1])


def _keys(secrets_dir: Path) -> list[str]:
    with _explained():
        text = (secrets_dir / KEY_FILE).read_text(encoding="ascii", errors="replace")
    return read_keys(text, f"The encryption key file {KEY_FILE}")


def _write(secrets_dir: Path, keys: list[str]) -> None:
    with _explained():
        file = (secrets_dir / KEY_FILE).resolve(strict=True)  # a link to a mounted secret stays one
        owner = file.stat()
        made = file.with_name(f"{KEY_FILE}.new")
        made.unlink(missing_ok=True)  # left by a process that was killed; nobody else writes while the lock is held
        descriptor = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with open(descriptor, "w", encoding="ascii") as new:
                if (os.geteuid(), os.getegid()) != (owner.st_uid, owner.st_gid):
                    os.fchown(descriptor, owner.st_uid, owner.st_gid)  # or the server could no longer read it
                new.writelines(f"{key}\n" for key in keys)
                new.flush()
                os.fsync(descriptor)
            made.replace(file)
        except BaseException:
            made.unlink(missing_ok=True)
            raise
        _sync_folder(file.parent)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _explained() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UnavailableError(
            f"The encryption key file {KEY_FILE} cannot be changed: {error.strerror}. "
            "Run this as the user that runs gns3server."
        ) from None
