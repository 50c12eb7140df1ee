from __future__ import annotations

import asyncio
import logging
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.base import empty_checkpoint

from gns3server_copilot.errors import CopilotError, StorageError
from gns3server_copilot.schemas.identity import ProjectRef
from gns3server_copilot.storage import connection as connection_module
from gns3server_copilot.storage import failures, opening, serializer
from gns3server_copilot.storage.database import ProjectDatabase
from tests.unit.storage.conftest import ALICE, BOB, Ask, finish, rows, thread_config

NewThreads = Callable[[], list[threading.Thread]]


async def pinned(database: ProjectDatabase) -> bool:
    session = await database.sessions.get("t")
    assert session is not None
    return session.pinned


async def set_pinned(database: ProjectDatabase) -> None:
    await rows(database, "UPDATE chat_sessions SET pinned = 1")


# -- transactions


async def test_a_transaction_that_raises_leaves_nothing(database: ProjectDatabase) -> None:
    await database.sessions.create("t", ALICE)

    def fail(connection: sqlite3.Connection) -> None:
        connection.execute("UPDATE chat_sessions SET pinned = 1")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await database.write(fail)
    assert not await pinned(database)


async def test_a_transaction_whose_caller_is_cancelled_goes_on_to_its_end(database: ProjectDatabase) -> None:
    await database.sessions.create("t", ALICE)
    entered, go_on = threading.Event(), threading.Event()

    def pin(connection: sqlite3.Connection) -> None:
        connection.execute("UPDATE chat_sessions SET pinned = 1")
        entered.set()
        go_on.wait(10)

    task = asyncio.create_task(database.write(pin))
    await asyncio.to_thread(entered.wait, 10)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    go_on.set()
    assert await pinned(database)


async def test_a_transaction_cancelled_anywhere_never_stops_the_next(database: ProjectDatabase) -> None:
    await database.sessions.create("t", ALICE)
    for steps in range(20):
        task = asyncio.create_task(finish(database))
        for _ in range(steps):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await database.sessions.set_pinned("t", steps % 2 == 0)
        assert await pinned(database) is (steps % 2 == 0)
    assert await rows(database, "PRAGMA busy_timeout") == [(5000,)]


async def test_many_turns_at_once_do_not_lock_each_other_out(database: ProjectDatabase, ask: Ask) -> None:
    async def turn(thread_id: str) -> int:
        await database.sessions.create(thread_id, ALICE)
        messages = await ask(database.saver, thread_id, "hello")
        await finish(database, thread_id)
        return len(messages)

    assert await asyncio.gather(*(turn(str(number)) for number in range(30))) == [4] * 30


# -- pruning and deleting


async def test_pruning_keeps_the_newest_checkpoint_of_that_thread_alone(database: ProjectDatabase, ask: Ask) -> None:
    for thread_id in ("a", "b"):
        await database.sessions.create(thread_id, ALICE)
        await ask(database.saver, thread_id, "hello")
    newest = await database.saver.aget_tuple(thread_config("a"))
    of_b = await rows(database, "SELECT count(*) FROM checkpoints WHERE thread_id = 'b'")
    await finish(database, "a")
    assert [one async for one in database.saver.alist(thread_config("a"))] == [newest]
    assert await rows(database, "SELECT count(*) FROM writes WHERE thread_id = 'a'") == [(0,)]
    assert await rows(database, "SELECT count(*) FROM checkpoints WHERE thread_id = 'b'") == of_b
    assert len(await ask(database.saver, "a", "go on")) == 8


async def test_pruning_keeps_the_newest_checkpoint_of_every_namespace(database: ProjectDatabase) -> None:
    await database.sessions.create("t", ALICE)
    for namespace, number in (("sub", 1), ("sub", 2), ("", 3), ("", 4)):
        config: Any = {"configurable": {"thread_id": "t", "checkpoint_ns": namespace}}
        checkpoint = {**empty_checkpoint(), "id": str(number)}
        await database.saver.aput(config, checkpoint, {"source": "loop", "step": number, "parents": {}}, {})
    await finish(database)
    kept = "SELECT checkpoint_ns, checkpoint_id FROM checkpoints ORDER BY checkpoint_ns"
    assert await rows(database, kept) == [("", "4"), ("sub", "2")]


async def test_pending_writes_of_the_newest_checkpoint_survive_pruning(database: ProjectDatabase, ask: Ask) -> None:
    await database.sessions.create("t", ALICE)
    await ask(database.saver, "t", "hello")
    newest = await database.saver.aget_tuple(thread_config("t"))
    assert newest is not None
    await database.saver.aput_writes(newest.config, [("llm_calls", 7)], "task")
    await finish(database)
    kept = await database.saver.aget_tuple(thread_config("t"))
    assert kept is not None
    assert kept.pending_writes == [("task", "llm_calls", 7)]


