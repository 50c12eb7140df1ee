"""Encrypts the API keys of configurations at rest (Fernet; several keys at once while they are rotated)."""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
import threading
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from gns3server_copilot.errors import InvalidRequestError, UnavailableError

if TYPE_CHECKING:
    from cryptography.fernet import Fernet, MultiFernet

KEY_FILE = "copilot_encryption_key"
ENVIRONMENT_VARIABLE = "GNS3_COPILOT_ENCRYPTION_KEY"
#: How long another process may take between creating the key file and filling it.
FILLING_SECONDS = 1.0


TokenState = Literal["newest", "older", "unreadable"]


@dataclass(frozen=True)
class _Ring:
    """Keys, newest first. The first encrypts, all decrypt."""

    ids: tuple[str, ...]
    fernet: MultiFernet = field(repr=False)
    newest: Fernet = field(repr=False)


@dataclass(frozen=True)
class KeyStatus:
    """What `doctor` says about the keys. `problem` is None when all is well; no key yet is well, too."""

    source: str
    keys: int
    problem: str | None


class KeyRing:
    """The server's encryption keys: from the environment variable if it is set, else from a file in `secrets_dir`.

    The file holds one key a line, newest first. It is made at the first encryption, never by a decryption: a key that
    was lost must not be replaced silently. Whenever it has changed it is read again, so that a running server follows a
    rotation. Keys are never derived from the server's JWT secret, which has a public default.
    """

    def __init__(self, secrets_dir: str | os.PathLike[str], environment: Mapping[str, str] = os.environ) -> None:
        self._path = Path(secrets_dir) / KEY_FILE
        self._environment = environment
        self._lock = threading.Lock()
        self._loaded: tuple[object, _Ring] | None = None

    async def encrypt(self, text: str) -> tuple[str, str]:
        """Give the encrypted text and the id of the key that encrypted it.

        Raises UnavailableError when the keys cannot be read or the file cannot be made.
        """
        return await asyncio.to_thread(self._encrypt, text)

    async def decrypt(self, token: str) -> str:
        """Give the text back.

        Raises InvalidRequestError when no key of ours fits, UnavailableError when the keys cannot be read.
        """
        return await asyncio.to_thread(self._decrypt, token)

    async def readable(self, tokens: Collection[str]) -> set[str]:
        """Give those of the tokens that can be decrypted now: none, when the keys cannot be read."""
        return await asyncio.to_thread(self._readable, tokens) if tokens else set()

    def state(self, token: str) -> TokenState:
        """Tell whether a token is encrypted with the newest key or an older one, or cannot be decrypted at all."""
        from cryptography.fernet import InvalidToken

        if token not in self._readable([token]):
            return "unreadable"
        ring = self._ring(create=False)
        try:
            if ring is not None:
                ring.newest.decrypt(token.encode())
        except InvalidToken:
            return "older"
        return "newest"

    def re_encrypted(self, token: str) -> tuple[str, str]:
        """Give the same secret encrypted with the newest key, and that key's id. Raises as `decrypt` does."""
        return self._encrypt(self._decrypt(token))

    @property
    def from_environment(self) -> bool:
        """Whether the keys come from the environment variable."""
        return bool(self._from_environment())

    def status(self) -> KeyStatus:
        """Tell where the keys come from and whether they can be read. Makes no file."""
        source = f"environment variable {ENVIRONMENT_VARIABLE}" if self.from_environment else str(self._path)
        try:
            ring = self._ring(create=False)
        except UnavailableError as error:
            return KeyStatus(source, 0, error.message)
        return KeyStatus(source, len(ring.ids) if ring else 0, None)

    def _encrypt(self, text: str) -> tuple[str, str]:
        ring = self._ring(create=True)
        assert ring is not None
        return ring.fernet.encrypt(text.encode()).decode(), ring.ids[0]

    def _decrypt(self, token: str) -> str:
        from cryptography.fernet import InvalidToken

        ring = self._ring(create=False)
        try:
            if ring is None:
                raise InvalidToken
            return ring.fernet.decrypt(token.encode()).decode()
        except InvalidToken:
            raise InvalidRequestError(
                "The stored API key cannot be decrypted any more, because the server's encryption key has changed. "
                "Enter the API key again in the AI profile."
            ) from None

    def _readable(self, tokens: Collection[str]) -> set[str]:
        found = set()
        for token in tokens:
            try:
                self._decrypt(token)
            except InvalidRequestError:
                continue
            except UnavailableError:
                break
            found.add(token)
        return found

    def _ring(self, *, create: bool) -> _Ring | None:
        with self._lock:
            if text := self._from_environment():
                return self._cached(text, text, f"The environment variable {ENVIRONMENT_VARIABLE}")
            try:
                if create and not self._path.exists():
                    self._create_file()
                stat = self._stat_when_filled()
                text = self._path.read_text(encoding="ascii", errors="replace")
            except FileNotFoundError:
                if create:
                    raise UnavailableError("The encryption key cannot be made: no secrets folder.") from None
                return None
            except OSError as error:
                raise UnavailableError(
                    f"The encryption key file {KEY_FILE} cannot be used: {error.strerror}. Check the secrets folder."
                ) from None
            version = (stat.st_ino, stat.st_mtime_ns, stat.st_size)
            return self._cached(version, text, f"The encryption key file {KEY_FILE}")

    def _from_environment(self) -> str:
        return self._environment.get(ENVIRONMENT_VARIABLE, "").strip()

    def _cached(self, version: object, text: str, where: str) -> _Ring:
        if self._loaded is None or self._loaded[0] != version:
            self._loaded = (version, _read_ring(text, where))
        return self._loaded[1]

    def _create_file(self) -> None:
        from cryptography.fernet import Fernet

        key = Fernet.generate_key()
        try:
            descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:  # another process was faster
            return
        with open(descriptor, "wb") as file:
            file.write(key + b"\n")
            file.flush()
            os.fsync(file.fileno())

    def _stat_when_filled(self) -> os.stat_result:
        """Look at the file; while it is new and empty, another process is about to write its key."""
        stat = self._path.stat()
        while stat.st_size == 0 and abs(time.time() - stat.st_mtime) < FILLING_SECONDS:
            time.sleep(0.01)
            stat = self._path.stat()
        return stat


def key_id(key: str) -> str:
    """Give the id by which rows name a key; it gives nothing of the key away."""
    return hashlib.sha256(b"gns3-copilot key id" + key.encode()).hexdigest()[:16]


def read_keys(text: str, where: str) -> list[str]:
    """Give the keys in a text, newest first, unchecked. Raises UnavailableError when there is none."""
    keys = [key for key in re.split(r"[,\s]+", text) if key]
    if not keys:
        raise UnavailableError(f"{where} is empty. Restore it, or remove it and enter all API keys again.")
    return keys


def _read_ring(text: str, where: str) -> _Ring:
    from cryptography.fernet import Fernet, MultiFernet

    keys = read_keys(text, where)
    fernets = []
    for number, key in enumerate(keys, start=1):
        try:
            fernets.append(Fernet(key))
        except ValueError:
            # The exception and its cause would carry the key's text into a log.
            raise UnavailableError(
                f"{where} is damaged: entry {number} is not a Fernet key. Restore it, or remove it and enter all API "
                "keys again."
            ) from None
    return _Ring(tuple(key_id(key) for key in keys), MultiFernet(fernets), fernets[0])
