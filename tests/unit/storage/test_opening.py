from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import shutil
import sqlite3
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import ormsgpack
import pytest
from langgraph.checkpoint.base import empty_checkpoint

from gns3server_copilot.errors import StorageError
from gns3server_copilot.schemas.identity import ProjectRef
from gns3server_copilot.storage import opening
from gns3server_copilot.storage.database import ProjectDatabase
from tests.unit.storage.conftest import ALICE, BOB, Ask, finish, rows, thread_config
from tests.unit.storage.plants import PLANTS

NOBODY = 65534


async def open_and_close(project: ProjectRef) -> None:
    await (await ProjectDatabase.open(project)).close()


def set_aside(file: Path) -> list[str]:
    """The names of the files set aside, without those of what lay beside them."""
    return sorted(path.name for path in file.parent.glob("*.corrupt-*") if not path.name.endswith(("-wal", "-shm")))


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


# -- the file


async def test_folder_and_files_are_for_their_owner_alone(project: ProjectRef, file: Path) -> None:
    database = await ProjectDatabase.open(project)
    await database.sessions.create("t", ALICE)
    assert mode(file.parent) == 0o700
    assert sorted(path.name for path in file.parent.iterdir()) == [f"{file.name}{end}" for end in ("", "-shm", "-wal")]
    assert {mode(path) for path in file.parent.iterdir()} == {0o600}
    await database.close()
    assert [path.name for path in file.parent.iterdir()] == [file.name]


async def test_a_file_that_others_may_read_is_closed_to_them(project: ProjectRef, file: Path) -> None:
    await open_and_close(project)
    file.chmod(0o664)
    await open_and_close(project)
    assert mode(file) == 0o600


async def test_the_settings_of_the_connection(database: ProjectDatabase) -> None:
    expected = {
        "journal_mode": "wal",
        "busy_timeout": 5000,
        "auto_vacuum": 2,
        "synchronous": 1,
        "foreign_keys": 1,
        "journal_size_limit": 1024 * 1024,
        "trusted_schema": 0,
        "secure_delete": 2,
    }
    for name, value in expected.items():
        assert await rows(database, f"PRAGMA {name}") == [(value,)], name


async def test_a_linked_folder_is_refused(project: ProjectRef, file: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    file.parent.symlink_to(elsewhere)
    with pytest.raises(StorageError, match="link"):
        await ProjectDatabase.open(project)
    assert list(elsewhere.iterdir()) == []


@pytest.mark.parametrize("suffix", ["", "-wal", "-shm", "-journal"])
@pytest.mark.parametrize("exists", [True, False])
async def test_a_link_is_set_aside_and_not_followed(
    project: ProjectRef, file: Path, tmp_path: Path, suffix: str, exists: bool
) -> None:
    victim = tmp_path / "victim"
    if exists:
        victim.write_text("precious")
    file.parent.mkdir()
    link = Path(f"{file}{suffix}")
    link.symlink_to(victim)
    await open_and_close(project)
    assert victim.exists() is exists
    assert not exists or victim.read_text() == "precious"
    assert file.is_file()
    assert not link.is_symlink()
    (kept,) = file.parent.glob("*.corrupt-*")
    assert kept.is_symlink()


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo], ids=["folder", "pipe"])
@pytest.mark.parametrize("suffix", ["", "-wal"])
async def test_what_is_no_plain_file_is_set_aside(
    project: ProjectRef,
    file: Path,
    make: Callable[[Path], None],
    suffix: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    file.parent.mkdir()
    make(Path(f"{file}{suffix}"))
    await open_and_close(project)
    assert file.is_file()
    assert len(list(file.parent.glob("*.corrupt-*"))) == 1
    assert "is not a plain file" in caplog.text


async def test_a_link_beside_a_database_costs_it_nothing(
    project: ProjectRef, file: Path, ask: Ask, tmp_path: Path
) -> None:
    database = await ProjectDatabase.open(project)
    session = await database.sessions.create("t1", "alice")
    await database.close()
    Path(f"{file}-journal").symlink_to(tmp_path / "victim")
    database = await ProjectDatabase.open(project)
    kept = await database.sessions.get("t1")
    await database.close()
    assert kept is not None
    assert kept.id == session.id


async def test_a_file_in_place_of_the_folder_is_refused(project: ProjectRef, file: Path) -> None:
    file.parent.write_text("")
    with pytest.raises(StorageError, match="not a folder"):
        await ProjectDatabase.open(project)


async def test_a_project_without_its_directory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="does not exist"):
        await ProjectDatabase.open(ProjectRef("p", "Lab", str(tmp_path / "gone" / "project")))


