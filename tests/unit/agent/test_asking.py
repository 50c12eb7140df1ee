"""When the model is asked again, and when not."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from email.utils import formatdate
from typing import Any

import pytest

from gns3server_copilot.agent import asking
from gns3server_copilot.agent.asking import ask_model
from gns3server_copilot.agent.context_window import Prepared
from gns3server_copilot.agent.trimming import DoesNotFitError
from gns3server_copilot.agent.turn import Turn
from gns3server_copilot.errors import ModelError
from gns3server_copilot.llm.config import LLMConfig
from gns3server_copilot.llm.factory import prepare_provider
from tests.ground.event_rules import check_error_text
from tests.ground.model_script import (
    Gate,
    call,
    context_too_long,
    empty,
    http_error,
    openai_error,
    text,
    too_many_requests,
    tool_calls,
    unauthorized,
)
from tests.ground.model_server import ModelServer
from tests.unit.llm.providers.conftest import QUESTION, TOOLS, make_turn
from tests.unit.llm.samples import CONFIG


@pytest.fixture
async def turn(model_server: ModelServer) -> Turn:
    await prepare_provider("openai")
    config: LLMConfig = replace(CONFIG, base_url=model_server.base_url)
    return make_turn(config)


class Preparing:
    """Stands for the context window: notes how much it was allowed each time."""

    def __init__(self, fails: bool = False) -> None:
        self.asked: list[int | None] = []
        self._fails = fails

    async def __call__(self, at_most: int | None) -> Prepared:
        self.asked.append(at_most)
        if at_most is not None and self._fails:
            raise DoesNotFitError
        return Prepared(list(QUESTION), 1000 if at_most is None else at_most)


async def ask(turn: Turn, prepare: Preparing | None = None, idle_seconds: float = 10.0) -> str:
    answer = await ask_model(turn, list(TOOLS), prepare or Preparing(), [], idle_seconds)
    return str(answer.text)


async def contents(turn: Turn) -> list[str]:
    turn.events.end()
    return [event["content"] async for event in turn.events.follow(60) if event["type"] == "content"]


def refusing(status: int, headers: dict[str, str], message: str = "Slow down.") -> Any:
    return http_error(status, {"error": {"message": message, "code": "rate_limit_exceeded"}}, headers)


async def test_what_is_too_long_is_sent_once_more_in_half_and_so_for_the_rest_of_the_turn(
    model_server: ModelServer, turn: Turn
) -> None:
    prepare = Preparing()
    model_server.script(context_too_long(), text("Short."), text("Again."))
    assert await ask(turn, prepare) == "Short."
    assert await ask(turn, prepare) == "Again."
    assert prepare.asked == [None, 500, 500]


@pytest.mark.parametrize("fails", [False, True], ids=["it is still too long", "it cannot be shortened"])
async def test_what_stays_too_long_is_said(model_server: ModelServer, turn: Turn, fails: bool) -> None:
    model_server.script(context_too_long(), *([] if fails else [context_too_long()]))
    with pytest.raises(ModelError) as raised:
        await ask(turn, Preparing(fails))
    assert "too long" in raised.value.message
    assert raised.value.__cause__ is None
    assert len(model_server.requests) == (1 if fails else 2)


@pytest.mark.parametrize(
    "refusal",
    [
        refusing(429, {"Retry-After": "0.05"}),
        refusing(429, {"Retry-After": formatdate(time.time() - 5, usegmt=True)}),
        refusing(429, {"retry-after-ms": "50"}),
        refusing(429, {}, '{"retryDelay": "0.05s"}'),
        refusing(503, {"Retry-After": "0"}),
        refusing(529, {"Retry-After": "0"}),
    ],
    ids=["seconds", "date", "milliseconds", "in the text", "unavailable", "overloaded"],
)
async def test_a_limit_is_waited_for_twice_as_the_provider_says(
    model_server: ModelServer, turn: Turn, refusal: Any
) -> None:
    model_server.script(refusal, refusal, text("Now."))
    assert await ask(turn) == "Now."
    model_server.script(refusal, refusal, refusal)
    with pytest.raises(ModelError):
        await ask(turn)
    assert len(model_server.requests) == 6


async def test_the_time_that_the_provider_names_is_kept(model_server: ModelServer, turn: Turn) -> None:
    model_server.script(refusing(429, {"Retry-After": "0.4"}), text("Now."))
    begun = time.monotonic()
    assert await ask(turn) == "Now."
    assert time.monotonic() - begun >= 0.4


async def test_a_limit_without_a_time_is_waited_for_too(
    model_server: ModelServer, turn: Turn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gns3server_copilot.llm.model_errors.UNTOLD_WAIT", 0.01)
    model_server.script(too_many_requests(), text("Now."))
    assert await ask(turn) == "Now."


@pytest.mark.parametrize("as_date", [False, True], ids=["seconds", "date"])
async def test_nobody_waits_for_minutes_and_the_time_is_said(
    model_server: ModelServer, turn: Turn, as_date: bool
) -> None:
    wait = formatdate(time.time() + 2395, usegmt=True) if as_date else "2400"
    model_server.script(refusing(429, {"Retry-After": wait}))
    with pytest.raises(ModelError) as raised:
        await ask(turn)
    assert "40 minutes" in raised.value.message
    assert check_error_text(raised.value.message) == []
    assert len(model_server.requests) == 1


@pytest.mark.parametrize(
    "refusal",
    [
        openai_error(429, "You exceeded your current quota.", "insufficient_quota"),
        openai_error(402, "Insufficient Balance"),
        unauthorized(),
        openai_error(404, "No such model."),
        openai_error(500, "Oops."),
    ],
    ids=["used up", "not paid", "wrong key", "no model", "fault"],
)
async def test_what_waiting_does_not_mend_is_said_at_once(model_server: ModelServer, turn: Turn, refusal: Any) -> None:
    model_server.script(refusal)
    with pytest.raises(ModelError) as raised:
        await ask(turn)
    assert check_error_text(raised.value.message) == []
    assert len(model_server.requests) == 1


async def test_a_turn_can_be_stopped_while_it_waits(model_server: ModelServer, turn: Turn) -> None:
    model_server.script(refusing(429, {"Retry-After": "30"}))
    asking = asyncio.create_task(ask(turn))
    await model_server.received()
    asking.cancel()
    async with asyncio.timeout(1):
        await asyncio.wait({asking})
    assert asking.cancelled()


async def test_an_empty_answer_is_asked_for_once_more(model_server: ModelServer, turn: Turn) -> None:
    model_server.script(empty(), text("Here."), empty(), text("   "))
    assert await ask(turn) == "Here."
    assert (turn.usage.input_tokens, turn.usage.output_tokens) == (200, 20)
    with pytest.raises(ModelError) as raised:
        await ask(turn)
    assert "empty answer" in raised.value.message
    assert len(model_server.requests) == 4


async def test_an_answer_of_thoughts_alone_that_was_cut_off_says_what_to_raise(
    model_server: ModelServer, turn: Turn
) -> None:
    model_server.script(text("", finish_reason="length").after_thinking("Let me see"))
    with pytest.raises(ModelError) as raised:
        await ask(turn)
    assert "max_tokens" in raised.value.message
    assert len(model_server.requests) == 1


@pytest.mark.parametrize(
    "begun", [text("one two"), tool_calls(call("look", {"name": "R1"}))], ids=["text", "a tool call"]
)
async def test_nothing_is_asked_again_once_readers_have_seen_something(
    model_server: ModelServer, turn: Turn, begun: Any
) -> None:
    error = b'data: {"error": {"message": "Rate limit reached.", "type": "rate_limit_error", "code": 429}}\n\n'
    model_server.script(begun.with_raw(error, after=1))
    with pytest.raises(ModelError):
        await ask(turn)
    assert len(model_server.requests) == 1


async def test_an_error_in_a_stream_that_has_said_nothing_is_asked_again(
    model_server: ModelServer, turn: Turn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gns3server_copilot.llm.model_errors.UNTOLD_WAIT", 0.01)
    error = b'data: {"error": {"message": "Rate limit reached.", "type": "rate_limit_error", "code": 429}}\n\n'
    model_server.script(empty().with_raw(error), text("Now."))
    assert await ask(turn) == "Now."
    assert await contents(turn) == ["Now."]


async def test_a_silent_model_is_not_asked_again(model_server: ModelServer, turn: Turn) -> None:
    gate = Gate()
    model_server.script(text("late").held(gate))
    with pytest.raises(ModelError) as raised:
        await ask(turn, idle_seconds=0.1)
    assert raised.value.kind == "timeout"
    gate.release()
    assert len(model_server.requests) == 1


def test_a_person_does_not_wait_for_longer_than_a_minute() -> None:
    assert asking.LONGEST_WAIT == 60
