"""Whatever a model does, and whenever it is stopped: what it is sent is valid, what it may not do does not happen,
every turn ends in one way, and what is kept is what was shown."""

from __future__ import annotations

import asyncio
import itertools
import json
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessageChunk

from gns3server_copilot.agent.repair import repaired
from gns3server_copilot.agent.turn import Turn
from gns3server_copilot.schemas.modes import Mode
from tests.ground.event_rules import check_event_order
from tests.ground.sse import kinds_of, text_of
from tests.unit.agent.conftest import ALICE, events_of
from tests.unit.agent.probe_tools import Probes
from tests.unit.agent.scripted_model import ProviderError, ScriptedModel, call, end

pytestmark = pytest.mark.asyncio(loop_scope="session")

#: As the settings of the agent's fixture say.
ROUNDS = {Mode.TEACHING: 3, Mode.LAB_AUTOMATION: 3, Mode.INJECTION: 4}
CUT_OFF = ("length", "max_tokens", "MAX_TOKENS", "model_length")

NAMES = ("look", "look_again", "change", "stop_it", "spoil", "erase_everything", "bad name!", "")
WAYS = ("well", "refuse", "crash", "fail", "odd", "slow", "abort", "finish", "break")
BROKEN = ('{"n": ', "[1, 2]", "null", '{"n": NaN}', '{"n": 1} {"n": 2}', '{"how": "\\ud800"}')


@dataclass
class PlannedCall:
    name: str
    arguments: str | dict[str, Any]
    id: str | None
    index: int | None


@dataclass
class PlannedAnswer:
    """What the model does when it is asked: `before` it says something, what it says, and how that ends."""

    before: str
    texts: list[str]
    blocks: bool
    calls: list[PlannedCall]
    ending: str
    error: str


@dataclass
class PlannedTurn:
    mode: Mode
    answers: list[PlannedAnswer]
    abort_after: int | None
    numbers: list[int] = field(default_factory=list)


planned_calls = st.builds(
    PlannedCall,
    st.sampled_from(NAMES),
    st.one_of(
        st.fixed_dictionaries({"how": st.sampled_from(WAYS)}),
        st.sampled_from(BROKEN),
        st.just({"wrong": True}),
        st.just({}),
    ),
    st.sampled_from([None, "same", "one", "two"]),
    st.sampled_from([None, 0, 1]),
)
planned_answers = st.builds(
    PlannedAnswer,
    before=st.sampled_from(["", "", "", "stop", "wait"]),
    texts=st.lists(st.sampled_from(["I look. ", "词。", " ", "\ud83d", "x" * 300]), max_size=3),
    blocks=st.booleans(),
    calls=st.lists(planned_calls, max_size=3),
    ending=st.sampled_from(["stop", "stop", "tool_calls", "", *CUT_OFF]),
    error=st.sampled_from(["", "", "", "", "quota", "too long", "temperature", "key", "fault", "html", "odd"]),
)
planned_turns = st.builds(
    PlannedTurn,
    st.sampled_from(list(Mode)),
    st.lists(planned_answers, min_size=1, max_size=6),
    st.none() | st.none() | st.integers(0, 60),
)

ERRORS: dict[str, Callable[[], Exception]] = {
    "quota": lambda: ProviderError(429, "Slow down.", {"retry-after": "0"}),
    "too long": lambda: ProviderError(400, "prompt is too long"),
    "temperature": lambda: ProviderError(400, "temperature is not supported"),
    "key": lambda: ProviderError(401, "No."),
    "fault": lambda: ProviderError(500, "Oops."),
    "html": lambda: ValueError("<html>"),
    "odd": lambda: RuntimeError("no idea"),
}


