"""Where a project's chats are. Light, so that asking whether there are any loads nothing."""

from __future__ import annotations

from pathlib import Path

DIRECTORY = "gns3-copilot"
FILE = "copilot_checkpoints.db"


def database_path(project_path: Path) -> Path:
    """Give the path of the chat database of the project in this folder."""
    return project_path / DIRECTORY / FILE
