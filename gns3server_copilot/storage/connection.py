"""The one connection to a project's chat database, shared by LangGraph's saver and our own tables."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sqlite3
import threading
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Any

import aiosqlite

from gns3server_copilot.errors import StorageError
from gns3server_copilot.storage.failures import CLOSED, explain, is_in_use

log = logging.getLogger(__name__)

#: How long a statement waits for another program's lock, in milliseconds.
BUSY_TIMEOUT = 5_000
#: The same once that was in vain, until the lock is gone: a turn has many statements and may wait 10 s in all.
IMPATIENT_TIMEOUT = 250
#: How long closing waits for a transaction to end, in seconds.
CLOSING_WAIT = 1.0
ROWS_AT_ONCE = 64


class SharedConnection:
    """One aiosqlite connection with the lock under which everybody uses it.

    Two connections to one file answer "database is locked" as soon as turns run in parallel. Cancelling is safe
    everywhere: aiosqlite runs what it was given in order, so what follows a cancelled statement comes after it.
    """

    def __init__(self, connection: aiosqlite.Connection) -> None:
        self.connection = connection
        self.lock = asyncio.Lock()
        self._busy_timeout = BUSY_TIMEOUT
        self._closing: asyncio.Task[None] | None = None

    @classmethod
    async def open(cls, connect: Callable[[], sqlite3.Connection]) -> SharedConnection:
        """Give the connection that `connect` makes; it is called in the connection's own thread."""
        # at DEBUG aiosqlite logs every statement with its values, whole conversations among them
        logging.getLogger("aiosqlite").setLevel(logging.INFO)
        connection = aiosqlite.Connection(connect, ROWS_AT_ONCE)
        _let_process_end(connection)
        return cls(await connection)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[aiosqlite.Connection]:
        """Hold the lock and a write transaction: committed at the end, rolled back when the body raises.

        Raises StorageError when the database cannot be written.
        """
        async with self._locked(writing=True) as connection:
            try:
                await connection.execute("BEGIN IMMEDIATE")
                yield connection
                await connection.commit()
            except BaseException:
                await self._roll_back()
                raise

    async def fetch(self, sql: str, parameters: Iterable[Any] = ()) -> list[sqlite3.Row]:
        """Give the rows of one query. Raises StorageError when the database cannot be read."""
        async with self.lock, self.guarded():
            return list(await self.connection.execute_fetchall(sql, parameters))

    async def give_back_space(self) -> None:
        """Make the file as small as its content. What cannot be given back now is given back another time."""
        async with self._locked():
            try:
                # another program that reads the file must not keep everybody waiting for this
                await self._set_busy_timeout(0)
                await self.connection.executescript(pragma_script("incremental_vacuum", "wal_checkpoint(TRUNCATE)"))
            except sqlite3.OperationalError as error:
                log.debug("Space of a chat database was not given back: %s", error)
            finally:
                await self._set_busy_timeout(self._busy_timeout)

    @asynccontextmanager
    async def guarded(self, *, writing: bool = False) -> AsyncIterator[None]:
        """Turn SQLite's errors inside into StorageError, and leave no half transaction behind them.

        For whoever uses the connection by itself, as LangGraph's saver does. `writing` says that the body can only
        succeed when no other program holds the lock for writing.
        """
        if self._closing is not None:
            raise StorageError(CLOSED)
        try:
            yield
        except sqlite3.Error as error:
            if self._closing is not None:
                raise StorageError(CLOSED) from error
            await self._roll_back()
            if is_in_use(error):
                await self._wait_at_most(IMPATIENT_TIMEOUT)
            raise explain(error) from error
        except ValueError as error:  # aiosqlite's "no active connection"
            if self._closing is not None:
                raise StorageError(CLOSED) from error
            raise
        if writing:
            await self._wait_at_most(BUSY_TIMEOUT)

    async def close(self) -> None:
        """Write the WAL into the file and close it. Goes on when its caller is cancelled; may be called again."""
        if self._closing is None:
            self._closing = asyncio.create_task(self._close())
        await asyncio.shield(self._closing)

    async def _close(self) -> None:
        try:
            async with asyncio.timeout(CLOSING_WAIT), self.lock:
                await self.connection.commit()
                await self._set_busy_timeout(0)
                await self.connection.executescript(pragma_script("wal_checkpoint(TRUNCATE)"))
        except (TimeoutError, sqlite3.Error) as error:  # the folder may be gone; the file closes all the same
            log.debug("A chat database was closed without a last checkpoint: %s", error)
        finally:
            with contextlib.suppress(sqlite3.Error):
                await self.connection.close()

    @asynccontextmanager
    async def _locked(self, *, writing: bool = False) -> AsyncIterator[aiosqlite.Connection]:
        async with self.lock, self.guarded(writing=writing):
            # what a cancelled put of the saver has left uncommitted is whole, and would forbid a BEGIN
            await self.connection.commit()
            yield self.connection

    async def _roll_back(self) -> None:
        with contextlib.suppress(sqlite3.Error, ValueError):
            await self.connection.rollback()

    async def _wait_at_most(self, milliseconds: int) -> None:
        if milliseconds != self._busy_timeout:
            self._busy_timeout = milliseconds
            with contextlib.suppress(sqlite3.Error, ValueError):
                await self._set_busy_timeout(milliseconds)

    async def _set_busy_timeout(self, milliseconds: int) -> None:
        # not with executescript: that begins with a COMMIT, and somebody else's transaction may be open
        await self.connection.execute_fetchall(f"PRAGMA busy_timeout = {milliseconds}")


def pragma_script(*pragmas: str) -> str:
    """Give the script that ends an open transaction and runs these pragmas to their ends.

    To be run with `executescript`: a pragma that returns rows holds the table locked until all are read, and
    `execute` with `fetchall` stops at a row without columns, of which `incremental_vacuum` gives one for every page.
    """
    return "".join(f"PRAGMA {pragma};" for pragma in pragmas)


def _let_process_end(connection: aiosqlite.Connection) -> None:
    # a connection that nobody closes (an event loop dropped by its owner) must not keep the process alive
    worker = connection if isinstance(connection, threading.Thread) else getattr(connection, "_thread", None)
    if worker is not None:
        worker.daemon = True