async def test_pruning_gives_all_free_pages_back_and_empties_the_wal(
    database: ProjectDatabase, ask: Ask, file: Path
) -> None:
    await database.sessions.create("t", ALICE)
    for _ in range(5):
        await ask(database.saver, "t", "hello")
    await finish(database)
    assert await rows(database, "PRAGMA freelist_count") == [(0,)]
    await finish(database)
    assert Path(f"{file}-wal").stat().st_size == 0


async def test_pruning_does_not_wait_for_another_programs_reading(
    database: ProjectDatabase, ask: Ask, file: Path
) -> None:
    await database.sessions.create("t", ALICE)
    await ask(database.saver, "t", "hello")
    with closing(sqlite3.connect(file, isolation_level=None)) as reader:
        reader.executescript("BEGIN; SELECT * FROM chat_sessions")
        async with asyncio.timeout(3):
            await finish(database)
        assert await rows(database, "PRAGMA busy_timeout") == [(5000,)]
    assert len([one async for one in database.saver.alist(thread_config("t"))]) == 1


async def test_a_deleted_session_leaves_nothing_behind(database: ProjectDatabase, ask: Ask, file: Path) -> None:
    for thread_id, question in (("a", "a secret question"), ("b", "hello")):
        await database.sessions.create(thread_id, ALICE, title=question)
        await ask(database.saver, thread_id, question)
    await database.delete_session("a")
    await database.delete_session("never there")
    for table in ("chat_sessions", "checkpoints", "writes"):
        assert await rows(database, f"SELECT DISTINCT thread_id FROM {table}") == [("b",)]
    await database.close()
    assert b"secret" not in file.read_bytes()


async def test_sessions_of_users_who_no_longer_exist_are_removed(database: ProjectDatabase, ask: Ask) -> None:
    for thread_id, user in (("a", ALICE), ("b", BOB)):
        await database.sessions.create(thread_id, user)
        await ask(database.saver, thread_id, "hello")
    await database.keep_sessions_of([BOB])
    for table in ("chat_sessions", "checkpoints"):
        assert await rows(database, f"SELECT DISTINCT thread_id FROM {table}") == [("b",)]


async def test_thirty_turns_stay_small(database: ProjectDatabase, ask: Ask, file: Path) -> None:
    await database.sessions.create("t", ALICE)
    for _ in range(30):
        await ask(database.saver, "t", "hello")
        await finish(database)
    # 30 turns of 4.3 KB; unpruned they are several MB
    assert sum(path.stat().st_size for path in file.parent.iterdir()) < 300_000


# -- failures


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Waits for another program's lock are short."""
    for module in (connection_module, opening):
        monkeypatch.setattr(module, "BUSY_TIMEOUT", 50)
    monkeypatch.setattr(connection_module, "IMPATIENT_TIMEOUT", 10)


@pytest.mark.usefixtures("hasty")
async def test_a_lock_of_another_program_is_waited_for_once(project: ProjectRef, file: Path) -> None:
    database = await ProjectDatabase.open(project)
    await database.sessions.create("t", ALICE)

    async def busy_timeout() -> Any:
        ((value,),) = await database.sessions._shared.fetch("PRAGMA busy_timeout")
        return value

    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert await busy_timeout() == 50
        with pytest.raises(StorageError, match="in use by another program"):
            await set_pinned(database)
        assert not await pinned(database)
        assert await busy_timeout() == 10
        with pytest.raises(StorageError, match="in use by another program"):
            await finish(database)
        other.execute("ROLLBACK")
    await set_pinned(database)
    assert await busy_timeout() == 50
    await database.close()


async def test_a_turn_waits_ten_seconds_for_a_lock_at_most() -> None:
    statements_of_a_turn = 15
    waited = connection_module.BUSY_TIMEOUT + statements_of_a_turn * connection_module.IMPATIENT_TIMEOUT
    assert waited <= 10_000


async def test_a_full_disk_is_a_storage_error_and_can_be_got_over(database: ProjectDatabase, ask: Ask) -> None:
    await database.sessions.create("t", ALICE)
    ((pages,),) = await rows(database, "PRAGMA page_count")
    await rows(database, f"PRAGMA max_page_count = {pages}")
    with pytest.raises(StorageError, match="full"):
        await ask(database.saver, "t", "hello" * 10_000)
    assert await database.sessions.get("t") is not None
    await rows(database, "PRAGMA max_page_count = 100000")
    assert await ask(database.saver, "t", "hello")


