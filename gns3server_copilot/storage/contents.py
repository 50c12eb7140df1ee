"""What a chat database may hold. Everything else means that somebody else wrote it."""

from __future__ import annotations

import json
import sqlite3
from typing import Any

from langchain_core.messages import BaseMessage

from gns3server_copilot.errors import StorageError
from gns3server_copilot.storage.failures import DamagedFileError
from gns3server_copilot.storage.migrations import COLUMNS
from gns3server_copilot.storage.serializer import REFUSED, CheckpointSerializer

MESSAGES_CHANNEL = "messages"
_MAPPINGS = ("channel_values", "channel_versions", "versions_seen")


def check_checkpoint(checkpoint: Any) -> None:
    """Raise StorageError unless this is a checkpoint whose conversation consists of messages."""
    if not isinstance(checkpoint, dict) or not isinstance(checkpoint.get("id"), str):
        raise StorageError(REFUSED)
    if not all(isinstance(checkpoint.get(name), dict) for name in _MAPPINGS):
        raise StorageError(REFUSED)
    messages = checkpoint["channel_values"].get(MESSAGES_CHANNEL, [])
    if not isinstance(messages, list) or not _all_messages(messages):
        raise StorageError(REFUSED)


def check_write(channel: str, value: Any) -> None:
    """Raise StorageError if this is a write to the conversation that is neither a message nor a list of them."""
    if channel == MESSAGES_CHANNEL and not _all_messages(value if isinstance(value, list) else [value]):
        raise StorageError(REFUSED)


def refuse_foreign_schema(connection: sqlite3.Connection) -> None:
    """Raise DamagedFileError if the file brings code of its own: triggers, views or virtual tables."""
    code = connection.execute(
        "SELECT name FROM sqlite_master WHERE type NOT IN ('table', 'index') OR sql LIKE 'CREATE VIRTUAL%' LIMIT 1"
    ).fetchone()
    if code is not None:
        raise DamagedFileError("it holds a trigger, a view or a virtual table")


def refuse_foreign_sessions(connection: sqlite3.Connection) -> None:
    """Raise DamagedFileError if a session's row holds other kinds of values than we write."""
    expected = {name: "'integer'" if kind.startswith("INTEGER") else "'text'" for name, kind in COLUMNS.items()}
    expected["last_message_at"] = "'text', 'null'"
    odd = " OR ".join(f"typeof({name}) NOT IN ({kinds})" for name, kinds in expected.items())
    if connection.execute(f"SELECT id FROM chat_sessions WHERE {odd} LIMIT 1").fetchone() is not None:
        raise DamagedFileError("its chat_sessions table holds values of the wrong kind")


def refuse_foreign_contents(connection: sqlite3.Connection) -> None:
    """Raise DamagedFileError if a checkpoint or a write could not be loaded. Loads and runs nothing."""
    serializer = CheckpointSerializer()
    try:
        for kind, blob, metadata in connection.execute("SELECT type, checkpoint, metadata FROM checkpoints"):
            check_checkpoint(serializer.placeholder((kind, blob)))
            if metadata is not None and not isinstance(json.loads(metadata), dict):
                raise StorageError(REFUSED)
        for channel, kind, blob in connection.execute("SELECT channel, type, value FROM writes"):
            check_write(channel, serializer.placeholder((kind, blob)))
    except (StorageError, ValueError, TypeError, RecursionError) as error:
        raise DamagedFileError("it holds a checkpoint that is not made of chat messages and plain values") from error


def _all_messages(values: list[Any]) -> bool:
    return all(isinstance(value, BaseMessage) for value in values)
