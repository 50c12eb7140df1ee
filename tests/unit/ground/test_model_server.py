"""The scripted model server, spoken to by the client that the copilot uses, langchain-openai."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import httpx
import openai
import pytest
from langchain_core.messages import AIMessageChunk
from langchain_openai import ChatOpenAI

from tests.ground.model_script import (
    Answer,
    Gate,
    call,
    context_too_long,
    empty,
    html_page,
    http_error,
    openai_error,
    refuses_parameter,
    split,
    text,
    too_many_requests,
    tool_calls,
    unauthorized,
)
from tests.ground.model_server import ModelRequest, ModelServer

MESSAGES = [("system", "You help."), ("user", "hi")]
TOOL = {
    "type": "function",
    "function": {
        "name": "look",
        "description": "Looks.",
        "parameters": {"type": "object", "properties": {"at": {"type": "string", "description": "What, say R1"}}},
    },
}


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """A model server whose violations the test looks at itself."""
    running = ModelServer()
    running.start()
    yield running
    running.stop()


def client(server: ModelServer, key: str = "sk-test", **settings: Any) -> ChatOpenAI:
    # Its own timeout between chunks (asyncio.wait_for) can swallow a cancellation in Python 3.11.
    settings = {"stream_usage": True, "max_retries": 0, "stream_chunk_timeout": None, **settings}
    return ChatOpenAI(model="scripted", base_url=server.base_url, api_key=key, **settings)


async def stream(model: Any, messages: Any = MESSAGES) -> tuple[AIMessageChunk, list[AIMessageChunk]]:
    """Give the whole message and its pieces."""
    pieces = [piece async for piece in model.astream(messages)]
    whole = pieces[0]
    for piece in pieces[1:]:
        whole += piece
    return whole, pieces


async def test_text_comes_in_the_pieces_that_were_scripted(server: ModelServer) -> None:
    server.script(text("Hello there, you."), text("Hello", pieces=5))
    whole, pieces = await stream(client(server))
    assert whole.text == "Hello there, you."
    assert [p.text for p in pieces if p.text] == ["Hello ", "there, ", "you."]
    _, pieces = await stream(client(server))
    assert [p.text for p in pieces if p.text] == list("Hello")
    assert server.unused == 0
    assert server.violations == []


async def test_requests_are_kept_with_headers_and_body(server: ModelServer) -> None:
    server.always(text("ok"))
    await stream(client(server, key="sk-mine", temperature=0.5).bind_tools([TOOL]))
    request = server.last_request
    assert request.key == "sk-mine"
    assert request.messages[-1] == {"role": "user", "content": "hi"}
    assert request.system_prompt == "You help."
    assert request.tool_names == ["look"]
    assert request.body["temperature"] == 0.5
    assert await request.outcome() == "answered"


@pytest.mark.parametrize("order", ["sequence", "interleaved"])
@pytest.mark.parametrize("ids", ["first", "every"])
@pytest.mark.parametrize("pieces", [1, 3, 40])
async def test_parallel_calls_arrive_whole_whatever_the_order(
    server: ModelServer, order: Any, ids: Any, pieces: int
) -> None:
    calls = [call("look", {"at": name}, pieces=pieces) for name in ("R1", "R2", "R3")]
    server.script(tool_calls(*calls, text="I look.", order=order, ids=ids))
    whole, _ = await stream(client(server).bind_tools([TOOL]))
    assert whole.text == "I look."
    assert [c["args"] for c in whole.tool_calls] == [{"at": "R1"}, {"at": "R2"}, {"at": "R3"}]
    assert whole.response_metadata["finish_reason"] == "tool_calls"
    if ids == "first":
        assert [c["id"] for c in whole.tool_calls] == [c.id for c in calls]


async def test_calls_may_come_whole_without_index_or_with_the_same(server: ModelServer) -> None:
    for index in ("each", "same"):
        server.script(tool_calls(call("look", {"at": "R1"}), call("look", {"at": "R2"}), whole=True, index=index))
        whole, _ = await stream(client(server).bind_tools([TOOL]))
        assert [c["args"]["at"] for c in whole.tool_calls] == ["R1", "R2"]
    server.script(tool_calls(call("look", {"at": "R1"}, id=None), index="none"))
    pieces = await raw_pieces(server)
    deltas = [piece["choices"][0]["delta"] for piece in pieces]
    calls = [delta["tool_calls"][0] for delta in deltas if "tool_calls" in delta]
    assert len(calls) == 4
    assert not any("index" in piece or "id" in piece for piece in calls)


async def raw_pieces(server: ModelServer, **body: Any) -> list[dict[str, Any]]:
    """Ask without any client library and give the chunks."""
    messages = [{"role": role, "content": content} for role, content in MESSAGES]
    body = {"model": "m", "messages": messages, "stream": True, **body}
    async with httpx.AsyncClient(trust_env=False) as http:
        answer = await http.post(f"{server.base_url}/chat/completions", json=body)
    lines = [line.removeprefix("data: ") for line in answer.text.split("\n\n") if line]
    assert lines[-1] == "[DONE]"
    return [json.loads(line) for line in lines[:-1]]


async def test_broken_arguments_and_cut_off_ones_are_sent_as_they_are(server: ModelServer) -> None:
    server.script(tool_calls(call("look", '{"at": "R1'), finish_reason="length"))
    whole, pieces = await stream(client(server).bind_tools([TOOL]))
    assert "".join(c["args"] or "" for p in pieces for c in p.tool_call_chunks) == '{"at": "R1'
    assert whole.response_metadata["finish_reason"] == "length"


async def test_thinking_is_sent_apart_from_the_answer(server: ModelServer) -> None:
    server.script(text("Done.").after_thinking("Let me see", pieces=2))
    pieces = await raw_pieces(server)
    deltas = [piece["choices"][0]["delta"] for piece in pieces]
    assert "".join(d.get("reasoning_content", "") for d in deltas) == "Let me see"
    assert "".join(d.get("content") or "" for d in deltas) == "Done."


async def test_an_empty_answer_is_possible(server: ModelServer) -> None:
    server.script(empty())
    whole, _ = await stream(client(server))
    assert whole.text == "" and not whole.tool_calls


@pytest.mark.parametrize(
    ("told", "asked", "expected"),
    [("asked", True, 1), ("asked", False, 0), ("every", True, 4), ("every", False, 4), ("never", True, 0)],
)
async def test_usage_is_told_as_scripted(server: ModelServer, told: Any, asked: bool, expected: int) -> None:
    server.script(text("one two").with_usage(told, input_tokens=30, output_tokens=8))
    options = {"stream_options": {"include_usage": True}} if asked else {}
    usages = [piece["usage"] for piece in await raw_pieces(server, **options) if piece.get("usage")]
    assert len(usages) == expected
    if usages:
        assert usages[-1] == {"prompt_tokens": 30, "completion_tokens": 8, "total_tokens": 38}


async def test_usage_reaches_the_client_library(server: ModelServer) -> None:
    server.script(text("one two").with_usage(input_tokens=30, output_tokens=8))
    whole, _ = await stream(client(server))
    assert whole.usage_metadata is not None
    assert (whole.usage_metadata["input_tokens"], whole.usage_metadata["output_tokens"]) == (30, 8)


async def test_an_answer_can_be_asked_for_without_streaming(server: ModelServer) -> None:
    server.script(tool_calls(call("look", {"at": "R1"}), text="I look."))
    message = await client(server).bind_tools([TOOL]).ainvoke(MESSAGES)
    assert message.text == "I look."
    assert message.tool_calls[0]["args"] == {"at": "R1"}
    assert message.usage_metadata["total_tokens"] == 110


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (unauthorized(), openai.AuthenticationError),
        (too_many_requests(2), openai.RateLimitError),
        (context_too_long(), openai.BadRequestError),
        (refuses_parameter("temperature"), openai.BadRequestError),
        (openai_error(503, "Overloaded."), openai.InternalServerError),
        (html_page(404), openai.NotFoundError),
        (http_error(402, {"error": "no money"}), openai.APIStatusError),
    ],
)
async def test_errors_have_their_status(server: ModelServer, answer: Answer, error: type[Exception]) -> None:
    server.script(answer)
    with pytest.raises(error) as caught:
        await stream(client(server))
    assert caught.value.status_code == answer.refusal.status
    if answer.refusal.status == 429:
        assert caught.value.response.headers["retry-after"] == "2"


async def test_an_answer_waits_at_its_gate(server: ModelServer) -> None:
    gate = Gate()
    server.script(text("one two three").held(gate, after=2))
    received: list[str] = []

    async def read() -> None:
        async for piece in client(server).astream(MESSAGES):
            received.append(piece.text)

    reading = asyncio.create_task(read())
    await gate.reached()
    assert not reading.done()
    gate.release()
    await reading
    assert "".join(received) == "one two three"


async def test_an_answer_waits_before_its_first_byte(server: ModelServer) -> None:
    gate = Gate()
    server.script(text("late").held(gate))
    reading = asyncio.create_task(stream(client(server)))
    await gate.reached()
    gate.release()
    assert (await reading)[0].text == "late"


async def test_a_client_that_leaves_is_noticed(server: ModelServer) -> None:
    gate = Gate()
    server.script(text("one two three").held(gate, after=1))
    reading = asyncio.create_task(stream(client(server)))
    await gate.reached()
    reading.cancel()
    assert await server.last_request.outcome() == "left"


async def test_a_connection_breaks_where_scripted(server: ModelServer) -> None:
    server.script(text("one two three").cut(after=2))
    received = []
    with pytest.raises(Exception, match=r"(?i)peer closed|connection"):
        async for piece in client(server).astream(MESSAGES):
            received.append(piece.text)
    assert "".join(received) == "one two "


async def test_a_malformed_stream_is_possible(server: ModelServer) -> None:
    server.script(text("one two").with_raw(b"data: {broken\n\n", after=1))
    with pytest.raises(ValueError):
        await stream(client(server))


async def test_each_key_has_its_own_script(server: ModelServer) -> None:
    names = [f"sk-{n}" for n in range(20)]
    for name in names:
        server.script_for(name, text(f"for {name}"), text("again"))
    answers = await asyncio.gather(*(stream(client(server, key=name)) for name in names))
    assert [whole.text for whole, _ in answers] == [f"for {name}" for name in names]
    assert server.unused == 20


async def test_a_function_of_the_request_may_answer(server: ModelServer) -> None:
    def answer(request: ModelRequest) -> Answer:
        return refuses_parameter("temperature") if "temperature" in request.body else text("fine")

    server.always(answer)
    with pytest.raises(openai.BadRequestError):
        await stream(client(server, temperature=1))
    assert (await stream(client(server)))[0].text == "fine"


async def test_title_requests_take_nothing_from_the_script(server: ModelServer) -> None:
    server.script(text("answer"))
    title, _ = await stream(client(server), [("system", "Write a title."), ("user", "hi")])
    answer, _ = await stream(client(server))
    assert (title.text, answer.text) == ("Scripted title", "answer")
    assert (len(server.title_requests), len(server.requests)) == (1, 1)
    server.when(lambda request: request.is_for_title, unauthorized())
    with pytest.raises(openai.AuthenticationError):
        await stream(client(server), [("system", "Write a title."), ("user", "hi")])


async def test_a_request_can_be_waited_for(server: ModelServer) -> None:
    server.always(text("ok"))
    waiting = asyncio.create_task(server.received(2))
    await stream(client(server))
    assert not waiting.done()
    await stream(client(server, key="sk-second"))
    assert (await waiting).key == "sk-second"
    with pytest.raises(TimeoutError):
        await server.received(3, seconds=0.01)


async def test_what_a_strict_provider_would_refuse_is_a_violation(server: ModelServer) -> None:
    server.always(text("ok"))
    await stream(client(server), [("user", "hi")])
    assert any("starts with ['user']" in wrong for wrong in server.violations)
    server.violations.clear()
    bad = {"type": "function", "function": {"name": "look", "description": "", "parameters": {"type": "object"}}}
    await stream(client(server).bind_tools([bad]))
    assert server.violations == ["request 2: look has no description"]


async def test_a_request_without_a_script_is_a_violation(server: ModelServer) -> None:
    with pytest.raises(openai.InternalServerError):
        await stream(client(server))
    assert "no answer was scripted" in server.violations[0]


def test_text_is_split_without_loss() -> None:
    for whole in ("", "a", "a b", " a  b ", "\n\nabc def"):
        assert "".join(split(whole, None)) == whole
        for pieces in range(1, 12):
            parts = split(whole, pieces)
            assert "".join(parts) == whole
            assert len(parts) <= pieces and all(parts)
