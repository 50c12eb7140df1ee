"""What is read in a thread is what others have written, whatever the database is, and errors come through."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from sqlalchemy import Connection, text
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from gns3server_copilot.utils.reading import read, stop_reading


@pytest.fixture(params=["file", "memory"])
async def engine(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[AsyncEngine]:
    """A database with one row."""
    place = f"/{tmp_path}/a b.db" if request.param == "file" else ""
    engine = create_async_engine(f"sqlite+aiosqlite://{place}")
    async with engine.begin() as connection:
        await connection.execute(text("CREATE TABLE words (word TEXT)"))
    yield engine
    stop_reading(engine)
    await engine.dispose()


def words(connection: Connection) -> list[str]:
    return list(connection.execute(text("SELECT word FROM words")).scalars())


async def test_each_read_sees_what_is_committed(engine: AsyncEngine) -> None:
    assert await read(engine, words) == []
    async with engine.begin() as connection:
        await connection.execute(text("INSERT INTO words VALUES ('one')"))
    assert await read(engine, words) == ["one"]


async def test_errors_of_the_work_are_the_readers(engine: AsyncEngine) -> None:
    def fails(connection: Connection) -> None:
        raise LookupError("no such user")

    with pytest.raises(LookupError, match="no such user"):
        await read(engine, fails)
    assert await read(engine, words) == []


async def test_a_reader_that_was_stopped_begins_anew(engine: AsyncEngine) -> None:
    assert await read(engine, words) == []
    stop_reading(engine)
    assert await read(engine, words) == []