def test_sentences_for_people_are_short_and_without_braces() -> None:
    texts = [value for name, value in vars(failures).items() if name.isupper() and isinstance(value, str)]
    for text in [*texts, serializer.REFUSED]:
        assert len(text) <= 300
        assert "{" not in text
        assert text.endswith(".")
    assert len(texts) >= 7


async def test_conversations_are_not_logged_even_at_debug(
    project: ProjectRef, ask: Ask, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    database = await ProjectDatabase.open(project)
    await database.sessions.create("t", ALICE, title="a secret title")
    await ask(database.saver, "t", "a secret question")
    await database.close()
    assert "secret" not in caplog.text


# -- opening and closing


async def test_closing_ends_the_connections_thread(project: ProjectRef, new_threads: NewThreads) -> None:
    database = await ProjectDatabase.open(project)
    await database.close()
    await database.close()
    assert new_threads() == []


async def test_a_closed_database_says_so(database: ProjectDatabase) -> None:
    await database.close()
    for use in (finish(database), database.sessions.get("t"), database.sessions.create("t", ALICE)):
        with pytest.raises(CopilotError, match="has been closed"):
            await use


async def test_a_close_that_is_cancelled_goes_on(project: ProjectRef, file: Path, new_threads: NewThreads) -> None:
    database = await ProjectDatabase.open(project)
    closing_task = asyncio.create_task(database.close())
    await asyncio.sleep(0)
    closing_task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await closing_task
    await database.close()
    assert new_threads() == []
    assert [path.name for path in file.parent.iterdir()] == [file.name]


async def test_an_opening_cancelled_anywhere_leaves_no_open_file(
    project: ProjectRef, file: Path, new_threads: NewThreads
) -> None:
    for steps in range(25):
        task = asyncio.create_task(ProjectDatabase.open(project))
        for _ in range(steps):
            await asyncio.sleep(0)
        task.cancel()
        with suppress(asyncio.CancelledError):
            await (await task).close()
        assert [path.name for path in file.parent.iterdir()] == [file.name] if file.exists() else True
    assert new_threads() == []


async def test_what_was_begun_before_closing_is_done_and_what_comes_after_it_hears_of_it(project: ProjectRef) -> None:
    database = await ProjectDatabase.open(project)
    await database.sessions.create("t", ALICE)
    begun = [asyncio.create_task(set_pinned(database)) for _ in range(5)]
    await asyncio.sleep(0)
    closing_task = asyncio.create_task(database.close())
    await asyncio.sleep(0)
    with pytest.raises(StorageError, match="has been closed"):
        await set_pinned(database)
    await asyncio.gather(*begun, closing_task)
    database = await ProjectDatabase.open(project)
    assert await pinned(database)
    await database.close()


async def test_closing_works_when_the_folder_is_gone(project: ProjectRef, ask: Ask, new_threads: NewThreads) -> None:
    database = await ProjectDatabase.open(project)
    await database.sessions.create("t", ALICE)
    await ask(database.saver, "t", "hello")
    shutil.rmtree(project.path)
    await database.close()
    assert new_threads() == []
    assert not Path(project.path).exists()


async def test_a_project_can_be_opened_again_at_once(project: ProjectRef, ask: Ask) -> None:
    for turn in (1, 2, 3):
        database = await ProjectDatabase.open(project)
        await database.sessions.create("t", ALICE)
        assert len(await ask(database.saver, "t", "hello")) == 4 * turn
        closing_task = asyncio.create_task(database.close())
        again = await ProjectDatabase.open(project)
        await again.close()
        await closing_task


async def test_two_projects_have_two_files(database: ProjectDatabase, tmp_path: Path) -> None:
    await database.sessions.create("t", ALICE)
    other = await ProjectDatabase.open(ProjectRef("other", "Other", str(tmp_path)))
    assert await other.sessions.get("t") is None
    await other.close()


UNCLOSED = """
import asyncio, sys
from gns3server_copilot.schemas.identity import ProjectRef
from gns3server_copilot.storage.database import ProjectDatabase

async def main():
    database = await ProjectDatabase.open(ProjectRef("p", "Lab", sys.argv[1]))
    if sys.argv[2] == "cancelled":
        asyncio.create_task(database.close())
    elif sys.argv[2] == "opening":
        asyncio.create_task(ProjectDatabase.open(ProjectRef("p", "Lab", sys.argv[1])))

asyncio.run(main())
"""


@pytest.mark.parametrize("way", ["forgotten", "cancelled", "opening"])
def test_a_process_ends_whatever_became_of_its_database(tmp_path: Path, way: str) -> None:
    ended = subprocess.run([sys.executable, "-c", UNCLOSED, str(tmp_path), way], timeout=60, capture_output=True)
    assert (ended.returncode, ended.stderr) == (0, b"")
