"""A project that is closed, deleted, restored or duplicated while the copilot answers in it."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import time
import uuid
import zipfile
from contextlib import asynccontextmanager

import pytest

from tests.ground.chat import ask, configure_model, history, open_turn, session
from tests.ground.event_rules import check_event_order
from tests.ground.held_compute import held_compute
from tests.ground.model_script import Gate, call, text, tool_calls
from tests.ground.open_files import DELETED, needs_proc, open_below
from tests.ground.projects import Projects
from tests.ground.sse import kinds_of, text_of
from tests.ground.users import ok

pytestmark = needs_proc

#: What gns3-server waits for us at most, and a little for what it does itself.
BOUND = 2.0
SECRET = "what only its author may read"


@pytest.fixture
async def config(admin, model_server):
    return await configure_model(admin, model_server)


@pytest.fixture
async def held(admin):
    async with held_compute(admin) as compute:
        yield compute


@pytest.fixture
async def project(admin, held):
    projects = Projects(admin)
    yield await projects.make()
    await projects.delete_all()


@asynccontextmanager
async def while_the_model_answers(admin, project, model_server, held, session_id):
    gate = Gate()
    model_server.script(text("one two three", pieces=3).held(gate, after=2))
    async with open_turn(admin, project, SECRET, session_id=session_id) as stream:
        await gate.reached()
        await stream.next("content")
        yield stream
    gate.release()


@asynccontextmanager
async def while_a_tool_waits(admin, project, model_server, held, session_id):
    node = {"template": "VPCS", "name": "PC1", "compute_id": held.compute_id}
    model_server.script(tool_calls(call("create_gns3_node", {"nodes": [node]}), text="I make one."))
    async with open_turn(admin, project, SECRET, session_id=session_id) as stream:
        await held.reached()
        yield stream
    held.release()


@pytest.fixture(params=[while_the_model_answers, while_a_tool_waits], ids=["model", "tool"])
def running(request):
    return request.param


async def timed(request):
    started = time.monotonic()
    answer = await request
    assert answer.is_success, answer.text
    assert time.monotonic() - started < BOUND
    return answer


async def stopped(stream):
    events = await stream.rest()
    check_event_order(events)
    assert kinds_of(events)[-2:] == ["abort", "done"]
    return events


async def is_whole(admin, project, session_id, events):
    """The conversation is there as it was shown, and its counters fit."""
    messages = await history(admin, project, session_id)
    assert messages[0]["content"] == SECRET
    assert messages[-1]["metadata"]["aborted"] is True
    answers = [message["content"] for message in messages if message["role"] == "assistant"]
    assert "".join(answers) == text_of(events)
    assert (await session(admin, project, session_id))["message_count"] == len(messages)


async def goes_on(admin, project, model_server, session_id):
    model_server.script(text("I am still here."))
    assert text_of(await ask(admin, project, "And now?", session_id=session_id)) == "I am still here."


async def test_closing(gns3_server, admin, project, model_server, config, held, running):
    session_id = str(uuid.uuid4())
    async with running(admin, project, model_server, held, session_id) as stream:
        await timed(admin.post(f"{project.url}/close"))
        assert open_below(gns3_server.pid, project.path) == []
        events = await stopped(stream)
    refused = await admin.post(f"{project.chat}/stream", json={"message": "hello"})
    assert refused.status_code == 403
    assert "not opened" in refused.json()["message"]
    await ok(admin.post(f"{project.url}/open"))
    await is_whole(admin, project, session_id, events)
    await goes_on(admin, project, model_server, session_id)


async def test_deleting(gns3_server, admin, project, model_server, config, held, running):
    async with running(admin, project, model_server, held, str(uuid.uuid4())) as stream:
        await timed(admin.delete(project.url))
        assert not project.path.exists()
        assert open_below(gns3_server.pid, project.path) == []
        await stopped(stream)
    gone = await admin.post(f"{project.chat}/stream", json={"message": "hello"})
    assert gone.status_code == 404


async def test_closing_and_opening_at_once(gns3_server, admin, project, model_server, config, held, running):
    session_id = str(uuid.uuid4())
    async with running(admin, project, model_server, held, session_id) as stream:
        closing = asyncio.create_task(admin.post(f"{project.url}/close"))
        await asyncio.sleep(0)
        answers = []
        while not closing.done() or not answers or answers[-1].status_code != 201:
            answers.append(await admin.post(f"{project.url}/open"))
        await timed(closing)
        await ok(admin.post(f"{project.url}/open"))  # the last one may have come before the closing
        events = await stopped(stream)
    await is_whole(admin, project, session_id, events)
    await goes_on(admin, project, model_server, session_id)


async def test_restoring_a_snapshot(gns3_server, admin, project, model_server, config, held, running):
    snapshot = await ok(admin.post(f"{project.url}/snapshots", json={"name": "before"}))
    session_id = str(uuid.uuid4())
    async with running(admin, project, model_server, held, session_id) as stream:
        await timed(admin.post(f"{project.url}/snapshots/{snapshot['snapshot_id']}/restore"))
        assert open_below(gns3_server.pid, project.path) == []
        events = await stopped(stream)
    await is_whole(admin, project, session_id, events)
    await goes_on(admin, project, model_server, session_id)
    # it writes into the file that is there, not into one that was removed
    assert not [name for name in open_below(gns3_server.pid, project.path) if name.endswith(DELETED)]
    with sqlite3.connect(project.chat_database) as database:
        assert database.execute("SELECT message_count FROM chat_sessions").fetchall()[0][0] >= 4
    await ok(admin.post(f"{project.url}/close"))
    await ok(admin.post(f"{project.url}/open"))
    assert (await history(admin, project, session_id))[-1]["content"] == "I am still here."


async def test_duplicating(gns3_server, admin, project, model_server, config, held, running):
    session_id = str(uuid.uuid4())
    async with running(admin, project, model_server, held, session_id) as stream:
        answer = await timed(admin.post(f"{project.url}/duplicate", json={"name": f"{project.name}-copy"}))
        events = await stopped(stream)
    copy = project.path.parent / answer.json()["project_id"]
    assert copy.exists()
    assert not [path for path in copy.rglob("*") if "copilot" in path.name]
    assert not [path for path in copy.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()]
    await ok(admin.delete(f"/v3/projects/{copy.name}"))
    await is_whole(admin, project, session_id, events)
    await goes_on(admin, project, model_server, session_id)


async def test_taking_a_snapshot_and_exporting_disturb_no_turn_and_take_nothing_of_it(
    gns3_server, admin, project, model_server, config
):
    gate = Gate()
    model_server.script(text("one two three", pieces=3).held(gate, after=2))
    async with open_turn(admin, project, SECRET) as stream:
        await gate.reached()
        await ok(admin.post(f"{project.url}/snapshots", json={"name": "meanwhile"}))
        assert (await admin.get(f"{project.url}/export")).is_success
        gate.release()
        events = await stream.rest()
    assert kinds_of(events) == ["content", "done"]
    (archive,) = (project.path / "snapshots").glob("*.gns3project")
    assert SECRET.encode() not in archive.read_bytes()
    assert not [name for name in zipfile.ZipFile(archive).namelist() if "copilot" in name]


async def test_a_project_whose_folder_was_removed_under_a_turn_ends_it_with_an_error_and_closes(
    gns3_server, admin, project, model_server, config
):
    gate = Gate()
    model_server.script(text("one two three", pieces=3).held(gate, after=2))
    async with open_turn(admin, project, "hello") as stream:
        await gate.reached()
        for path in project.chat_database.parent.iterdir():
            path.unlink()
        os.rmdir(project.chat_database.parent)
        gate.release()
        events = await stream.rest()
    assert kinds_of(events)[-1] in ("done", "error")
    await timed(admin.post(f"{project.url}/close"))
    assert open_below(gns3_server.pid, project.path) == []
    await ok(admin.post(f"{project.url}/open"))
    model_server.script(text("A new beginning."))
    assert text_of(await ask(admin, project, "hello")) == "A new beginning."
