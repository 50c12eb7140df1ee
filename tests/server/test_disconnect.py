"""Clients that disappear at any point of a stream, and those that come back."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest

from tests.ground.chat import ask, history, open_turn, session
from tests.ground.event_rules import check_event_order
from tests.ground.model_script import Answer, Gate, call, text, tool_calls
from tests.ground.projects import Projects
from tests.ground.sse import kinds_of, open_stream, text_of
from tests.ground.waiting import until
from tests.server.conftest import DETACHED

#: A turn ends so soon after its last reader has left.
LEFT_SECONDS = 2.0


@pytest.fixture(scope="module")
def shared_server(brisk_server):
    return brisk_server


LOOK = call("get_gns3_templates", {"template_type": "vpcs"}, pieces=4)
END = text("There is one.")


@dataclass
class Point:
    """Where a client leaves: it has read the last of `kinds`, and the turn waits at the gate (or at the compute)."""

    kinds: list[str]
    answers: Callable[[Gate], list[Answer]]
    on_compute: bool = False


def create_on(compute):
    node = {"template": "VPCS", "name": "PC1", "compute_id": compute.compute_id}
    return tool_calls(call("create_gns3_node", {"nodes": [node]}), text="I make one.")


POINTS = {
    "nothing": Point([], lambda gate: [text("one two three", pieces=3).held(gate)]),
    "heartbeat": Point(["heartbeat"], lambda gate: [text("one two three", pieces=3).held(gate)]),
    "content": Point(["content"], lambda gate: [text("one two three", pieces=3).held(gate, after=1)]),
    "heartbeat after content": Point(
        ["content", "heartbeat"], lambda gate: [text("one two three", pieces=3).held(gate, after=1)]
    ),
    "partial tool_call": Point(
        ["content", "tool_call"], lambda gate: [tool_calls(LOOK, text="Look.").held(gate, after=3), END]
    ),
    "complete tool_call": Point(["tool_call"], lambda gate: [], on_compute=True),
    "tool_start": Point(["tool_start"], lambda gate: [], on_compute=True),
    "heartbeat of a tool": Point(["tool_start", "heartbeat"], lambda gate: [], on_compute=True),
    "tool_end": Point(["tool_end"], lambda gate: [tool_calls(LOOK), END.held(gate)]),
    "content after a tool": Point(["tool_end", "content"], lambda gate: [tool_calls(LOOK), END.held(gate, after=2)]),
}


@pytest.fixture
async def project_on(admin, held):
    """A project that may use the held compute, and is gone before it: gns3-server closes it otherwise."""
    projects = Projects(admin)
    yield await projects.make()
    await projects.delete_all()


@pytest.fixture(params=POINTS.values(), ids=POINTS)
def leave(request, admin, project_on, held, model_server, config):
    """Gives a block in which a client has just left at the point; `go_on` lets the turn go on."""
    point: Point = request.param

    @asynccontextmanager
    async def left(session_id, **fields):
        gate = held if point.on_compute else Gate()
        model_server.script(*([create_on(held), END] if point.on_compute else point.answers(gate)))
        async with open_turn(admin, project_on, "go", session_id=session_id, **fields) as stream:
            await gate.reached()
            for kind in point.kinds:
                await stream.next(kind)
            await stream.drop()
        try:
            yield stream.events, gate.release
        finally:
            gate.release()

    return left


async def is_over(user, project, session_id):
    async def over():
        return not (await session(user, project, session_id))["running"]

    await until(over, seconds=LEFT_SECONDS, every=0.02)


def told(events):
    return [event for event in events if event["type"] != "heartbeat"]


async def test_a_turn_ends_soon_after_its_reader_has_left_and_keeps_what_had_come(
    admin, project_on, model_server, leave
):
    session_id = str(uuid.uuid4())
    async with leave(session_id) as (seen, _):
        await is_over(admin, project_on, session_id)
        messages = await history(admin, project_on, session_id)
    assert messages[0]["content"] == "go"
    assert messages[-1]["role"] == "assistant"
    assert messages[-1]["metadata"]["aborted"] is True
    assert "".join(one["content"] for one in messages if one["role"] == "assistant").startswith(text_of(seen))
    kept = await session(admin, project_on, session_id)
    assert kept["message_count"] == len(messages)
    assert kept["llm_calls_count"] == len(model_server.requests)
    model_server.when(lambda request: request.messages[-1]["content"] == "And now?", text("I am still here."))
    again = await ask(admin, project_on, "And now?", session_id=session_id)
    check_event_order(again, earlier=seen)
    assert text_of(again) == "I am still here."


async def test_with_continue_who_comes_back_gets_everything_once_and_in_order(admin, project_on, model_server, leave):
    session_id = str(uuid.uuid4())
    async with leave(session_id, on_disconnect="continue") as (seen, go_on):
        path = f"{project_on.chat}/sessions/{session_id}/events"
        assert (await session(admin, project_on, session_id))["running"] is True
        async with open_stream(admin, "GET", path) as first, open_stream(admin, "GET", path) as second:
            for _ in told(seen):  # what has been is there before anything new comes
                await first.next()
            go_on()
            events, others = await asyncio.gather(first.rest(), second.rest())
    check_event_order(events)
    assert kinds_of(events)[-1] == "done"
    assert told(events)[: len(told(seen))] == told(seen)
    assert told(events) == told(others)
    messages = await history(admin, project_on, session_id)
    assert "".join(one["content"] for one in messages if one["role"] == "assistant") == text_of(events)
    assert not any(message["metadata"].get("aborted") for message in messages)
    assert (await admin.get(path)).status_code == 404
    assert model_server.unused == 0


async def test_who_leaves_while_the_turn_is_being_stored_loses_nothing(admin, project, model_server, config):
    session_id = str(uuid.uuid4())
    for number in range(10):
        gate = Gate()
        model_server.script(text("one two", pieces=2).held(gate, after=2))
        async with open_turn(admin, project, f"go {number}", session_id=session_id) as stream:
            await stream.next("content")
            await stream.next("content")
            gate.release()
            for _ in range(number):
                await asyncio.sleep(0)
            await stream.drop()
        await is_over(admin, project, session_id)
        messages = await history(admin, project, session_id)
        assert [message["content"] for message in messages[-2:]] == [f"go {number}", "one two"]
        assert len(messages) == 2 * number + 2
    kept = await session(admin, project, session_id)
    assert (kept["message_count"], kept["llm_calls_count"]) == (20, 10)


async def test_a_turn_that_nobody_comes_back_to_is_given_up_at_its_time(admin, project, model_server, config):
    gate = Gate()
    session_id = str(uuid.uuid4())
    model_server.script(text("one two", pieces=2).held(gate, after=1))
    async with open_turn(admin, project, "go", session_id=session_id, on_disconnect="continue") as stream:
        await stream.next("content")
        await stream.drop()
    left = time.monotonic()
    assert await model_server.last_request.outcome() == "left"
    assert DETACHED * 0.9 < time.monotonic() - left < DETACHED + LEFT_SECONDS
    await is_over(admin, project, session_id)
    messages = await history(admin, project, session_id)
    assert [message["content"] for message in messages] == ["go", "one "]
    assert messages[-1]["metadata"]["aborted"] is True


async def test_who_comes_back_in_time_stops_the_clock(admin, project, model_server, config):
    gate = Gate()
    session_id = str(uuid.uuid4())
    model_server.script(text("one two", pieces=2).held(gate, after=1))
    async with open_turn(admin, project, "go", session_id=session_id, on_disconnect="continue") as stream:
        await stream.next("content")
        await stream.drop()
    async with open_stream(admin, "GET", f"{project.chat}/sessions/{session_id}/events") as stream:
        back = time.monotonic()
        while time.monotonic() - back < DETACHED * 1.5:
            assert (await stream.next("content", "heartbeat"))["type"] in ("content", "heartbeat")
        gate.release()
        events = await stream.rest()
    assert kinds_of(told(events)) == ["content", "done"]


async def test_one_of_two_readers_may_leave(admin, project, model_server, config):
    gate = Gate()
    session_id = str(uuid.uuid4())
    model_server.script(text("one two", pieces=2).held(gate, after=1))
    async with open_turn(admin, project, "go", session_id=session_id) as first:
        await first.next("content")
        async with open_stream(admin, "GET", f"{project.chat}/sessions/{session_id}/events") as second:
            await second.next("content")
            await first.drop()
            await second.next("heartbeat")
            await second.next("heartbeat")
            gate.release()
            events = await second.rest()
    assert kinds_of(told(events)) == ["content", "done"]
