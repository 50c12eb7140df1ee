"""Turns with the offline model against gns3-server's real application: whatever ends them, the stream, the history and
the counters agree."""

from __future__ import annotations

import asyncio
import dataclasses
import uuid

import pytest
import pytest_asyncio
from langchain_core.messages import AIMessage

from gns3server_copilot.agent import asking as asking_module
from gns3server_copilot.agent import service as service_module
from gns3server_copilot.agent.service import AgentService
from gns3server_copilot.agent.turn import TurnRequest
from gns3server_copilot.errors import ConflictError, InvalidRequestError, NotFoundError, UnavailableError
from gns3server_copilot.schemas.identity import User
from gns3server_copilot.schemas.modes import Mode
from gns3server_copilot.settings import Settings
from tests.ground.event_rules import check_event_order
from tests.ground.sse import kinds_of, text_of
from tests.unit.agent.conftest import events_of
from tests.unit.in_process import agent_server
from tests.unit.llm.samples import CONFIG

pytestmark = pytest.mark.asyncio(loop_scope="session")

ALICE = User(str(uuid.uuid4()), "alice", True)
BOB = User(str(uuid.uuid4()), "bob", True)

OFFLINE = dataclasses.replace(CONFIG, provider="offline", model="offline", base_url="", context_limit=32, api_key=None)


@pytest_asyncio.fixture(loop_scope="session")
async def service(app_server, app_project, tmp_path):
    users = {ALICE.user_id, BOB.user_id}
    server = agent_server(app_server.app, Settings(tool_rounds=2), tmp_path)
    opened = await AgentService.open(app_project, server, users)
    yield opened
    await opened.close("The test is over.")


@pytest.fixture
def asked(app_admin, app_project):
    def make(message="/help", user=ALICE, session_id=None):
        return TurnRequest(
            session_id=session_id or str(uuid.uuid4()),
            message=message,
            user=user,
            project=app_project,
            mode=Mode.TEACHING,
            config=OFFLINE,
            token=app_admin.token,
        )

    return make


async def agree(service, request, events):
    """Check that what was streamed is what is kept."""
    check_event_order(events)
    history = await service.history(request.session_id)
    kept = "".join(message["content"] for message in history if message["role"] == "assistant")
    assert kept == text_of(events)
    ended = {event["tool_call_id"] for event in events if event["type"] == "tool_end"}
    results = {message["tool_call_id"] for message in history if message["role"] == "tool"}
    calls = [call["id"] for message in history for call in message.get("tool_calls") or []]
    assert ended <= results == set(calls)
    session = await service.session(request.session_id, request.user)
    assert session.message_count == len(history)
    assert history[-1]["role"] == "assistant"
    return history


@pytest.mark.parametrize("steps", [0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144])
@pytest.mark.parametrize("kind", [None, "tool_call", "tool_end", "content"])
async def test_an_abort_at_any_moment_loses_nothing_that_was_shown(service, asked, kind, steps):
    request = asked("/templates")
    turn = await service.start_turn(request)
    reading = asyncio.create_task(events_of(turn))
    seen = turn.events.follow(60)
    while kind is not None and (await anext(seen))["type"] != kind:
        pass
    for _ in range(steps):
        await asyncio.sleep(0)
    turn.abort("The test says so.")
    await agree(service, request, await reading)
    again = await service.start_turn(asked(session_id=request.session_id))
    assert kinds_of(await events_of(again))[-1] == "done"


async def test_the_counters_hold_after_a_turn_that_never_took_a_step(service, asked):
    request = asked()
    await events_of(await service.start_turn(request))
    turn = await service.start_turn(dataclasses.replace(request, message="again"))
    turn.abort("At once.")
    events = await events_of(turn)
    assert kinds_of(events) == ["abort", "done"]
    history = await service.history(request.session_id)
    assert [message["role"] for message in history] == ["user", "assistant", "user", "assistant"]
    assert (await service.session(request.session_id, ALICE)).message_count == 4


async def test_somebody_else_s_busy_session_does_not_exist_and_is_not_held_up(service, asked):
    request = asked("/templates")
    turn = await service.start_turn(request)
    with pytest.raises(NotFoundError):
        await service.start_turn(dataclasses.replace(request, user=BOB))
    with pytest.raises(ConflictError):
        await service.start_turn(request)
    assert service.running_turn(request.session_id, BOB) is None
    assert kinds_of(await events_of(turn))[-1] == "done"


async def test_whoever_follows_a_turn_that_cannot_start_is_told(service, asked, monkeypatch):
    preparing = asyncio.Event()
    go_on = asyncio.Event()

    async def fail(provider):
        preparing.set()
        await go_on.wait()
        raise InvalidRequestError("The package is absent.")

    monkeypatch.setattr(service_module, "prepare_provider", fail)
    request = asked()
    starting = asyncio.create_task(service.start_turn(request))
    await preparing.wait()
    following = asyncio.create_task(events_of(service.running_turn(request.session_id, ALICE)))
    await asyncio.sleep(0)
    go_on.set()
    with pytest.raises(InvalidRequestError):
        await starting
    async with asyncio.timeout(5):
        assert kinds_of(await following) == ["error"]
    assert service.running_turns == []


async def test_closing_waits_for_a_turn_that_is_being_prepared_and_lets_no_other_begin(service, asked, monkeypatch):
    preparing = asyncio.Event()
    go_on = asyncio.Event()

    async def slowly(provider):
        preparing.set()
        await go_on.wait()

    monkeypatch.setattr(service_module, "prepare_provider", slowly)
    starting = asyncio.create_task(service.start_turn(asked()))
    await preparing.wait()
    closing = asyncio.create_task(service.close("The project was closed."))
    await asyncio.sleep(0)
    with pytest.raises(UnavailableError):
        await service.start_turn(asked())
    go_on.set()
    turn = await starting
    await closing
    assert kinds_of(await events_of(turn)) == ["abort", "done"]


async def test_a_model_that_calls_tools_for_ever_is_refused_and_the_turn_ends_with_words(service, asked, monkeypatch):
    class Insistent:
        async def astream(self, messages):
            yield AIMessage("", tool_calls=[{"name": "get_gns3_templates", "args": {}, "id": "same"}])

    async def insistent(*_):
        return Insistent()

    monkeypatch.setattr(asking_module, "model_with_tools", insistent)
    request = asked("Look for ever.")
    events = await events_of(await service.start_turn(request))
    history = await agree(service, request, events)
    assert "used up" in history[-1]["content"]
    outcomes = ["used up" in event["tool_output"] for event in events if event["type"] == "tool_end"]
    assert outcomes == [False, False, True]
