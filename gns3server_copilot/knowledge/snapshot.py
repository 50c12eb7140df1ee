"""What is loaded at one moment. Nothing in it ever changes: a reload makes a new snapshot."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Generic, Literal, TypeVar

from gns3server_copilot.knowledge.problems import Problem
from gns3server_copilot.knowledge.schemas.base import KnowledgeFile

FileT = TypeVar("FileT", bound=KnowledgeFile)

Source = Literal["packaged", "overridden", "added"]

#: What people and older catalogues put around a name: `injection_ospf_issues` is `ospf`.
AFFIXES = re.compile(r"^(?:injection|device|packet_analysis|protocol)_(?=.)|(?<=.)_(?:issues|faults)$")


def key_of(name: str) -> str:
    """Give a name as keys are compared: in small letters, with `_` between words, without affixes."""
    return AFFIXES.sub("", re.sub(r"[\s_-]+", "_", name.strip().casefold()))


@dataclass(frozen=True)
class Entry(Generic[FileT]):
    """One loaded file."""

    kind: str
    #: the file's name without its ending
    key: str
    value: FileT
    #: packaged: ours; overridden: an admin's in place of ours; added: an admin's that we have none of
    source: Source
    #: as `<kind>/<name>`, in whichever directory the source says
    file: str
    digest: str


class Catalogue(Mapping[str, FileT]):
    """All files of one kind by key, in the order of their keys."""

    def __init__(self, entries: Iterable[Entry[FileT]] = ()) -> None:
        self.entries = tuple(sorted(entries, key=lambda entry: entry.key))
        self._by_key = {entry.key: entry.value for entry in self.entries}
        self._by_name: dict[str, FileT] = {}
        names = [[entry.key for entry in self.entries]]
        for rank in range(max((len(entry.value.names()) for entry in self.entries), default=0)):
            names.append([(*entry.value.names(), *[""] * rank)[rank] for entry in self.entries])
        for of_one_rank in names:  # a file's own name beats another's first name, that its aliases
            for name, entry in zip(of_one_rank, self.entries, strict=True):
                if name:
                    self._by_name.setdefault(key_of(name), entry.value)

    def find(self, name: str) -> FileT | None:
        """Give the file that this name means: by its own name, by a name in it, or by an alias."""
        exact = self._by_key.get(name)
        return exact if exact is not None else self._by_name.get(key_of(name))

    def __getitem__(self, key: str) -> FileT:
        """Give the file of this key."""
        return self._by_key[key]

    def __iter__(self) -> Iterator[str]:
        """Go through the keys."""
        return iter(self._by_key)

    def __len__(self) -> int:
        """Count the files."""
        return len(self._by_key)


@dataclass(frozen=True)
class Knowledge:
    """Everything that is loaded, and what was wrong with what is not."""

    entries: tuple[Entry[Any], ...] = ()
    problems: tuple[Problem, ...] = ()
    _catalogues: Mapping[type[KnowledgeFile], Catalogue[Any]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Sort the files by what they hold."""
        by_schema: dict[type[KnowledgeFile], list[Entry[Any]]] = {}
        for entry in self.entries:
            by_schema.setdefault(type(entry.value), []).append(entry)
        catalogues = {schema: Catalogue(entries) for schema, entries in by_schema.items()}
        object.__setattr__(self, "_catalogues", MappingProxyType(catalogues))

    def of(self, schema: type[FileT]) -> Catalogue[FileT]:
        """Give all files of the kind with this schema, e.g. `knowledge.of(Prompt)["title"]`."""
        return self._catalogues.get(schema, Catalogue())

    def keys(self, kind: str) -> list[str]:
        """Give the keys of all files of this kind, in order; none for a kind of which there is none."""
        return sorted(entry.key for entry in self.entries if entry.kind == kind)

    @property
    def version(self) -> str:
        """Give what changes exactly when any loaded file does."""
        whole = hashlib.sha256()
        for entry in sorted(self.entries, key=lambda one: (one.kind, one.key)):
            whole.update(f"{entry.kind}/{entry.key}:{entry.digest}\n".encode())
        return whole.hexdigest()[:12]
