"""A chat database that cannot be used: the same plain answer on every route, and the server goes on."""

from __future__ import annotations

import shutil
import sqlite3
import uuid
from contextlib import closing

import pytest

from tests.ground.chat import ask, configure_model, open_turn, session
from tests.ground.model_script import Gate, text
from tests.ground.sse import text_of


@pytest.fixture
async def user(make_user):
    made = await make_user(role="User")
    await configure_model(made)
    return made


def requests(project, session_id):
    one = f"{project.chat}/sessions/{session_id}"
    return [
        ("POST", f"{project.chat}/stream", {"message": "hello"}),
        ("POST", f"{project.chat}/stream", {"message": "hello", "session_id": session_id}),
        ("POST", f"{project.chat}/inject", None),
        ("GET", f"{project.chat}/sessions", None),
        ("GET", one, None),
        ("GET", f"{one}/history", None),
        ("GET", f"{one}/events", None),
        ("POST", f"{one}/abort", None),
        ("PATCH", one, {"title": "new"}),
        ("PUT", f"{one}/pin", None),
        ("DELETE", f"{one}/pin", None),
        ("DELETE", one, None),
    ]


def link_to_nowhere(folder):
    folder.symlink_to(folder.with_name("nowhere"))


def link_to_a_folder(folder):
    target = folder.with_name("elsewhere")
    target.mkdir()
    folder.symlink_to(target)


def plain_file(folder):
    folder.write_text("not a folder")


@pytest.mark.parametrize("trouble", [link_to_nowhere, link_to_a_folder, plain_file])
async def test_what_stands_in_the_place_of_the_database_is_named_by_every_route(user, project, trouble):
    folder = project.path / "gns3-copilot"
    trouble(folder)
    session_id = str(uuid.uuid4())
    answers = [await user.request(method, path, json=body) for method, path, body in requests(project, session_id)]
    assert {answer.status_code for answer in answers} == {503}
    assert len({answer.json()["message"] for answer in answers}) == 1
    assert "Remove it, then try again." in answers[0].json()["message"]
    if folder.is_dir() and not folder.is_symlink():
        shutil.rmtree(folder)
    else:
        folder.unlink()
    assert text_of(await ask(user, project, "/help"))


async def test_a_database_that_another_program_holds_is_named_and_what_was_lost_is_put_right_later(
    admin, project, model_server
):
    await configure_model(admin, model_server)
    gate, session_id = Gate(), str(uuid.uuid4())
    model_server.script(text("one two three four", pieces=4).held(gate, after=2))
    async with open_turn(admin, project, "count", session_id=session_id) as stream:
        await gate.reached()
        with closing(sqlite3.connect(project.chat_database, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            gate.release()
            events = await stream.rest()
            assert "in use by another program" in events[-1]["error"]
            body = {"message": "again", "session_id": session_id}
            answer = await admin.post(f"{project.chat}/stream", json=body)
            assert (answer.status_code, answer.json()) == (503, {"message": events[-1]["error"]})
            assert (await admin.get(f"{project.chat}/sessions")).status_code == 200
            other.execute("ROLLBACK")
    await admin.post(f"{project.url}/close")
    await admin.post(f"{project.url}/open")
    messages = (await admin.get(f"{project.chat}/sessions/{session_id}/history")).json()["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant"]
    kept = await session(admin, project, session_id)
    assert (kept["message_count"], kept["running"]) == (2, False)
