"""The chat database of one open project: LangGraph's checkpoints and our sessions in one SQLite file."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Collection
from contextlib import AbstractAsyncContextManager
from functools import partial

import aiosqlite

from gns3server_copilot.errors import StorageError
from gns3server_copilot.schemas.identity import ProjectRef
from gns3server_copilot.storage import threads
from gns3server_copilot.storage.checkpoints import ProjectSaver
from gns3server_copilot.storage.connection import SharedConnection
from gns3server_copilot.storage.opening import connect
from gns3server_copilot.storage.sessions import SessionStore


class ProjectDatabase:
    """One file, one connection, one lock. Not made directly: use `ProjectDatabase.open`."""

    def __init__(self, project: ProjectRef, shared: SharedConnection) -> None:
        self.project = project
        self.saver = ProjectSaver(shared)
        self.sessions = SessionStore(shared, project.project_id)
        self._shared = shared

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
            await database.saver.setup()
        except BaseException:
            await shared.close()
            raise
        return database

    def transaction(self) -> AbstractAsyncContextManager[aiosqlite.Connection]:
        """Hold the file's lock and a write transaction: committed at the end, rolled back when the body raises."""
        return self._shared.transaction()

    async def prune(self, thread_id: str) -> None:
        """Keep the newest checkpoint of the thread alone, and give the space of the others back."""
        async with self.transaction() as connection:
            for statement in threads.PRUNE_THREAD:
                await connection.execute(statement, (thread_id,))
        await self._shared.give_back_space()

    async def delete_session(self, thread_id: str) -> None:
        """Remove the session with its checkpoints and writes; nothing happens if there is none."""
        self.saver.forget(thread_id)
        async with self.transaction() as connection:
            for statement in (*threads.REMOVE_THREAD, "DELETE FROM chat_sessions WHERE thread_id = ?"):
                await connection.execute(statement, (thread_id,))
        await self._shared.give_back_space()

    async def keep_sessions_of(self, user_ids: Collection[str]) -> None:
        """Remove the sessions, with their checkpoints, of all users but these: the others no longer exist."""
        async with self.transaction() as connection:
            await connection.execute(
                "DELETE FROM chat_sessions WHERE user_id NOT IN (SELECT value FROM json_each(?))",
                (json.dumps(list(user_ids)),),
            )
            for statement in threads.REMOVE_WITHOUT_SESSION:
                await connection.execute(statement)
        await self._shared.give_back_space()

    async def close(self) -> None:
        """Close the file. Goes on when its caller is cancelled; may be called again, and without the folder."""
        await self._shared.close()
