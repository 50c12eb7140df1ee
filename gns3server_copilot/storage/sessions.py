"""The `chat_sessions` table: whose conversation it is, its title, its counters."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Final

from gns3server_copilot.errors import NoSuchSessionError
from gns3server_copilot.schemas.titles import DEFAULT_TITLE
from gns3server_copilot.storage import threads
from gns3server_copilot.storage.times import now

if TYPE_CHECKING:
    import aiosqlite

    from gns3server_copilot.storage.connection import SharedConnection

#: The metadata key that keeps an automatic title from replacing a person's.
TITLE_BY_PERSON: Final = "title_by_person"

_ORDER: Final = "ORDER BY pinned DESC, updated_at DESC, id DESC"
#: A mode is text in a JSON column that somebody else may have filled with anything.
_MODE: Final = "CASE WHEN json_valid(metadata) THEN json_extract(metadata, '$.copilot_mode') END"


@dataclass(frozen=True)
class Session:
    """One conversation of one user. Times are ISO 8601 UTC texts ending in `+00:00`."""

    id: int
    thread_id: str
    user_id: str
    project_id: str
    title: str
    message_count: int
    llm_calls_count: int
    input_tokens: int
    output_tokens: int
    total_tokens: int
    last_message_at: str | None
    created_at: str
    updated_at: str
    metadata: dict[str, Any]
    stats: dict[str, Any]
    pinned: bool

    @classmethod
    def from_row(cls, row: sqlite3.Row) -> Session:
        """Read a row; JSON that is none, or no object, counts as empty."""
        values: dict[str, Any] = dict(row)
        values["metadata"] = _object(values["metadata"])
        values["stats"] = _object(values["stats"])
        values["pinned"] = bool(values["pinned"])
        return cls(**values)


_SELECT: Final = f"SELECT {', '.join(field.name for field in fields(Session))} FROM chat_sessions"

SessionPage = tuple[list[Session], int]


class SessionStore:
    """The sessions of one project. Methods that change a session give it as it then is.

    All raise StorageError when the database cannot be used, and NoSuchSessionError for a session to change that is not
    there. Whose a session to change is, is for the caller to check, with `get_own`.
    """

    def __init__(self, shared: SharedConnection, project_id: str) -> None:
        self._shared = shared
        self._project_id = project_id

    async def get(self, thread_id: str) -> Session | None:
        """Give the session with this id, whosever it is; None if there is none."""
        rows = await self._shared.fetch(f"{_SELECT} WHERE thread_id = ?", (thread_id,))
        return Session.from_row(rows[0]) if rows else None

    async def get_own(self, thread_id: str, user_id: str) -> Session:
        """Give the user's session with this id. Raises NoSuchSessionError if there is none or it is somebody else's."""
        session = await self.get(thread_id)
        if session is None or session.user_id != user_id:
            raise NoSuchSessionError
        return session

    async def unfinished(self) -> list[Session]:
        """Give the sessions, whosever they are, with a turn whose end is not stored."""
        return [Session.from_row(row) for row in await self._shared.fetch(f"{_SELECT} WHERE unfinished ORDER BY id")]

    async def create(
        self,
        thread_id: str,
        user_id: str,
        *,
        title: str = DEFAULT_TITLE,
        metadata: Mapping[str, Any] | None = None,
        copilot_mode: str | None = None,
    ) -> Session:
        """Give the user's session with this id for a turn that begins; `title` and `metadata` are for a new one.

        It is made if there is none, and empty then even if its id was used before. `copilot_mode` is what the session,
        new or not, is listed under from now on. Raises NoSuchSessionError when it is somebody else's.
        """
        async with self._shared.transaction() as connection:
            session = await _find(connection, thread_id)
            if session is None:
                session = await self._insert(connection, thread_id, user_id, title, metadata or {})
            elif session.user_id != user_id:
                raise NoSuchSessionError
            mode = {} if copilot_mode is None else {"copilot_mode": str(copilot_mode)}
            await connection.execute(
                "UPDATE chat_sessions SET unfinished = 1, metadata = ? WHERE thread_id = ?",
                (json.dumps({**session.metadata, **mode}), thread_id),
            )
            return await _existing(connection, thread_id)

    async def _insert(
        self,
        connection: aiosqlite.Connection,
        thread_id: str,
        user_id: str,
        title: str,
        metadata: Mapping[str, Any],
    ) -> Session:
        for statement in threads.REMOVE_THREAD:
            await connection.execute(statement, (thread_id,))
        time = now()
        await connection.execute(
            "INSERT INTO chat_sessions (thread_id, user_id, project_id, title, metadata, created_at, updated_at)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            (thread_id, user_id, self._project_id, _storable(title), json.dumps(metadata), time, time),
        )
        return await _existing(connection, thread_id)

    async def list(
        self,
        user_id: str,
        mode: str | None = None,
        limit: int | None = None,
        offset: int = 0,
        q: str | None = None,
        pinned: bool | None = None,
    ) -> SessionPage:
        """Give a page of the user's sessions, pinned ones first, then the newest, and their number before paging.

        `mode` is a `copilot_mode`, `q` a part of the title in any case.
        """
        conditions = ["user_id = ?", "project_id = ?"]
        values: list[Any] = [user_id, self._project_id]
        if mode is not None:
            conditions.append(f"{_MODE} = ?")
            values.append(str(mode))
        if q:
            # not LIKE: its wildcards would need escaping, and long patterns are refused
            conditions.append("instr(casefold(title), ?) > 0")
            values.append(_storable(q).casefold())
        if pinned is not None:
            conditions.append("pinned = ?")
            values.append(int(pinned))
        where = f"WHERE {' AND '.join(conditions)}"
        page = (-1 if limit is None else limit, offset)
        rows = await self._shared.fetch(f"{_SELECT} {where} {_ORDER} LIMIT ? OFFSET ?", (*values, *page))
        if limit is None and offset == 0:
            return [Session.from_row(row) for row in rows], len(rows)
        ((total,),) = await self._shared.fetch(f"SELECT count(*) FROM chat_sessions {where}", values)
        return [Session.from_row(row) for row in rows], total

    async def record_turn(
        self,
        thread_id: str,
        message_count: int,
        llm_calls: int,
        input_tokens: int,
        output_tokens: int,
        estimated: bool,
        stats: Mapping[str, Any] | None = None,
        time: str | None = None,
    ) -> Session:
        """Set how many messages the session has, add what a turn used, and merge `stats` into its statistics.

        `estimated` says that the tokens are our own count; the session's statistics then say so for good. `time` is
        when the last message came, now if it is None.
        """
        async with self._shared.transaction() as connection:
            session = await _existing(connection, thread_id)
            merged = {**session.stats, **(stats or {})}
            if estimated:
                merged["tokens_estimated"] = True
            await connection.execute(
                "UPDATE chat_sessions SET unfinished = 0, message_count = :messages,"
                " llm_calls_count = llm_calls_count + :llm_calls, input_tokens = input_tokens + :input,"
                " output_tokens = output_tokens + :output, total_tokens = total_tokens + :input + :output,"
                " last_message_at = :time, updated_at = :time, stats = :stats WHERE thread_id = :thread_id",
                {
                    "messages": message_count,
                    "llm_calls": llm_calls,
                    "input": input_tokens,
                    "output": output_tokens,
                    "time": time or now(),
                    "stats": json.dumps(merged),
                    "thread_id": thread_id,
                },
            )
            return await _existing(connection, thread_id)

    async def rename(self, thread_id: str, title: str, *, by_person: bool) -> Session:
        """Set the title. One that a person has set is not replaced by an automatic one. The order stays."""
        async with self._shared.transaction() as connection:
            session = await _existing(connection, thread_id)
            if session.metadata.get(TITLE_BY_PERSON) and not by_person:
                return session
            metadata = {**session.metadata, TITLE_BY_PERSON: True} if by_person else session.metadata
            await connection.execute(
                "UPDATE chat_sessions SET title = ?, metadata = ? WHERE thread_id = ?",
                (_storable(title), json.dumps(metadata), thread_id),
            )
            return await _existing(connection, thread_id)

    async def set_pinned(self, thread_id: str, pinned: bool) -> Session:
        """Pin or unpin. The order among the pinned and among the others stays."""
        async with self._shared.transaction() as connection:
            await connection.execute("UPDATE chat_sessions SET pinned = ? WHERE thread_id = ?", (pinned, thread_id))
            return await _existing(connection, thread_id)


async def _find(connection: aiosqlite.Connection, thread_id: str) -> Session | None:
    for row in await connection.execute_fetchall(f"{_SELECT} WHERE thread_id = ?", (thread_id,)):
        return Session.from_row(row)
    return None


async def _existing(connection: aiosqlite.Connection, thread_id: str) -> Session:
    session = await _find(connection, thread_id)
    if session is None:
        raise NoSuchSessionError
    return session


def _object(text: object) -> dict[str, Any]:
    try:
        value = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _storable(text: str) -> str:
    # JSON may hold half a surrogate pair, which SQLite cannot store
    return text.encode("utf-8", "replace").decode("utf-8")
