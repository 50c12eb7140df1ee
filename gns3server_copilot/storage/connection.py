"""The one connection to a project's chat database, shared by LangGraph's saver and our own tables."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar

from gns3server_copilot.errors import StorageError
from gns3server_copilot.storage.failures import CLOSED, explain, is_in_use

log = logging.getLogger(__name__)

#: How long a statement waits for another program's lock, in milliseconds.
BUSY_TIMEOUT = 5_000
#: The same once that was in vain, until the lock is gone: a turn has many statements and may wait 10 s in all.
IMPATIENT_TIMEOUT = 250

T = TypeVar("T")
Work = Callable[[sqlite3.Connection], T]


class SharedConnection:
    """One SQLite connection in a thread of its own, to which everybody brings whole pieces of work.

    Two connections to one file answer "database is locked" as soon as turns run in parallel. One after the other in
    one thread needs no lock, and a transaction of several statements costs one change of threads. A piece of work that
    has begun goes on to its end when its caller is cancelled; it is never left half done.
    """

    def __init__(self, thread: ThreadPoolExecutor, connection: sqlite3.Connection) -> None:
        #: for LangGraph's saver, whose methods are called in pieces of work only
        self.connection = connection
        self._thread = thread
        self._busy_timeout = BUSY_TIMEOUT
        self._closing: asyncio.Task[None] | None = None

    @classmethod
    async def open(cls, connect: Callable[[], sqlite3.Connection]) -> SharedConnection:
        """Give the connection that `connect` makes; it is called in the connection's own thread."""
        thread = ThreadPoolExecutor(1, "copilot-database")
        try:
            return cls(thread, await asyncio.get_running_loop().run_in_executor(thread, connect))
        except BaseException:
            thread.shutdown(wait=False)
            raise

    async def read(self, work: Work[T]) -> T:
        """Give what `work` gives. Raises StorageError when the database cannot be read."""
        return await self._run(partial(self._guarded, work, writing=False))

    async def write(self, work: Work[T]) -> T:
        """Give what `work` gives, in a write transaction: committed at its end, rolled back when it raises.

        Raises StorageError when the database cannot be written.
        """
        return await self._run(partial(self._guarded, partial(_in_transaction, work), writing=True))

    async def fetch(self, sql: str, parameters: Iterable[Any] = ()) -> list[sqlite3.Row]:
        """Give the rows of one query. Raises StorageError when the database cannot be read."""
        return await self.read(lambda connection: connection.execute(sql, tuple(parameters)).fetchall())

    async def give_back_space(self) -> None:
        """Make the file as small as its content. What cannot be given back now is given back another time."""
        await self._run(self._shrink)

    async def close(self) -> None:
        """Write the WAL into the file and close it. Goes on when its caller is cancelled; may be called again."""
        if self._closing is None:
            self._closing = asyncio.create_task(self._close())
        await asyncio.shield(self._closing)

    async def _run(self, work: Work[T]) -> T:
        if self._closing is not None:
            raise StorageError(CLOSED)
        return await asyncio.get_running_loop().run_in_executor(self._thread, work, self.connection)

    async def _close(self) -> None:
        try:
            await asyncio.get_running_loop().run_in_executor(self._thread, _finish, self.connection)
        finally:
            self._thread.shutdown(wait=False)

    # -- in the connection's thread

    def _guarded(self, work: Work[T], connection: sqlite3.Connection, *, writing: bool) -> T:
        try:
            result = work(connection)
        except sqlite3.Error as error:
            if is_in_use(error):
                self._wait_at_most(connection, IMPATIENT_TIMEOUT)
            raise explain(error) from error
        if writing:  # that succeeds only when no other program holds the lock
            self._wait_at_most(connection, BUSY_TIMEOUT)
        return result

    def _shrink(self, connection: sqlite3.Connection) -> None:
        try:
            # another program that reads the file must not keep everybody waiting for this
            connection.execute("PRAGMA busy_timeout = 0")
            connection.executescript(pragma_script("incremental_vacuum", "wal_checkpoint(TRUNCATE)"))
        except sqlite3.Error as error:  # what has been committed stays, also in a file with a damaged page
            log.debug("Space of a chat database was not given back: %s", error)
        finally:
            connection.execute(f"PRAGMA busy_timeout = {self._busy_timeout}")

    def _wait_at_most(self, connection: sqlite3.Connection, milliseconds: int) -> None:
        if milliseconds != self._busy_timeout:
            self._busy_timeout = milliseconds
            connection.execute(f"PRAGMA busy_timeout = {milliseconds}")


def _in_transaction(work: Work[T], connection: sqlite3.Connection) -> T:
    connection.execute("BEGIN IMMEDIATE")
    try:
        result = work(connection)
        connection.commit()
    except BaseException:
        connection.rollback()
        raise
    return result


def _finish(connection: sqlite3.Connection) -> None:
    try:
        connection.execute("PRAGMA busy_timeout = 0")
        connection.executescript(pragma_script("wal_checkpoint(TRUNCATE)"))
    except sqlite3.Error as error:  # the folder may be gone; the file closes all the same
        log.debug("A chat database was closed without a last checkpoint: %s", error)
    finally:
        connection.close()


def pragma_script(*pragmas: str) -> str:
    """Give the script that ends an open transaction and runs these pragmas to their ends.

    To be run with `executescript`: a pragma that returns rows holds the table locked until all are read, and
    `execute` with `fetchall` stops at a row without columns, of which `incremental_vacuum` gives one for every page.
    """
    return "".join(f"PRAGMA {pragma};" for pragma in pragmas)
