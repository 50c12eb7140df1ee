"""A turn is stopped within a second whatever shape the tool has that runs in it: the real dispatch and graph carry the
tools out, a scripted model asks for them."""

from __future__ import annotations

import asyncio
import concurrent.futures
import dataclasses
import json
import pkgutil
import threading
import time
import uuid

import pytest
from pydantic import SecretStr

from gns3server_copilot.agent.turn import TurnRequest
from gns3server_copilot.schemas.modes import Mode
from gns3server_copilot.tools import registry
from gns3server_copilot.tools.base import Tool, ToolArguments
from gns3server_copilot.tools.response import succeeded
from tests.ground.event_rules import check_event_order
from tests.ground.model_script import call, text, tool_calls
from tests.ground.sse import kinds_of, text_of
from tests.unit.agent.conftest import ALICE, events_of
from tests.unit.llm.samples import CONFIG

pytestmark = pytest.mark.asyncio(loop_scope="session")

ABORT_SECONDS = 1.0


class SlowTool(Tool[ToolArguments]):
    """A tool that a test has made; `begun` is set when its work is under way."""

    name = "slow_tool"
    description = "Takes its time."
    arguments = ToolArguments
    modes = frozenset(Mode)
    read_only = False

    def __init__(self):
        self.begun = asyncio.Event()
        self.ended = []


class Waits(SlowTool):
    async def run(self, arguments, context):
        self.begun.set()
        await asyncio.Event().wait()


class WorksInThread(SlowTool):
    def __init__(self):
        super().__init__()
        self.go_on = threading.Event()

    async def run(self, arguments, context):
        self.begun.set()
        await asyncio.to_thread(self.go_on.wait, 20)


class WorksInProcess(SlowTool):
    async def run(self, arguments, context):
        pool = concurrent.futures.ProcessPoolExecutor(1)
        try:
            work = asyncio.get_running_loop().run_in_executor(pool, time.sleep, 20)
            self.begun.set()
            await work
        finally:
            for process in pool._processes.values():
                process.kill()
            pool.shutdown(wait=False)
            self.ended.append("process")


class PutsThingsRight(SlowTool):
    """Says goodbye to a device for a moment when it is stopped, as a console does."""

    async def run(self, arguments, context):
        try:
            self.begun.set()
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0.2)
            self.ended.append("put right")


class KeepsSomethingOpen(SlowTool):
    async def run(self, arguments, context):
        async def close():
            await asyncio.sleep(0.2)
            self.ended.append("closed")

        context.scope.keep("console", object(), close)
        self.begun.set()
        await asyncio.Event().wait()


class WillNotStop(SlowTool):
    """A faulty tool: it takes its cancellation for something else and goes on."""

    def __init__(self):
        super().__init__()
        self.go_on = asyncio.Event()

    async def run(self, arguments, context):
        self.begun.set()
        while not self.go_on.is_set():
            try:
                await self.go_on.wait()
            except asyncio.CancelledError:
                self.ended.append("ignored")
        return [succeeded("1", "late", "too late")]


class NeverPutAway(SlowTool):
    """Keeps something open whose closing hangs."""

    async def run(self, arguments, context):
        context.scope.keep("console", object(), asyncio.Event().wait)
        self.begun.set()
        await asyncio.Event().wait()


@pytest.fixture
def asked(app_admin, app_project, model_server):
    config = dataclasses.replace(CONFIG, base_url=model_server.base_url, api_key=SecretStr("sk-test-of-tools"))

    def make(session_id, message="Take your time."):
        return TurnRequest(
            session_id=session_id,
            message=message,
            user=ALICE,
            project=app_project,
            mode=Mode.TEACHING,
            config=config,
            token=app_admin.token,
        )

    return make


async def stopped(service, asked, model_server, monkeypatch, tool):
    """Have the tool run in a turn, stop the turn, and give its events, the history and what the next turn was sent."""
    monkeypatch.setattr(registry, "ALL_TOOLS", (*registry.ALL_TOOLS, tool))
    asked_for = call("slow_tool")
    model_server.script(tool_calls(asked_for, text="I begin."), text("I am still here."))
    session_id = str(uuid.uuid4())
    turn = await service.start_turn(asked(session_id))
    reading = asyncio.create_task(events_of(turn))
    async with asyncio.timeout(10):
        await tool.begun.wait()
    started = time.monotonic()
    turn.abort("The test says so.")
    async with asyncio.timeout(10):
        events = await reading
    took = time.monotonic() - started
    check_event_order(events)
    assert kinds_of(events)[-3:] == ["tool_end", "abort", "done"]
    history = await service.history(session_id)
    assert [message["role"] for message in history] == ["user", "assistant", "tool", "assistant"]
    assert "may have been partly carried out" in json.loads(history[2]["content"])["error"]
    assert took < ABORT_SECONDS
    again = await events_of(await service.start_turn(asked(session_id, "And now?")))
    assert text_of(again) == "I am still here."
    assert list(model_server.last_request.tool_results) == [asked_for.id]
    return session_id


