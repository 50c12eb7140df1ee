"""The layout of the `chat_sessions` table, and the numbered steps that bring an older file to it.

The number of the last step a file has had is its `PRAGMA user_version`. LangGraph makes its own tables.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Final

from gns3server_copilot.errors import StorageError
from gns3server_copilot.schemas.titles import DEFAULT_TITLE
from gns3server_copilot.storage.failures import DamagedFileError
from gns3server_copilot.storage.times import normalized, now

_COUNTERS: Final = ("message_count", "llm_calls_count", "input_tokens", "output_tokens", "total_tokens")
_KEY_COLUMNS: Final = {"id": "INTEGER PRIMARY KEY", "thread_id": "TEXT NOT NULL UNIQUE"}
#: These can be added to a table that lacks them.
_OTHER_COLUMNS: Final = {
    "user_id": "TEXT NOT NULL DEFAULT ''",
    "project_id": "TEXT NOT NULL DEFAULT ''",
    "title": f"TEXT NOT NULL DEFAULT '{DEFAULT_TITLE}'",
    **dict.fromkeys(_COUNTERS, "INTEGER NOT NULL DEFAULT 0"),
    "last_message_at": "TEXT",
    "created_at": "TEXT NOT NULL DEFAULT ''",
    "updated_at": "TEXT NOT NULL DEFAULT ''",
    "metadata": "TEXT NOT NULL DEFAULT '{}'",
    "stats": "TEXT NOT NULL DEFAULT '{}'",
    "pinned": "INTEGER NOT NULL DEFAULT 0",
    #: 1 from the beginning of a turn until its end is stored
    "unfinished": "INTEGER NOT NULL DEFAULT 0",
}
COLUMNS: Final = _KEY_COLUMNS | _OTHER_COLUMNS

_INDEXES: Final = (
    "CREATE INDEX IF NOT EXISTS idx_user_project ON chat_sessions (user_id, project_id)",
    "CREATE INDEX IF NOT EXISTS idx_pinned_updated ON chat_sessions (pinned DESC, updated_at DESC)",
)


def migrate(connection: sqlite3.Connection, project_id: str) -> None:
    """Bring the file to the present layout, inside the caller's transaction.

    Raises StorageError for a file of a newer version, DamagedFileError for a table that cannot be one of ours.
    """
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version > len(_STEPS):
        raise StorageError(
            "The chat database of this project was written by a newer version of the copilot. Install that version, or "
            "move the folder gns3-copilot out of the project's directory."
        )
    if not COLUMNS.keys() <= _columns(connection):
        version = 0
    for number, step in enumerate(_STEPS[version:], version + 1):
        step(connection, project_id)
        connection.execute(f"PRAGMA user_version = {number}")


def _sessions_table(connection: sqlite3.Connection, project_id: str) -> None:
    # before there were numbers, a file could have any of the columns
    present = _columns(connection)
    if not present:
        columns = ", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())
        connection.execute(f"CREATE TABLE chat_sessions ({columns})")
    elif not _KEY_COLUMNS.keys() <= present:
        raise DamagedFileError("its chat_sessions table has no id or no thread_id")
    else:
        for name in _OTHER_COLUMNS.keys() - present:
            connection.execute(f"ALTER TABLE chat_sessions ADD COLUMN {name} {_OTHER_COLUMNS[name]}")
        if "project_id" not in present:
            connection.execute("UPDATE chat_sessions SET project_id = ?", (project_id,))
        _complete_rows(connection)
    for index in _INDEXES:
        connection.execute(index)


def _complete_rows(connection: sqlite3.Connection) -> None:
    if_absent = dict.fromkeys((*_COUNTERS, "pinned", "unfinished"), "0")
    if_absent |= {"title": f"'{DEFAULT_TITLE}'", "metadata": "'{}'", "stats": "'{}'"}
    values = ", ".join(f"{name} = coalesce({name}, {value})" for name, value in if_absent.items())
    connection.execute(f"UPDATE chat_sessions SET {values}")
    times = connection.execute("SELECT id, created_at, updated_at, last_message_at FROM chat_sessions").fetchall()
    for row_id, created, updated, last_message in times:
        created = normalized(created) or normalized(updated) or now()
        connection.execute(
            "UPDATE chat_sessions SET created_at = ?, updated_at = ?, last_message_at = ? WHERE id = ?",
            (created, normalized(updated) or created, normalized(last_message), row_id),
        )


def _columns(connection: sqlite3.Connection) -> set[str]:
    return {row[1] for row in connection.execute("PRAGMA table_info(chat_sessions)")}


_Step = Callable[[sqlite3.Connection, str], None]
_STEPS: Final[tuple[_Step, ...]] = (_sessions_table,)
