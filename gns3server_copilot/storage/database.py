"""The chat database of one open project: LangGraph's checkpoints and our sessions in one SQLite file."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sqlite3
from collections.abc import Collection
from functools import partial

from gns3server_copilot.errors import StorageError
from gns3server_copilot.schemas.identity import ProjectRef
from gns3server_copilot.storage import threads
from gns3server_copilot.storage.checkpoints import ProjectSaver
from gns3server_copilot.storage.connection import SharedConnection, T, Work
from gns3server_copilot.storage.opening import connect
from gns3server_copilot.storage.sessions import Session, SessionStore, TurnFigures, record_turn

#: How long the space of a turn's checkpoints is kept after it, in seconds. To give it back costs a write to the disk,
#: which no answer waits for and turns that end together share.
TIDY_SECONDS = 0.2


class ProjectDatabase:
    """One file, one connection, one thread. Not made directly: use `ProjectDatabase.open`."""

    def __init__(self, project: ProjectRef, shared: SharedConnection) -> None:
        self.project = project
        self.saver = ProjectSaver(shared)
        self.sessions = SessionStore(shared, project.project_id)
        self._shared = shared
        self._untidy = False
        self._tidying: asyncio.Task[None] | None = None

    @classmethod
    async def open(cls, project: ProjectRef) -> ProjectDatabase:
        """Open the project's chat database, made or migrated as needed.

        A file that is damaged or not ours is set aside and a new one begun. Checkpoints without a session, and
        sessions of another project (a copied folder), are removed. Raises StorageError, after at most 10 seconds,
        when there can be no database.
        """
        opening = asyncio.create_task(cls._open(project))
        try:
            return await asyncio.shield(opening)
        except asyncio.CancelledError:
            # the file must not be left open by a thread that nobody waits for
            with contextlib.suppress(StorageError):
                await (await opening).close()
            raise

    @classmethod
    async def _open(cls, project: ProjectRef) -> ProjectDatabase:
        shared = await SharedConnection.open(partial(connect, project))
        try:
            database = cls(project, shared)
            await database.saver.asetup()
        except BaseException:
            await shared.close()
            raise
        return database

    async def write(self, work: Work[T]) -> T:
        """Give what `work` gives, called with the connection in a write transaction, as `SharedConnection.write`."""
        return await self._shared.write(work)

    async def finish_turn(self, thread_id: str, turn: TurnFigures) -> Session:
        """Record a turn in its session and keep the thread's newest checkpoint alone; their space is given back soon.

        Raises NoSuchSessionError.
        """

        def finish(connection: sqlite3.Connection) -> Session:
            session = record_turn(connection, thread_id, turn)
            for statement in threads.PRUNE_THREAD:
                connection.execute(statement, (thread_id,))
            return session

        session = await self.write(finish)
        self._untidy = True
        if self._tidying is None or self._tidying.done():
            self._tidying = asyncio.create_task(self._tidy())
        return session

    async def _tidy(self) -> None:
        while self._untidy:
            await asyncio.sleep(TIDY_SECONDS)
            self._untidy = False
            with contextlib.suppress(StorageError):
                await self._shared.give_back_space()

    async def delete_session(self, thread_id: str) -> None:
        """Remove the session with its checkpoints and writes; nothing happens if there is none."""
        self.saver.forget(thread_id)

        def remove(connection: sqlite3.Connection) -> None:
            for statement in (*threads.REMOVE_THREAD, "DELETE FROM chat_sessions WHERE thread_id = ?"):
                connection.execute(statement, (thread_id,))

        await self.write(remove)
        await self._shared.give_back_space()

    async def keep_sessions_of(self, user_ids: Collection[str]) -> None:
        """Remove the sessions, with their checkpoints, of all users but these: the others no longer exist."""

        def remove_others(connection: sqlite3.Connection) -> None:
            connection.execute(
                "DELETE FROM chat_sessions WHERE user_id NOT IN (SELECT value FROM json_each(?))",
                (json.dumps(list(user_ids)),),
            )
            for statement in threads.REMOVE_WITHOUT_SESSION:
                connection.execute(statement)

        await self.write(remove_others)
        await self._shared.give_back_space()

    async def close(self) -> None:
        """Close the file. Goes on when its caller is cancelled; may be called again, and without the folder."""
        if self._tidying is not None:
            self._tidying.cancel()
        await self._shared.close()
