"""Where a project's chats are. Light, so that asking whether there are any loads nothing."""

from __future__ import annotations

import os
import stat
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
