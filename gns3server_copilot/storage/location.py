"""Where a project's chats are. Light, so that asking whether there are any loads nothing."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from pathlib import Path

DIRECTORY = "gns3-copilot"
FILE = "copilot_checkpoints.db"


def database_path(project_path: Path) -> Path:
    """Give the path of the chat database of the project in this folder."""
    return project_path / DIRECTORY / FILE


def may_have_chats(project_path: Path) -> bool:
    """Tell whether the project in this folder has a chat database, or something in its place. Blocks.

    A link, an unreadable folder and the like count: opening them says what is wrong, and to take them for "no chats"
    would hide it.
    """
    path = database_path(project_path)
    try:
        if not stat.S_ISDIR(os.lstat(path.parent).st_mode):
            return True
        os.lstat(path)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return True


def is_in_chats(path: str | Path, project_folders: Iterable[str]) -> bool:
    """Tell whether a path leads to the chats of one of these projects, or to anything that has a chat database's name.

    It is judged as the disk resolves it, `..` and links included: a link may lead there, and a project's directory may
    have been set to another one's. Blocks.
    """
    real = Path(os.path.realpath(path))
    holders = [parent.parent for parent in (real, *real.parents) if parent.name == DIRECTORY]
    if not holders:
        return False
    if real.parent.name == DIRECTORY and real.name.startswith(FILE):
        return True
    folders = {Path(os.path.realpath(folder)) for folder in project_folders}
    return not folders.isdisjoint(holders)