@pytest.mark.parametrize("shape", [Waits, WorksInThread, WorksInProcess, PutsThingsRight, KeepsSomethingOpen])
async def test_tools_of_every_shape(service, asked, model_server, monkeypatch, shape):
    tool = shape()
    await stopped(service, asked, model_server, monkeypatch, tool)
    expected = {WorksInProcess: ["process"], PutsThingsRight: ["put right"], KeepsSomethingOpen: ["closed"]}
    assert tool.ended == expected.get(shape, [])
    if shape is WorksInThread:
        tool.go_on.set()


async def test_a_tool_that_will_not_stop_is_left_behind_and_its_late_result_is_lost(
    service, asked, model_server, monkeypatch
):
    tool = WillNotStop()
    session_id = await stopped(service, asked, model_server, monkeypatch, tool)
    before = await service.history(session_id)
    tool.go_on.set()
    for _ in range(20):
        await asyncio.sleep(0.01)
    assert tool.ended
    assert await service.history(session_id) == before
    assert service.running_turns == []
    assert model_server.unused == 0


async def test_a_tool_that_answers_when_it_is_stopped_keeps_its_answer_and_the_model_is_not_asked_again(
    service, asked, model_server, monkeypatch
):
    class AnswersWhenStopped(SlowTool):
        async def run(self, arguments, context):
            self.begun.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                return [succeeded("1", "R1", "the half that had come")]

    tool = AnswersWhenStopped()
    monkeypatch.setattr(registry, "ALL_TOOLS", (*registry.ALL_TOOLS, tool))
    model_server.script(tool_calls(call("slow_tool")))
    session_id = str(uuid.uuid4())
    turn = await service.start_turn(asked(session_id))
    reading = asyncio.create_task(events_of(turn))
    await tool.begun.wait()
    turn.abort("The test says so.")
    assert kinds_of(await reading)[-3:] == ["tool_end", "abort", "done"]
    history = await service.history(session_id)
    assert "the half that had come" in history[2]["content"]
    assert len(model_server.requests) == 1


@pytest.mark.parametrize("place", ["tools.dispatch.made_visible", "agent.calling.to_text"])
async def test_a_tool_that_is_through_when_the_turn_is_stopped_keeps_its_answer(
    service, asked, model_server, monkeypatch, place
):
    class IsThrough(SlowTool):
        async def run(self, arguments, context):
            return [succeeded("1", "R1", "what it has done")]

    work = pkgutil.resolve_name(f"gns3server_copilot.{place}")
    begun, go_on = threading.Event(), threading.Event()

    def slow(response):
        begun.set()
        go_on.wait(10)
        return work(response)

    monkeypatch.setattr(f"gns3server_copilot.{place}", slow)
    monkeypatch.setattr(registry, "ALL_TOOLS", (*registry.ALL_TOOLS, IsThrough()))
    model_server.script(tool_calls(call("slow_tool")))
    session_id = str(uuid.uuid4())
    turn = await service.start_turn(asked(session_id))
    reading = asyncio.create_task(events_of(turn))
    await asyncio.to_thread(begun.wait, 10)
    turn.abort("The test says so.")
    await asyncio.sleep(0)
    go_on.set()
    assert kinds_of(await reading)[-3:] == ["tool_end", "abort", "done"]
    assert "what it has done" in (await service.history(session_id))[2]["content"]
    assert len(model_server.requests) == 1


async def test_what_cannot_be_put_away_holds_nothing_up(service, asked, model_server, monkeypatch):
    await stopped(service, asked, model_server, monkeypatch, NeverPutAway())


async def test_a_tool_that_raises_a_cancellation_of_its_own_does_not_end_the_turn_unnoticed(
    service, asked, model_server, monkeypatch
):
    class CancelsItself(SlowTool):
        async def run(self, arguments, context):
            raise asyncio.CancelledError

    monkeypatch.setattr(registry, "ALL_TOOLS", (*registry.ALL_TOOLS, CancelsItself()))
    model_server.script(tool_calls(call("slow_tool")), text("Never mind."))
    turn = await service.start_turn(asked(str(uuid.uuid4())))
    events = await events_of(turn)
    check_event_order(events)
    assert text_of(events) == "Never mind."
