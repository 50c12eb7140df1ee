from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import ormsgpack
import pytest
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage
from langgraph.checkpoint.base import Checkpoint, empty_checkpoint

from gns3server_copilot.errors import StorageError
from gns3server_copilot.schemas.identity import ProjectRef
from gns3server_copilot.storage.database import ProjectDatabase
from tests.unit.storage.conftest import ALICE, Ask, finish, thread_config
from tests.unit.storage.plants import PLANTS, shell_command

CONFIG = thread_config("t")
METADATA: Any = {"source": "loop", "step": 0, "parents": {}}


def checkpoint(**channels: Any) -> Checkpoint:
    return {**empty_checkpoint(), "channel_values": channels}


async def plant(database: ProjectDatabase, **channels: Any) -> None:
    """Put a checkpoint into the open file that the saver would never have written."""
    blob = ormsgpack.packb(checkpoint(**channels))
    statement = "INSERT INTO checkpoints VALUES ('t', '', '1ffff', NULL, 'msgpack', ?, ?)"
    await database.write(lambda connection: connection.execute(statement, (blob, b"{}")).close())


def plant_write(row: tuple[Any, ...], connection: sqlite3.Connection) -> None:
    """Put the value of a step into the open file."""
    connection.execute("DELETE FROM writes")
    connection.execute("INSERT INTO writes VALUES ('t', '', ?, 'task', '', 0, ?, 'msgpack', ?)", row)


async def test_a_graph_continues_its_conversation_after_reopening(project: ProjectRef, ask: Ask) -> None:
    for turn in (1, 2, 3):
        database = await ProjectDatabase.open(project)
        await database.sessions.create("t", ALICE)
        messages = await ask(database.saver, "t", "what is R1?")
        await finish(database)
        await database.close()
        assert len(messages) == 4 * turn


@pytest.mark.parametrize("planted", PLANTS.values(), ids=PLANTS.keys())
async def test_a_planted_checkpoint_is_refused_and_runs_nothing(
    database: ProjectDatabase, planted: Callable[[Path], Any], tmp_path: Path
) -> None:
    marker = tmp_path / "ran"
    await plant(database, messages=[planted(marker)])
    with pytest.raises(StorageError, match="refused"):
        await database.saver.aget_tuple(CONFIG)
    with pytest.raises(StorageError, match="refused"):
        _ = [one async for one in database.saver.alist(CONFIG)]
    assert not marker.exists()


@pytest.mark.parametrize(
    "messages", [["hello"], [{"role": "user", "content": "x"}], "hello", {}, [None], [["a"]]], ids=repr
)
async def test_a_conversation_of_anything_but_messages_is_refused(database: ProjectDatabase, messages: Any) -> None:
    await plant(database, messages=messages)
    with pytest.raises(StorageError, match="refused"):
        await database.saver.aget_tuple(CONFIG)
    with pytest.raises(StorageError, match="refused"):
        _ = [one async for one in database.saver.alist(CONFIG)]


async def test_a_planted_pending_write_is_refused_and_runs_nothing(database: ProjectDatabase, tmp_path: Path) -> None:
    stored = await database.saver.aput(CONFIG, checkpoint(messages=[]), METADATA, {})
    for channel, value in (("messages", "hello"), ("anything", shell_command(tmp_path / "ran"))):
        row = (stored["configurable"]["checkpoint_id"], channel, ormsgpack.packb(value))
        await database.write(partial(plant_write, row))
        with pytest.raises(StorageError, match="refused"):
            await database.saver.aget_tuple(CONFIG)
    assert not (tmp_path / "ran").exists()


