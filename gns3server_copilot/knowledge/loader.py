"""Loads all knowledge: the packaged files, and an admin's that override them and add to them, file by file.

A wrong file is left out and said, and the rest loads; where it was to override a packaged file, that one is used.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from gns3server_copilot.knowledge.files import Directory
from gns3server_copilot.knowledge.kinds import KINDS, Kind
from gns3server_copilot.knowledge.problems import Problem, WrongFileError
from gns3server_copilot.knowledge.schemas.base import KnowledgeFile
from gns3server_copilot.knowledge.snapshot import Entry, Knowledge, Source
from gns3server_copilot.settings import DEFAULT_KNOWLEDGE_PATH, Settings

log = logging.getLogger(__name__)

PACKAGED = Path(__file__).parent


def admin_directory(config_dir: Path, settings: Settings) -> Path:
    """Give the directory of an admin's own files, for a server with this configuration directory."""
    return config_dir / Path(settings.knowledge_path).expanduser()


@cache
def packaged_knowledge() -> Knowledge:
    """Give the packaged files alone. Reads files."""
    return load(None, Settings())


def load(directory: Path | None, settings: Settings, before: Knowledge | None = None) -> Knowledge:
    """Load everything; `directory` is the admin's. Contents that are as they were `before` are not parsed again.

    Blocks for as long as reading takes: to be called in a thread. Raises OSError when a directory cannot be read, and
    when one that the settings name does not exist; the default one may be absent.
    """
    if directory is not None and settings.knowledge_path == DEFAULT_KNOWLEDGE_PATH and not directory.exists():
        directory = None
    known = {(type(entry.value), entry.digest): entry.value for entry in before.entries} if before else {}
    loading = _Loading(settings, known)
    ours = Directory(PACKAGED)
    theirs = Directory(directory) if directory is not None else None
    for kind in KINDS:
        packaged = {path.name: loading.read(kind, ours, path, "packaged") for path in loading.paths(kind, ours)}
        loaded = {name: entry for name, entry in packaged.items() if entry is not None}
        if theirs is not None:
            for path in loading.paths(kind, theirs):
                override = loading.override(kind, theirs, path, loaded.get(path.name))
                if override is not None:
                    loaded[path.name] = override
        loading.entries.extend(loaded.values())
    if theirs is not None:
        loading.problems.extend(theirs.unknown_folders())
    return Knowledge(tuple(loading.entries), tuple(loading.problems))


class _Loading:
    """One load under way."""

    def __init__(self, settings: Settings, known: Mapping[tuple[type[KnowledgeFile], str], KnowledgeFile]) -> None:
        self._settings = settings
        self._known = known
        self.entries: list[Entry[Any]] = []
        self.problems: list[Problem] = []

    def paths(self, kind: Kind, directory: Directory) -> Iterator[Path]:
        """Give the files that may be of this kind, and note what may not."""
        for found in directory.files(kind):
            if isinstance(found, Problem):
                self.problems.append(found)
            else:
                yield found

    def override(self, kind: Kind, directory: Directory, path: Path, packaged: Entry[Any] | None) -> Entry[Any] | None:
        """Give an admin's file, if it can be read and may take effect."""
        instead = "; the packaged file is used" if packaged else ""
        entry = self.read(kind, directory, path, "overridden" if packaged else "added", instead)
        if entry is None:
            return None
        try:
            reasons = entry.value.check_override(packaged.value if packaged else None, self._settings)
        except Exception:
            log.exception("The check of %s failed", entry.file)
            reasons = ["it could not be checked; the server's log says why"]
        for reason in reasons:
            self.problems.append(Problem(entry.file, 0, WrongFileError(reason + instead).message))
        return None if reasons else entry

    def read(
        self, kind: Kind, directory: Directory, path: Path, source: Source, instead: str = ""
    ) -> Entry[Any] | None:
        """Give a file's entry; None when it is wrong, which is noted."""
        shown = f"{kind.name}/{path.name}"
        try:
            content = directory.read(path)
            digest = hashlib.sha256(content).hexdigest()
            value = self._known.get((kind.schema, digest)) or kind.schema.read(_text(content))
        except WrongFileError as error:
            self.problems.append(Problem(shown, error.line, error.message + instead))
        except OSError as error:
            self.problems.append(Problem(shown, 0, f"it cannot be read: {error.strerror or error}{instead}"))
        except Exception:
            log.exception("The knowledge file %s could not be read", shown)
            self.problems.append(Problem(shown, 0, f"it could not be read; the server's log says why{instead}"))
        else:
            return Entry(kind.name, path.name.removesuffix(kind.suffix), value, source, shown, digest)
        return None


def _text(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise WrongFileError("it is not in UTF-8", line) from None
