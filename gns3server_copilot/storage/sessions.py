"""The `chat_sessions` table: whose conversation it is, its title, its counters."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Final

from gns3server_copilot.errors import NoSuchSessionError
from gns3server_copilot.schemas.titles import DEFAULT_TITLE
from gns3server_copilot.storage import threads
from gns3server_copilot.storage.times import now

if TYPE_CHECKING:
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


_SELECT: Final = f"SELECT {', '.join(column.name for column in fields(Session))} FROM chat_sessions"

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
        mode = {} if copilot_mode is None else {"copilot_mode": str(copilot_mode)}

        def make(connection: sqlite3.Connection) -> Session:
            session = _find(connection, thread_id)
            if session is None:
                self._insert(connection, thread_id, user_id, title, {**(metadata or {}), **mode})
                return _existing(connection, thread_id)
            if session.user_id != user_id:
                raise NoSuchSessionError
            connection.execute(
                "UPDATE chat_sessions SET unfinished = 1, metadata = ? WHERE thread_id = ?",
                (json.dumps({**session.metadata, **mode}), thread_id),
            )
            return _existing(connection, thread_id)

        return await self._shared.write(make)

    def _insert(
        self,
        connection: sqlite3.Connection,
        thread_id: str,
        user_id: str,
        title: str,
        metadata: Mapping[str, Any],
    ) -> None:
        for statement in threads.REMOVE_THREAD:
            connection.execute(statement, (thread_id,))
        time = now()
        connection.execute(
            "INSERT INTO chat_sessions"
            " (thread_id, user_id, project_id, title, metadata, created_at, updated_at, unfinished)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, 1)",
            (thread_id, user_id, self._project_id, _storable(title), json.dumps(metadata), time, time),
        )

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

    async def rename(self, thread_id: str, title: str) -> Session:
        """Set the title that a person wants; no automatic one replaces it. The order stays."""

        def change(connection: sqlite3.Connection) -> Session:
            metadata = {**_existing(connection, thread_id).metadata, TITLE_BY_PERSON: True}
            connection.execute(
                "UPDATE chat_sessions SET title = ?, metadata = ? WHERE thread_id = ?",
                (_storable(title), json.dumps(metadata), thread_id),
            )
            return _existing(connection, thread_id)

        return await self._shared.write(change)

    async def set_pinned(self, thread_id: str, pinned: bool) -> Session:
        """Pin or unpin. The order among the pinned and among the others stays."""

        def change(connection: sqlite3.Connection) -> Session:
            connection.execute("UPDATE chat_sessions SET pinned = ? WHERE thread_id = ?", (pinned, thread_id))
            return _existing(connection, thread_id)

        return await self._shared.write(change)


@dataclass(frozen=True)
class TurnFigures:
    """What a turn adds to its session.

    `message_count` is the session's in all; the other figures are the turn's. `estimated` says that the tokens are our
    own count; the session's statistics then say so for good. `stats` are merged into these. `time` is when the last
    message came, now if it is None. `title` is an automatic one, which does not replace a person's.
    """

    message_count: int
    llm_calls: int
    input_tokens: int
    output_tokens: int
    estimated: bool
    stats: Mapping[str, Any] = field(default_factory=dict)
    time: str | None = None
    title: str | None = None


def record_turn(connection: sqlite3.Connection, thread_id: str, turn: TurnFigures) -> Session:
    """Add a turn to its session, and give the session. Raises NoSuchSessionError."""
    session = _existing(connection, thread_id)
    estimated = {"tokens_estimated": True} if turn.estimated else {}
    title = session.title if turn.title is None or session.metadata.get(TITLE_BY_PERSON) else turn.title
    connection.execute(
        "UPDATE chat_sessions SET unfinished = 0, title = :title, message_count = :messages,"
        " llm_calls_count = llm_calls_count + :llm_calls, input_tokens = input_tokens + :input,"
        " output_tokens = output_tokens + :output, total_tokens = total_tokens + :input + :output,"
        " last_message_at = :time, updated_at = :time, stats = :stats WHERE thread_id = :thread_id",
        {
            "title": _storable(title),
            "messages": turn.message_count,
            "llm_calls": turn.llm_calls,
            "input": turn.input_tokens,
            "output": turn.output_tokens,
            "time": turn.time or now(),
            "stats": json.dumps({**session.stats, **turn.stats, **estimated}),
            "thread_id": thread_id,
        },
    )
    return _existing(connection, thread_id)


def _find(connection: sqlite3.Connection, thread_id: str) -> Session | None:
    row = connection.execute(f"{_SELECT} WHERE thread_id = ?", (thread_id,)).fetchone()
    return None if row is None else Session.from_row(row)


def _existing(connection: sqlite3.Connection, thread_id: str) -> Session:
    session = _find(connection, thread_id)
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
