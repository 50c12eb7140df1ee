"""What packets say is whoever sent them's to choose: made printable and short before a model reads it."""

from __future__ import annotations

from typing import Any

from gns3server_copilot.gns3.text import clipped, printable

MAX_TEXT = 240
MAX_LIST = 40


def tidy(value: Any) -> Any:
    """Give plain data with every text on one line, without control characters, and with long texts and lists cut."""
    if isinstance(value, str):
        return clipped(printable(value), MAX_TEXT)
    if isinstance(value, dict):
        return {clipped(printable(key), MAX_TEXT): tidy(member) for key, member in value.items()}
    if isinstance(value, list | tuple):
        members = [tidy(member) for member in value]
        return members if len(members) <= MAX_LIST else [*members[:MAX_LIST], f"… {len(members) - MAX_LIST} more"]
    return value
