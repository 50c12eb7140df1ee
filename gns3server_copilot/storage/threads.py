"""The SQL that removes LangGraph's rows: of one conversation, or of what a file should not hold."""

from __future__ import annotations

from typing import Final

#: LangGraph's two tables. Writes first: they belong to checkpoints.
TABLES: Final = ("writes", "checkpoints")

#: Each removes one table's rows of the thread `?`.
REMOVE_THREAD: Final = tuple(f"DELETE FROM {table} WHERE thread_id = ?" for table in TABLES)

#: Each removes one table's rows that are older than their thread's newest checkpoint.
_REMOVE_OLD: Final = tuple(
    f"DELETE FROM {table} WHERE checkpoint_id < (SELECT max(newest.checkpoint_id) FROM checkpoints AS newest"
    f" WHERE newest.thread_id = {table}.thread_id AND newest.checkpoint_ns = {table}.checkpoint_ns)"
    for table in TABLES
)

#: The same for every thread of the file.
PRUNE_ALL: Final = _REMOVE_OLD

#: The same for the thread `?`.
PRUNE_THREAD: Final = tuple(f"{statement} AND thread_id = ?" for statement in _REMOVE_OLD)

#: Each removes one table's rows that no session has.
REMOVE_WITHOUT_SESSION: Final = tuple(
    f"DELETE FROM {table} WHERE thread_id NOT IN (SELECT thread_id FROM chat_sessions)" for table in TABLES
)
