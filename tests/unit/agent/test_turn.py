"""A turn's life: one terminal event, readers that come late and leave early, aborts at any moment."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from langchain_core.messages import HumanMessage
from pydantic import SecretStr

from gns3server_copilot.agent import turn as turn_module
from gns3server_copilot.agent.turn import OnDisconnect, Turn, TurnRequest
from gns3server_copilot.schemas.identity import ProjectRef, User
from gns3server_copilot.schemas.modes import Mode
from tests.unit.llm.samples import CONFIG


def make_turn(on_disconnect=OnDisconnect.ABORT, detached_seconds=60.0):
    request = TurnRequest(
        session_id="s",
        message="hello",
        user=User("u", "alice", False),
        project=ProjectRef("p", "lab", "/lab"),
        mode=Mode.TEACHING,
        config=replace(CONFIG, api_key=SecretStr("the-key")),
        token="the-token",
        on_disconnect=on_disconnect,
    )
    return Turn(request, HumanMessage("hello", id="q"), detached_seconds)


async def conclude(turn, ending):
    turn.emit("abort" if isinstance(ending, asyncio.CancelledError) else "error" if ending else "done")


async def read(turn, heartbeat_seconds=60):
    with turn.reading():
        return [event["type"] async for event in turn.events.follow(heartbeat_seconds)]


async def test_every_reader_gets_all_events_from_the_first_on_also_after_the_end():
    turn = make_turn()

    async def run(turn):
        turn.emit("content", content="a")
        turn.emit("content", content="b")

    turn.start(run, conclude)
    assert await read(turn) == ["content", "content", "done"]
    assert await read(turn) == ["content", "content", "done"]


async def test_an_event_after_the_end_is_dropped():
    turn = make_turn()
    turn.start(lambda turn: asyncio.sleep(0), conclude)
    await turn.wait()
    turn.emit("content", content="late")
    assert await read(turn) == ["done"]


async def test_silence_is_filled_with_heartbeats():
    turn = make_turn()
    go_on = asyncio.Event()

    async def run(turn):
        await go_on.wait()

    turn.start(run, conclude)
    kinds = []
    async for event in turn.events.follow(0.01):
        kinds.append(event["type"])
        if len(kinds) == 3:
            go_on.set()
    assert kinds[:3] == ["heartbeat"] * 3
    assert kinds[-1] == "done"


async def hang(turn):
    await asyncio.Event().wait()


async def test_an_abort_ends_a_turn_that_hangs_and_further_aborts_do_nothing():
    turn = make_turn()
    turn.start(hang, conclude)
    turn.abort("first")
    turn.abort("second")
    assert await read(turn) == ["abort"]
    turn.abort("third")
    assert turn.abort_reason == "first"


async def test_a_turn_aborted_before_its_first_step_never_takes_it():
    turn = make_turn()
    steps = []

    async def run(turn):
        steps.append("taken")

    turn.abort("early")
    turn.start(run, conclude)
    assert await read(turn) == ["abort"]
    assert steps == []


async def test_when_the_last_reader_leaves_the_turn_is_aborted():
    turn = make_turn()
    turn.start(hang, conclude)
    with turn.reading():
        with turn.reading():
            pass
        assert turn.abort_reason is None
    await turn.wait()
    assert turn.abort_reason


async def test_a_turn_whose_reader_never_comes_is_aborted(monkeypatch):
    monkeypatch.setattr(turn_module, "FIRST_READER_SECONDS", 0.01)
    turn = make_turn()
    turn.start(hang, conclude)
    await turn.wait()
    assert turn.abort_reason


async def test_with_continue_the_turn_waits_for_a_new_reader():
    turn = make_turn(OnDisconnect.CONTINUE)
    go_on = asyncio.Event()

    async def run(turn):
        await go_on.wait()

    turn.start(run, conclude)
    with turn.reading():
        pass
    go_on.set()
    assert await read(turn) == ["done"]
    assert turn.abort_reason is None


async def test_with_continue_a_turn_that_nobody_comes_back_to_is_aborted_in_the_end():
    turn = make_turn(OnDisconnect.CONTINUE, detached_seconds=0.01)
    turn.start(hang, conclude)
    with turn.reading():
        pass
    await turn.wait()
    assert await read(turn) == ["abort"]


async def test_the_turn_ends_even_when_its_bookkeeping_fails():
    turn = make_turn()

    async def broken(turn, ending):
        raise RuntimeError("disk full")

    turn.start(lambda turn: asyncio.sleep(0), broken)
    async with asyncio.timeout(5):
        assert await read(turn) == []


@pytest.mark.parametrize("secret", ["the-token", "the-key"])
async def test_secrets_do_not_show_in_a_turn_s_description(secret):
    turn = make_turn()
    assert secret not in repr(turn.request)