@contextmanager
def as_ordinary_user(*owned: Path) -> Iterator[None]:
    """Permissions mean nothing to root."""
    if os.geteuid() != 0:
        yield
        return
    for path in owned:
        os.chown(path, NOBODY, NOBODY)
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def reachable_project() -> Iterator[ProjectRef]:
    """A project that users other than the one running the tests can reach; pytest's folders are private."""
    folder = tempfile.mkdtemp()
    os.chmod(folder, 0o755)
    yield ProjectRef("p", "Lab", folder)
    shutil.rmtree(folder)


async def test_a_folder_that_cannot_be_made_is_a_storage_error(reachable_project: ProjectRef) -> None:
    folder = Path(reachable_project.path)
    folder.chmod(0o555)
    with as_ordinary_user(), pytest.raises(StorageError, match="write access"):
        await ProjectDatabase.open(reachable_project)


async def test_a_file_that_cannot_be_written_is_a_storage_error(reachable_project: ProjectRef) -> None:
    await open_and_close(reachable_project)
    folder = Path(reachable_project.path) / "gns3-copilot"
    file = folder / "copilot_checkpoints.db"
    file.chmod(0o400)
    folder.chmod(0o500)
    with as_ordinary_user(folder, file), pytest.raises(StorageError, match="write access"):
        await ProjectDatabase.open(reachable_project)
    assert set_aside(file) == []