async def test_pending_writes_of_messages_come_back(database: ProjectDatabase) -> None:
    stored = await database.saver.aput(CONFIG, checkpoint(messages=[]), METADATA, {})
    writes = [("messages", [RemoveMessage("1"), HumanMessage("hi", id="2")]), ("messages", AIMessage("a", id="3"))]
    await database.saver.aput_writes(stored, [*writes, ("llm_calls", 1)], "task")
    found = await database.saver.aget_tuple(CONFIG)
    assert found is not None
    assert found.pending_writes == [("task", *write) for write in (*writes, ("llm_calls", 1))]


async def test_nothing_of_the_runs_configuration_is_stored(database: ProjectDatabase, file: Path) -> None:
    config: Any = {"configurable": {**CONFIG["configurable"], "token": "s3cret"}, "metadata": {"key": "s3cret"}}
    await database.saver.aput(config, checkpoint(), METADATA, {})
    found = await database.saver.aget_tuple(CONFIG)
    assert found is not None
    assert found.metadata == METADATA
    await database.close()
    assert b"s3cret" not in file.read_bytes()


async def test_no_environment_setting_widens_what_is_loaded(database: ProjectDatabase) -> None:
    assert database.saver.with_allowlist([("fractions", "Fraction")]) is database.saver


async def test_the_saver_can_be_used_while_its_checkpoints_are_listed(database: ProjectDatabase) -> None:
    for _ in range(3):
        await database.saver.aput(CONFIG, checkpoint(), METADATA, {})
    async for one in database.saver.alist(CONFIG, limit=2):
        async with asyncio.timeout(5):
            assert await database.saver.aget_tuple(one.config) is not None


async def test_a_cancelled_put_never_stops_what_comes_after_it(database: ProjectDatabase) -> None:
    for steps in range(60):
        put = asyncio.create_task(database.saver.aput(CONFIG, checkpoint(messages=[]), METADATA, {}))
        for _ in range(steps):
            await asyncio.sleep(0)
        put.cancel()
        await _rows(database, "UPDATE chat_sessions SET pinned = 0")
        await asyncio.gather(put, return_exceptions=True)
        await database.saver.aput_writes(
            {"configurable": {"thread_id": "t", "checkpoint_ns": "", "checkpoint_id": str(steps)}}, [("a", 1)], "task"
        )
    ((count,),) = await _rows(database, "SELECT count(*) FROM writes")
    assert count == 60


async def test_of_a_put_that_fails_half_way_nothing_is_stored(database: ProjectDatabase) -> None:
    await _rows(
        database,
        "CREATE TEMP TRIGGER fail BEFORE INSERT ON writes WHEN NEW.idx = 1 BEGIN SELECT RAISE(ABORT, 'no'); END",
    )
    with pytest.raises(StorageError):
        await database.saver.aput_writes(
            await database.saver.aput(CONFIG, checkpoint(), METADATA, {}), [("a", 1), ("b", 2)], "task"
        )
    assert [tuple(row) for row in await _rows(database, "SELECT count(*) FROM writes")] == [(0,)]


async def test_a_failed_put_leaves_no_open_transaction(database: ProjectDatabase, file: Path) -> None:
    other = sqlite3.connect(file, isolation_level=None)
    await _rows(database, "PRAGMA busy_timeout = 10")
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StorageError, match="in use by another program"):
        await database.saver.aput(CONFIG, checkpoint(), METADATA, {})
    # with a transaction still open our view would now be too old to write
    other.execute("UPDATE chat_sessions SET pinned = 1")
    other.execute("COMMIT")
    other.close()
    await database.saver.aput(CONFIG, checkpoint(), METADATA, {})


async def test_a_saver_whose_file_is_closed_says_so(database: ProjectDatabase) -> None:
    await database.close()
    with pytest.raises(StorageError, match="has been closed"):
        await database.saver.aget_tuple(CONFIG)
    with pytest.raises(StorageError, match="has been closed"):
        await database.saver.aput(CONFIG, checkpoint(), METADATA, {})


async def _rows(database: ProjectDatabase, sql: str) -> list[Any]:
    return await database.write(lambda connection: connection.execute(sql).fetchall())
