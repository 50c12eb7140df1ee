"""Chats whose file is locked by another program, on a full disk, or where nothing can be written."""

from __future__ import annotations

import asyncio
import sqlite3
import time
import uuid
from contextlib import closing, contextmanager
from dataclasses import dataclass

import pytest

from tests.ground.chat import ask, configure_model, history, open_turn, session
from tests.ground.disk import small_disk
from tests.ground.event_rules import check_error_text, check_event_order
from tests.ground.model_script import Answer, Gate, call, text, tool_calls
from tests.ground.sse import kinds_of, text_of
from tests.ground.users import ok

#: What a turn waits for somebody else's lock is 10 s in all; the rest is for a busy machine.
LOCK_SECONDS = 12.0


@contextmanager
def lock_on(project):
    """Hold the database's write lock, as another program would that works with the file."""
    with closing(sqlite3.connect(project.chat_database, isolation_level=None, timeout=0)) as database:
        database.execute("BEGIN IMMEDIATE")
        yield database
        database.execute("ROLLBACK")


async def is_whole(admin, project, session_id, contents):
    """The conversation has these messages, its counters fit, and a new question works."""
    messages = await history(admin, project, session_id)
    assert [message["content"] for message in messages if message["role"] != "tool"] == contents
    kept = await session(admin, project, session_id)
    assert kept["message_count"] == len(messages)
    return messages, kept


@pytest.mark.parametrize("place", ["before", "while it streams", "between two steps"])
async def test_a_lock_that_is_soon_given_up_is_waited_for(admin, project, model_server, config, place):
    session_id = str(uuid.uuid4())
    model_server.script(text("Hello."))
    await ask(admin, project, "hello", session_id=session_id)
    gate = Gate()
    if place == "between two steps":
        model_server.script(tool_calls(call("get_gns3_templates", {"name": "VPCS"})).held(gate), text("One."))
    else:
        model_server.script(text("One.").held(gate))

    async def locked():
        with lock_on(project):
            gate.release()
            await asyncio.sleep(3 if place == "before" else 1)

    locking = asyncio.create_task(locked()) if place == "before" else None
    await asyncio.sleep(0)
    async with open_turn(admin, project, "how many?", session_id=session_id) as stream:
        if locking is None:
            await gate.reached()
            locking = asyncio.create_task(locked())
        events = await stream.rest()
    await locking
    check_event_order(events)
    assert kinds_of(events)[-1] == "done"
    assert text_of(events) == "One."
    contents = ["hello", "Hello.", "how many?", *([""] if place == "between two steps" else []), "One."]
    await is_whole(admin, project, session_id, contents)


STREAMED = text("one two three", pieces=3)
LOOKED = tool_calls(call("get_gns3_templates", {"name": "VPCS"}, pieces=3), text="I look.")


@dataclass
class LockedOut:
    """A turn that is locked out in the middle, and what is done when the lock is gone."""

    answer: Answer
    words: str
    asked_again: bool = False
    opened_again: bool = False


LOCKED_OUT = [
    LockedOut(STREAMED, "one two three"),
    LockedOut(STREAMED, "one two three", asked_again=True),
    LockedOut(STREAMED, "one two three", opened_again=True),
    LockedOut(LOOKED, "I look."),
]


