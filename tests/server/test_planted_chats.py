"""What another party has put in the place of a chat database is set aside, and nothing in it runs."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing

import ormsgpack
import pytest
from langgraph.checkpoint.base import empty_checkpoint

from tests.ground.chat import ask, configure_model, history
from tests.ground.sse import text_of
from tests.ground.users import ok
from tests.unit.storage.plants import PLANTS

LATEST = "ffffffff-ffff-6fff-bfff-ffffffffffff"


def write(path, sql, *values):
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(sql, values)


def checkpoint_with(plant):
    """A checkpoint of the conversation that is there, newer than all others, with the plant for a message."""

    def put(path, canary):
        (session_id,) = sqlite3.connect(path).execute("SELECT thread_id FROM chat_sessions").fetchone()
        blob = ormsgpack.packb({**empty_checkpoint(), "id": LATEST, "channel_values": {"messages": [plant(canary)]}})
        row = (session_id, "", LATEST, None, "msgpack", blob, b"{}")
        write(path, "INSERT INTO checkpoints VALUES (?, ?, ?, ?, ?, ?, ?)", *row)

    return put


def instead(make):
    def put(path, canary):
        path.unlink()
        make(path, canary)

    return put


def wrong_schema(path, canary):
    write(path, "DROP TABLE chat_sessions")
    write(path, "CREATE TABLE chat_sessions (title TEXT)")


def trigger(path, canary):
    write(path, "CREATE TRIGGER spy AFTER INSERT ON writes BEGIN DELETE FROM chat_sessions; END")


def link(path, canary):
    other = canary.with_name("somebody-elses.db")
    write(other, "CREATE TABLE chat_sessions (secret TEXT)")
    path.symlink_to(other)


def beside(suffix, make):
    def put(path, canary):
        make(path.with_name(path.name + suffix))

    return put


SET_ASIDE = {
    "shell command": checkpoint_with(PLANTS["shell command"]),
    "command deep inside": checkpoint_with(PLANTS["deep inside"]),
    "command inside a message": checkpoint_with(PLANTS["inside a message"]),
    "constructor": checkpoint_with(PLANTS["type that strict mode allows"]),
    "wrong schema": wrong_schema,
    "trigger": trigger,
    "no database": instead(lambda path, canary: path.write_bytes(os.urandom(5000))),
    "folder": instead(lambda path, canary: path.mkdir()),
    "full folder": instead(lambda path, canary: (path / "x").mkdir(parents=True)),
    "link": instead(link),
    "dangling link": instead(lambda path, canary: path.symlink_to(canary)),
    "pipe": instead(lambda path, canary: os.mkfifo(path)),
}
HARMLESS = {
    "nothing": instead(lambda path, canary: None),
    "empty file": instead(lambda path, canary: path.touch()),
}
BESIDE = {
    "folder as wal": beside("-wal", os.mkdir),
    "pipe as journal": beside("-journal", os.mkfifo),
    "link as shm": beside("-shm", lambda path: path.symlink_to("/etc/passwd")),
}


@pytest.fixture
async def chatted(admin, project):
    await configure_model(admin)
    events = await ask(admin, project, "/help")
    return events[0]["session_id"]


async def plant(admin, project, put, canary):
    await ok(admin.post(f"{project.url}/close"))
    put(project.chat_database, canary)
    await ok(admin.post(f"{project.url}/open"))


def aside(project):
    """How many times something was set aside; what SQLite keeps beside a file goes with it."""
    return len({path.name.partition("Z")[0] for path in project.chat_database.parent.glob("*.corrupt-*")})


async def begins_anew(admin, project, session_id):
    assert (await ok(admin.get(f"{project.chat}/sessions"))) == []
    gone = await admin.get(f"{project.chat}/sessions/{session_id}/history")
    assert gone.status_code == 404
    events = await ask(admin, project, "/help")
    await ok(admin.post(f"{project.url}/close"))
    await ok(admin.post(f"{project.url}/open"))
    kept = await history(admin, project, events[0]["session_id"])
    assert kept[-1]["content"] == text_of(events)


@pytest.mark.parametrize("put", SET_ASIDE.values(), ids=SET_ASIDE)
async def test_it_is_set_aside_with_a_word_in_the_log(gns3_server, admin, project, chatted, tmp_path, put):
    canary = tmp_path / "canary"
    since = gns3_server.log_position()
    await plant(admin, project, put, canary)
    await begins_anew(admin, project, chatted)
    assert not canary.exists()
    assert aside(project) == 1
    assert "was set aside as copilot_checkpoints.db.corrupt-" in gns3_server.log(since)
    assert project.chat_database.is_file()
    assert not project.chat_database.is_symlink()


@pytest.mark.parametrize("put", HARMLESS.values(), ids=HARMLESS)
async def test_nothing_and_an_empty_file_are_a_beginning(gns3_server, admin, project, chatted, tmp_path, put):
    await plant(admin, project, put, tmp_path / "canary")
    await begins_anew(admin, project, chatted)
    assert aside(project) == 0


@pytest.mark.parametrize("put", BESIDE.values(), ids=BESIDE)
async def test_what_stands_beside_it_costs_the_chats_nothing(gns3_server, admin, project, chatted, tmp_path, put):
    before = await history(admin, project, chatted)
    await plant(admin, project, put, tmp_path / "canary")
    assert await history(admin, project, chatted) == before
    assert aside(project) == 1
    assert text_of(await ask(admin, project, "/help", session_id=chatted))


async def test_a_link_in_place_of_the_folder_is_refused_with_a_clear_message(admin, make_project, project, chatted):
    other = await make_project()
    (other.path / "gns3-copilot").symlink_to(project.chat_database.parent)
    for answer in (
        await admin.post(f"{other.chat}/stream", json={"message": "/help"}),
        await admin.get(f"{other.chat}/sessions"),
    ):
        assert answer.status_code == 503
        assert "not a folder of its own but a link" in answer.json()["message"]
    assert (await history(admin, project, chatted))[0]["content"] == "/help"
    (other.path / "gns3-copilot").unlink()
    assert text_of(await ask(admin, other, "/help"))


@pytest.mark.parametrize("name", ["shell command", "inside a message"])
async def test_what_is_planted_into_a_file_in_use_runs_as_little(gns3_server, admin, project, chatted, tmp_path, name):
    canary = tmp_path / "canary"
    checkpoint_with(PLANTS[name])(project.chat_database, canary)
    answer = await admin.get(f"{project.chat}/sessions/{chatted}/history")
    assert answer.status_code == 503
    assert "message" in answer.json()
    refused = await ask(admin, project, "/help", session_id=chatted)
    assert refused[-1]["type"] == "error"
    assert text_of(await ask(admin, project, "/help"))  # another conversation goes on
    await ok(admin.post(f"{project.url}/close"))
    await ok(admin.post(f"{project.url}/open"))
    await begins_anew(admin, project, chatted)
    assert not canary.exists()
    assert aside(project) == 1


def test_the_canary_would_sing(tmp_path):
    """The plants are real ones: LangGraph's own serializer runs them."""
    from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

    canary = tmp_path / "canary"
    JsonPlusSerializer().loads_typed(("msgpack", ormsgpack.packb(PLANTS["shell command"](canary))))
    assert canary.exists()
