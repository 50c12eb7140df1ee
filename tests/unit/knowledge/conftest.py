"""A kind of file of the tests' own, packaged in a folder of theirs, beside the real prompts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from gns3server_copilot.knowledge import files, loader
from gns3server_copilot.knowledge.kinds import Kind
from gns3server_copilot.knowledge.schemas.base import KnowledgeFile, KnowledgeModel
from gns3server_copilot.knowledge.snapshot import Knowledge
from gns3server_copilot.settings import Settings


class Topic(KnowledgeModel):
    """A part of a file."""

    title: str
    lines: tuple[str, ...] = ()


class Fruit(KnowledgeFile):
    """A file of the kind `fruits`; an override may take lines away but not add any."""

    name: str
    aliases: tuple[str, ...] = ()
    topics: tuple[Topic, ...] = ()
    allowed: tuple[str, ...] = ()

    def names(self) -> Sequence[str]:
        """The name and the aliases."""
        return (self.name, *self.aliases)

    def check_override(self, packaged: Fruit | None, settings: Settings) -> Sequence[str]:
        """Only a subset of what is allowed."""
        if "breaks" in self.allowed:
            raise KeyError("a bug in the check")
        more = set(self.allowed) - set(packaged.allowed if packaged else ())
        return [
            f"allowed: {one} is not in the packaged file" for one in sorted(more) if not settings.trust_guard_overrides
        ]


@pytest.fixture
def packaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The packaged directory, with two fruits in it."""
    folder = tmp_path / "packaged"
    write(folder, "fruits/apple.yaml", "name: Apple\naliases: [pomme]\nallowed: [peel, eat]\n")
    write(folder, "fruits/pear.yaml", "name: Pear\n")
    kinds = (Kind("fruits", Fruit),)
    monkeypatch.setattr(loader, "KINDS", kinds)
    monkeypatch.setattr(files, "KINDS", kinds)
    monkeypatch.setattr(loader, "PACKAGED", folder)
    return folder


@pytest.fixture
def admin(tmp_path: Path) -> Path:
    """An admin's directory, empty."""
    folder = tmp_path / "copilot"
    folder.mkdir()
    return folder


@pytest.fixture
def load(packaged: Path, admin: Path) -> Callable[..., Knowledge]:
    """Load both."""
    return lambda **settings: loader.load(admin, Settings(**settings))


def write(folder: Path, name: str, content: str | bytes) -> Path:
    """Write a file and give its path."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path