async def test_a_file_locked_by_another_program_is_a_storage_error(
    project: ProjectRef, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # at most three statements wait, and 10 s is the limit
    assert 3 * opening.OPENING_TIMEOUT < 10
    monkeypatch.setattr(opening, "OPENING_TIMEOUT", 0.05)
    await open_and_close(project)
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        for kind in ("NORMAL", "EXCLUSIVE"):
            other.executescript(f"PRAGMA locking_mode = {kind}; BEGIN IMMEDIATE")
            with pytest.raises(StorageError, match="in use by another program"):
                await ProjectDatabase.open(project)
            other.execute("ROLLBACK")
    await open_and_close(project)
    assert set_aside(file) == []


# -- what is set aside


async def test_what_is_no_database_is_set_aside(
    project: ProjectRef, file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file.parent.mkdir()
    file.write_bytes(b"no database at all" * 1000)
    with caplog.at_level(logging.INFO):
        database = await ProjectDatabase.open(project)
    await database.sessions.create("t", ALICE)
    await database.close()
    (kept,) = set_aside(file)
    assert re.fullmatch(r"copilot_checkpoints\.db\.corrupt-\d{8}T\d{6}Z", kept)
    assert (file.parent / kept).read_bytes() == b"no database at all" * 1000
    (line,) = set(caplog.messages)  # the in-process application logs once more
    assert kept in line
    assert project.project_id in line


async def test_files_set_aside_at_the_same_second_do_not_replace_each_other(project: ProjectRef, file: Path) -> None:
    file.parent.mkdir()
    for text in (b"one", b"two", b"three"):
        file.write_bytes(text * 1000)
        await open_and_close(project)
    assert len(set_aside(file)) == 3


def damage_a_page(file: Path) -> None:
    """Overwrite a page that nothing reads when the file is opened."""
    with closing(sqlite3.connect(f"file:{file}?immutable=1", uri=True)) as connection:
        (page_size,) = connection.execute("PRAGMA page_size").fetchone()
        (root,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'idx_pinned_updated'").fetchone()
    with file.open("r+b") as stream:
        stream.seek((root - 1) * page_size)
        stream.write(b"\xa5" * page_size)


async def test_a_damaged_file_is_set_aside_with_its_wal_after_an_unclean_end(
    project: ProjectRef, file: Path, tmp_path: Path, ask: Ask, caplog: pytest.LogCaptureFixture
) -> None:
    database = await ProjectDatabase.open(project)
    await database.sessions.create("t", ALICE)
    await finish(database)
    await ask(database.saver, "t", "still in the WAL")
    killed = tmp_path / "killed"
    shutil.copytree(project.path, killed)
    await database.close()
    copy = ProjectRef(project.project_id, "Lab", str(killed))
    copied_file = killed / "gns3-copilot" / file.name
    assert b"still in the WAL" in Path(f"{copied_file}-wal").read_bytes()
    damage_a_page(copied_file)
    database = await ProjectDatabase.open(copy)
    assert await database.sessions.list(ALICE) == ([], 0)
    await database.close()
    (kept,) = set_aside(copied_file)
    assert b"still in the WAL" in (copied_file.parent / f"{kept}-wal").read_bytes()
    (line,) = set(caplog.messages)  # the in-process application logs once more
    assert "quick_check" in line
    assert "\n" not in line


async def test_an_undamaged_file_is_used_after_an_unclean_end(
    project: ProjectRef, file: Path, tmp_path: Path, ask: Ask
) -> None:
    database = await ProjectDatabase.open(project)
    await database.sessions.create("t", ALICE)
    await ask(database.saver, "t", "still in the WAL")
    killed = tmp_path / "killed"
    shutil.copytree(project.path, killed)
    await database.close()
    database = await ProjectDatabase.open(ProjectRef(project.project_id, "Lab", str(killed)))
    assert len(await ask(database.saver, "t", "go on")) == 8
    await database.close()
    assert set_aside(killed / "gns3-copilot" / file.name) == []


KILLED_IN_A_TURN = """
import asyncio, os, signal, sys
from gns3server_copilot.schemas.identity import ProjectRef
from gns3server_copilot.storage.database import ProjectDatabase
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.base import empty_checkpoint

async def main():
    database = await ProjectDatabase.open(ProjectRef("p", "Lab", sys.argv[1]))
    await database.sessions.create("t", "alice")
    config = {"configurable": {"thread_id": "t", "checkpoint_ns": ""}}
    for number in range(20):
        checkpoint = {**empty_checkpoint(), "channel_values": {"messages": [HumanMessage("x" * 1000)] * (number + 1)}}
        config = await database.saver.aput(config, checkpoint, {"source": "loop", "step": number, "parents": {}}, {})
    os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main())
"""


async def test_a_killed_server_loses_no_stored_checkpoint(tmp_path: Path) -> None:
    turn = await asyncio.create_subprocess_exec(sys.executable, "-c", KILLED_IN_A_TURN, str(tmp_path))
    assert await turn.wait() == -9
    database = await ProjectDatabase.open(ProjectRef("p", "Lab", str(tmp_path)))
    found = await database.saver.aget_tuple(thread_config("t"))
    checkpoints = [one async for one in database.saver.alist(thread_config("t"))]
    await database.close()
    assert found is not None
    assert len(found.checkpoint["channel_values"]["messages"]) == 20
    assert len(checkpoints) == 1


def write_raw(file: Path, script: str, *inserts: tuple[str, tuple[Any, ...]]) -> None:
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript(script)
        for sql, values in inserts:
            connection.execute(sql, values)
        connection.commit()


def planted_checkpoint(value: Any) -> tuple[str, tuple[Any, ...]]:
    blob = ormsgpack.packb({**empty_checkpoint(), "channel_values": {"messages": [value]}})
    return "INSERT INTO checkpoints VALUES ('t', '', '1f', NULL, 'msgpack', ?, NULL)", (blob,)


@pytest.mark.parametrize("plant", PLANTS.values(), ids=PLANTS.keys())
async def test_a_file_with_a_planted_checkpoint_is_set_aside_and_runs_nothing(
    project: ProjectRef, file: Path, tmp_path: Path, plant: Callable[[Path], Any]
) -> None:
    database = await ProjectDatabase.open(project)
    await database.sessions.create("t", ALICE)
    await database.close()
    marker = tmp_path / "ran"
    write_raw(file, "", planted_checkpoint(plant(marker)))
    database = await ProjectDatabase.open(project)
    assert await database.saver.aget_tuple(thread_config("t")) is None
    await database.close()
    assert not marker.exists()
    (kept,) = set_aside(file)
    with closing(sqlite3.connect(file.parent / kept)) as connection:
        assert connection.execute("SELECT count(*) FROM checkpoints").fetchone() == (1,)


@pytest.mark.parametrize(
    ("script", "inserts"),
    [
        ("CREATE TRIGGER spy AFTER INSERT ON writes BEGIN DELETE FROM chat_sessions; END", []),
        ("CREATE VIEW spy AS SELECT * FROM chat_sessions", []),
        ("CREATE VIRTUAL TABLE spy USING fts5(text)", []),
        ("DROP TABLE writes", []),
        ("DROP TABLE chat_sessions; CREATE TABLE chat_sessions (title TEXT)", []),
        ("DROP TABLE checkpoints; CREATE TABLE checkpoints (a TEXT)", []),
        ("UPDATE chat_sessions SET title = x'00ff'", []),
        ("UPDATE chat_sessions SET message_count = 'many'", []),
        ("", [("INSERT INTO checkpoints VALUES ('t', '', '1f', NULL, 'pickle', x'00', NULL)", ())]),
        ("", [("INSERT INTO checkpoints VALUES ('t', '', '1f', NULL, 'null', x'', NULL)", ())]),
        ("", [planted_checkpoint("text")]),
        ("", [("INSERT INTO writes VALUES ('t', '', '1f', 'k', '', 0, 'messages', 'msgpack', x'01')", ())]),
        ("", [("INSERT INTO writes VALUES ('t', '', '1f', 'k', '', 0, 'x', 'msgpack', x'c1')", ())]),
    ],
)
async def test_what_we_would_not_have_written_is_set_aside(
    project: ProjectRef, file: Path, script: str, inserts: list[tuple[str, tuple[Any, ...]]]
) -> None:
    database = await ProjectDatabase.open(project)
    await database.sessions.create("t", ALICE)
    await database.close()
    write_raw(file, script, *inserts)
    database = await ProjectDatabase.open(project)
    assert await database.sessions.list(ALICE) == ([], 0)
    await database.close()
    assert len(set_aside(file)) == 1


async def test_text_that_is_no_utf8_can_be_read(project: ProjectRef, file: Path) -> None:
    database = await ProjectDatabase.open(project)
    await database.sessions.create("t", ALICE)
    await database.close()
    write_raw(file, "UPDATE chat_sessions SET title = CAST(x'41ff' AS TEXT)")
    database = await ProjectDatabase.open(project)
    session = await database.sessions.get("t")
    await database.close()
    assert session is not None
    assert session.title == "A\ufffd"


# -- what is migrated and removed


UPSTREAM = """
CREATE TABLE chat_sessions (
    id INTEGER PRIMARY KEY AUTOINCREMENT, thread_id TEXT UNIQUE NOT NULL, user_id TEXT NOT NULL,
    project_id TEXT NOT NULL, title TEXT DEFAULT 'New Conversation', message_count INTEGER DEFAULT 0,
    llm_calls_count INTEGER DEFAULT 0, input_tokens INTEGER DEFAULT 0, output_tokens INTEGER DEFAULT 0,
    total_tokens INTEGER DEFAULT 0, last_message_at TIMESTAMP, created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
    updated_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, metadata TEXT DEFAULT '{}', stats TEXT DEFAULT '{}'
);
CREATE INDEX idx_thread_id ON chat_sessions (thread_id);
"""


async def test_an_older_file_gets_its_missing_columns_and_one_form_of_time(project: ProjectRef, file: Path) -> None:
    file.parent.mkdir()
    insert = (
        "INSERT INTO chat_sessions (thread_id, user_id, project_id, title, message_count, last_message_at, updated_at,"
        " metadata) VALUES ('t', ?, ?, 'Old', NULL, '2026-01-02T03:04:05.678901', '2026-01-02 03:04:06', ?)"
    )
    values = (ALICE, project.project_id, json.dumps({"copilot_mode": "teaching_assistant"}))
    write_raw(file, UPSTREAM, (insert, values))
    database = await ProjectDatabase.open(project)
    session = await database.sessions.get("t")
    assert session is not None
    assert (session.title, session.pinned, session.message_count) == ("Old", False, 0)
    assert session.last_message_at == "2026-01-02T03:04:05.678901+00:00"
    assert session.updated_at == "2026-01-02T03:04:06.000000+00:00"
    assert session.created_at.endswith("+00:00")
    assert session.metadata == {"copilot_mode": "teaching_assistant"}
    assert (await database.sessions.set_pinned("t", True)).pinned
    ((auto_vacuum,),) = await rows(database, "PRAGMA auto_vacuum")
    await database.close()
    assert auto_vacuum == 2
    assert set_aside(file) == []


@pytest.mark.parametrize("column", ["user_id", "project_id", "title", "last_message_at", "updated_at", "metadata"])
async def test_a_file_lacking_a_column_gets_it_and_keeps_its_sessions(
    project: ProjectRef, file: Path, column: str
) -> None:
    database = await ProjectDatabase.open(project)
    await database.sessions.create("t", ALICE)
    await database.close()
    write_raw(
        file,
        f"DROP INDEX idx_user_project; DROP INDEX idx_pinned_updated; ALTER TABLE chat_sessions DROP COLUMN {column}",
    )
    database = await ProjectDatabase.open(project)
    assert await database.sessions.get("t") is not None
    await database.close()
    with closing(sqlite3.connect(file)) as connection:
        indexes = {row[1]: row[2] for row in connection.execute("PRAGMA index_list(chat_sessions)")}
    assert indexes == {"idx_user_project": 0, "idx_pinned_updated": 0, "sqlite_autoindex_chat_sessions_1": 1}


async def test_a_file_of_a_newer_version_is_left_alone(project: ProjectRef, file: Path) -> None:
    await open_and_close(project)
    write_raw(file, "PRAGMA user_version = 1000")
    with pytest.raises(StorageError, match="newer version"):
        await ProjectDatabase.open(project)
    assert set_aside(file) == []


async def test_a_copied_folder_loses_the_other_projects_chats(project: ProjectRef, tmp_path: Path, ask: Ask) -> None:
    database = await ProjectDatabase.open(project)
    await database.sessions.create("t", ALICE)
    await ask(database.saver, "t", "private")
    await database.close()
    shutil.copytree(project.path, tmp_path / "copy")
    copy = ProjectRef("another-project", "Copy", str(tmp_path / "copy"))
    database = await ProjectDatabase.open(copy)
    assert await database.sessions.get("t") is None
    assert await database.saver.aget_tuple(thread_config("t")) is None
    await database.close()
    assert b"private" not in (tmp_path / "copy" / "gns3-copilot" / "copilot_checkpoints.db").read_bytes()


async def test_checkpoints_without_a_session_are_removed(project: ProjectRef, ask: Ask) -> None:
    database = await ProjectDatabase.open(project)
    await ask(database.saver, "planted", "for whoever uses this id")
    await database.close()
    database = await ProjectDatabase.open(project)
    assert await database.saver.aget_tuple(thread_config("planted")) is None
    await database.close()


async def test_a_file_never_pruned_is_small_after_opening(project: ProjectRef, file: Path, ask: Ask) -> None:
    database = await ProjectDatabase.open(project)
    for thread_id in ("a", "b"):
        await database.sessions.create(thread_id, BOB)
        for _ in range(5):
            await ask(database.saver, thread_id, "go on")
    await database.close()
    before = file.stat().st_size
    database = await ProjectDatabase.open(project)
    assert file.stat().st_size < before / 3
    assert len(await ask(database.saver, "a", "go on")) == 24
    await database.close()
