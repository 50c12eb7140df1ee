"""Reads of gns3-server's database that every request waits for, in one change of threads.

Through an asynchronous engine each query changes threads five times, and its connection once more: three queries take
as long as all the rest of what happens before a model is asked. SQLite is therefore read by a plain engine in a thread.
"""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar, cast

from sqlalchemy import Connection, Engine, create_engine
from sqlalchemy.ext.asyncio import AsyncEngine

from gns3server_copilot.utils.uncancelled import uncancelled

T = TypeVar("T")

#: What gns3-server itself waits for a lock, in seconds.
BUSY_SECONDS = 20
WIDTH = 4

#: Not the loop's own threads: those may all be busy with imports and files.
_threads = ThreadPoolExecutor(WIDTH, "copilot-reading")
_plain: weakref.WeakKeyDictionary[AsyncEngine, Engine] = weakref.WeakKeyDictionary()


async def read(engine: AsyncEngine, work: Callable[[Connection], T]) -> T:
    """Give what `work` gives, which reads through the connection and may raise; other databases than SQLite too."""
    if engine.dialect.driver != "aiosqlite" or engine.url.database in (None, "", ":memory:"):
        return cast("T", await _through(engine, work))
    return await asyncio.get_running_loop().run_in_executor(_threads, _read, _plain_engine(engine), work)


def stop_reading(engine: AsyncEngine) -> None:
    """Close what `read` has opened for this engine."""
    if plain := _plain.pop(engine, None):
        plain.dispose()


@uncancelled
async def _through(engine: AsyncEngine, work: Callable[[Connection], Any]) -> Any:
    async with engine.connect() as connection:
        return await connection.run_sync(work)


def _read(engine: Engine, work: Callable[[Connection], T]) -> T:
    with engine.connect() as connection:
        return work(connection)


def _plain_engine(engine: AsyncEngine) -> Engine:
    plain = _plain.get(engine)
    if plain is None:
        url = engine.url.set(drivername="sqlite")
        plain = create_engine(url, pool_size=WIDTH, connect_args={"timeout": BUSY_SECONDS})
        _plain[engine] = plain
    return plain