async def test_a_lock_that_is_held_on_ends_the_turn_in_time_and_what_had_come_is_stored_when_it_is_gone(
    admin, make_project, model_server
):
    async def locked_out(case):
        project = await make_project()
        config = await configure_model(admin, model_server, is_default=False)
        session_id, gate = str(uuid.uuid4()), Gate()
        fields = {"session_id": session_id, "config_id": config["config_id"]}
        answers = [text("Hello."), case.answer.held(gate, after=2), text("Again.")]
        model_server.script_for(config["api_key"], *answers)
        await ask(admin, project, "hello", **fields)
        async with open_turn(admin, project, "how many?", **fields) as stream:
            await gate.reached()
            with lock_on(project):
                started = time.monotonic()
                gate.release()
                events = await stream.rest()
                assert time.monotonic() - started < LOCK_SECONDS
                check_event_order(events)
                assert "in use by another program" in events[-1]["error"]
                # what can be read meanwhile is there
                assert (await history(admin, project, session_id))[2]["content"] == "how many?"
        if case.asked_again:
            assert text_of(await ask(admin, project, "again", **fields)) == "Again."
        if case.opened_again:
            await ok(admin.post(f"{project.url}/close"))
            await ok(admin.post(f"{project.url}/open"))
        messages = await history(admin, project, session_id)
        contents = [message["content"] for message in messages if message["role"] != "tool"]
        assert contents[:4] == ["hello", "Hello.", "how many?", case.words]
        assert any("in use by another program" in message["metadata"].get("error", "") for message in messages)
        kept = await session(admin, project, session_id)
        calls = 2 + case.asked_again
        assert (kept["message_count"], kept["llm_calls_count"]) == (len(messages), calls)
        assert kept["total_tokens"] == 110 * calls

    async with asyncio.TaskGroup() as group:  # they wait side by side
        for case in LOCKED_OUT:
            group.create_task(locked_out(case))


async def test_who_asks_while_the_file_is_locked_is_told_in_time(admin, project, model_server, config):
    session_id = str(uuid.uuid4())
    model_server.script(text("Hello."))
    await ask(admin, project, "hello", session_id=session_id)
    with lock_on(project):
        started = time.monotonic()
        answer = await admin.post(f"{project.chat}/stream", json={"message": "more?", "session_id": session_id})
        assert time.monotonic() - started < LOCK_SECONDS
        assert answer.status_code == 503
        assert "in use by another program" in answer.json()["message"]
        assert len(await history(admin, project, session_id)) == 2
    model_server.script(text("More."))
    assert text_of(await ask(admin, project, "more?", session_id=session_id)) == "More."


async def test_a_full_disk_ends_the_turn_with_a_clear_word_and_costs_no_earlier_one(
    gns3_server, admin, project, model_server, config
):
    session_id = str(uuid.uuid4())
    with small_disk(project.chat_database.parent, kib=512) as disk:
        try:
            model_server.script(text("Hello."))
            await ask(admin, project, "hello", session_id=session_id)
            gate = Gate()
            model_server.script(text("word " * 4000, pieces=4).held(gate, after=2))
            async with open_turn(admin, project, "a lot?", session_id=session_id) as stream:
                await gate.reached()
                disk.fill()
                gate.release()
                events = await stream.rest()
            check_event_order(events)
            assert kinds_of(events)[-1] == "error"
            assert "full" in events[-1]["error"]
            assert (await history(admin, project, session_id))[1]["content"] == "Hello."
            refused = await admin.post(f"{project.chat}/stream", json={"message": "x" * 50_000})
            said = refused.json()["message"] if refused.status_code == 503 else refused.text
            assert "full" in said
            disk.free()
            messages = await history(admin, project, session_id)
            assert [message["content"].strip() for message in messages][:3] == ["hello", "Hello.", "a lot?"]
            model_server.script(text("Here."))
            assert text_of(await ask(admin, project, "and now?", session_id=session_id)) == "Here."
            kept = await session(admin, project, session_id)
            assert kept["message_count"] == len(await history(admin, project, session_id))
        finally:
            await admin.post(f"{project.url}/close")


async def test_where_nothing_can_be_written_every_route_says_so(admin, project, model_server, config):
    session_id = str(uuid.uuid4())
    with small_disk(project.chat_database.parent, kib=512) as disk:
        try:
            model_server.script(text("Hello."))
            await ask(admin, project, "hello", session_id=session_id)
            await ok(admin.post(f"{project.url}/close"))
            disk.set_read_only(True)
            await ok(admin.post(f"{project.url}/open"))
            for answer in (
                await admin.post(f"{project.chat}/stream", json={"message": "hello"}),
                await admin.get(f"{project.chat}/sessions"),
                await admin.get(f"{project.chat}/sessions/{session_id}/history"),
            ):
                assert answer.status_code == 503
                assert "cannot be written" in answer.json()["message"]
                assert check_error_text(answer.json()["message"]) == []
            disk.set_read_only(False)
            assert len(await history(admin, project, session_id)) == 2
        finally:
            await admin.post(f"{project.url}/close")