class Play:
    """One conversation: the plan is carried out, and what may not run is noted."""

    def __init__(self, agent: Any, request_of: Any, model: ScriptedModel, probes: Probes) -> None:
        self.agent, self.request_of, self.model, self.probes = agent, request_of, model, probes
        self.session_id = str(uuid.uuid4())
        self.numbers = itertools.count(1)
        self.forbidden: set[int] = set()
        self.earlier: list[dict[str, Any]] = []
        self.turn: Turn | None = None

    async def play(self, planned: PlannedTurn) -> None:
        probes, model = self.probes, self.model
        probes.ran.clear()
        probes.ended = 0
        probes.changes.set()
        model.requests.clear()
        model.answers[:] = [self._steps(answer) for answer in planned.answers]
        turn = await self.agent.start_turn(self.request_of("go on <|endoftext|>", self.session_id, mode=planned.mode))
        self.turn = turn
        probes.abort = lambda: turn.abort("A tool says so.")
        reading = asyncio.create_task(events_of(turn))
        if planned.abort_after is not None:
            for _ in range(planned.abort_after):
                await asyncio.sleep(0)
            turn.abort("The test says so.")
        async with asyncio.timeout(20):
            events = await reading
        await self._check(planned, events)
        self.earlier += events

    def _steps(self, planned: PlannedAnswer) -> list[Any]:
        steps: list[Any] = []
        if planned.before == "stop":
            steps.append(lambda: self.turn and self.turn.abort("In the middle of an answer."))
        if planned.before == "wait":
            steps.append(lambda: asyncio.sleep(0.001))
        for text in planned.texts:
            steps.append(AIMessageChunk([{"type": "text", "text": text, "index": 0}] if planned.blocks else text))
        for made in planned.calls:
            arguments = made.arguments
            number = next(self.numbers)
            if isinstance(arguments, dict):
                arguments = arguments | {"n": number}
            if planned.ending in CUT_OFF or planned.error or made.arguments == {"wrong": True}:
                self.forbidden.add(number)
            steps += call(made.name, arguments, id=made.id, index=made.index)
        if planned.error:
            steps.append(ERRORS[planned.error]())
        elif planned.ending:
            steps.append(end(planned.ending))
        return steps

    async def _check(self, planned: PlannedTurn, events: list[dict[str, Any]]) -> None:
        assert self.model.violations == [], "what the model was sent is not valid"
        check_event_order(events, earlier=self.earlier, broken_arguments=True)
        offered = {tool.name for tool in self.probes.tools if planned.mode in tool.modes}
        for _, tools in self.model.requests:
            assert set(tools) <= offered
        for name, number, mode in self.probes.ran:
            assert name in offered
            assert mode is planned.mode
            assert number not in self.forbidden, "a call ran that was cut off, or failed on the way"
        assert len(self.probes.ran) == self.probes.ended
        ran = [number for _, number, _ in self.probes.ran if number]
        assert len(ran) == len(set(ran)), "a call ran twice"
        kinds = kinds_of(events)
        started = [event["tool_call_id"] for event in events if event["type"] == "tool_start"]
        ended = [event["tool_call_id"] for event in events if event["type"] == "tool_end"]
        assert sorted(started) == sorted(ended), "a tool that started did not end"
        with_calls = {event["message_id"] for event in events if event["type"] == "tool_call"}
        assert len(with_calls) <= ROUNDS[planned.mode] + 1
        assert kinds[-1] in ("done", "error")
        await self._check_history(events)

    async def _check_history(self, events: list[dict[str, Any]]) -> None:
        thread = {"configurable": {"thread_id": self.session_id}}
        state = (await self.agent._graph.aget_state(thread)).values
        stored = state["messages"]
        assert [one.id for one in repaired(stored)] == [one.id for one in stored], "what is stored is not valid"
        history = await self.agent.history(self.session_id)
        said = "".join(message["content"] for message in history if message["role"] == "assistant")
        assert said == text_of([*self.earlier, *events])
        calls = [made["id"] for message in history for made in message.get("tool_calls") or []]
        results = {message["tool_call_id"]: message["content"] for message in history if message["role"] == "tool"}
        assert sorted(calls) == sorted(results)
        for event in events:
            if event["type"] == "tool_end":
                assert results[event["tool_call_id"]] == event["tool_output"]
        json.dumps(history).encode()
        session = await self.agent.session(self.session_id, ALICE)
        assert session.message_count == len(history)
        assert not self.agent.running_turns


async def carry_out(plan: list[PlannedTurn], agent: Any, request_of: Any, model: Any, probes: Any) -> None:
    play = Play(agent, request_of, model, probes)
    for planned in plan:
        await play.play(planned)
    # and the conversation can still be used
    await play.play(PlannedTurn(Mode.TEACHING, [PlannedAnswer("", ["Here."], False, [], "stop", "")], None))


FIXTURES_ARE_KEPT = settings(
    deadline=None,
    max_examples=40,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@FIXTURES_ARE_KEPT
@given(plan=st.lists(planned_turns, min_size=1, max_size=4))
async def test_any_model_at_any_moment(plan, agent, request_of, model, probes):
    await carry_out(plan, agent, request_of, model, probes)


@pytest.mark.slow
@settings(FIXTURES_ARE_KEPT, max_examples=400)
@given(plan=st.lists(planned_turns, min_size=1, max_size=8))
async def test_any_model_at_any_moment_at_length(plan, agent, request_of, model, probes):
    await carry_out(plan, agent, request_of, model, probes)
