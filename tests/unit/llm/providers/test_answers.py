"""What every provider's real client sends, and what the agent makes of its answers."""

from __future__ import annotations

import json
from typing import Any

import pytest
from langchain_core.messages import ToolMessage

from gns3server_copilot.errors import ModelError
from gns3server_copilot.llm.providers import PROVIDERS
from tests.ground.model_script import call, openai_error, text, tool_calls
from tests.ground.model_server import ModelServer
from tests.unit.llm.providers.cases import KEY, Case
from tests.unit.llm.providers.conftest import QUESTION, Ask


async def test_url_key_and_parameters_arrive(case: Case, model_server: ModelServer, ask: Ask) -> None:
    name, value = case.custom
    model_server.script(text("Hello there"))
    await ask(case.config(model_server, temperature=0.25, max_tokens=321, custom={name: value, "unknown_field": "1"}))
    request = model_server.last_request
    assert request.path == case.path
    assert request.key == (KEY if case.sends_key else "")
    sent = case.sent(request)
    assert sent["temperature"] == 0.25
    assert sent[case.max_tokens] == 321
    assert sent[case.arrived[0]] == case.arrived[1]
    assert "unknown_field" not in json.dumps(request.body)
    assert [one["role"] for one in request.messages] == ["system", "user"]
    assert request.tool_names == ["look", "touch"]


async def test_what_is_not_set_is_not_sent(case: Case, model_server: ModelServer, ask: Ask) -> None:
    model_server.script(text("Hello there"))
    await ask(case.config(model_server))
    sent = case.sent(model_server.last_request)
    assert "temperature" not in json.dumps(model_server.last_request.body)
    assert (case.max_tokens in sent) is case.always_sends_max_tokens


async def test_a_configuration_without_key_sends_none(case: Case, model_server: ModelServer, ask: Ask) -> None:
    if case.name == "aws":
        pytest.skip("aws has no key; without credentials nothing is sent at all")
    model_server.script(text("Hello there"))
    await ask(case.config(model_server, api_key=None))
    assert model_server.last_request.key == ""
    assert "none" not in str(model_server.last_request.headers)


async def test_text_streams_with_its_usage(case: Case, model_server: ModelServer, ask: Ask) -> None:
    model_server.script(text("one two three").with_usage("every", input_tokens=70, output_tokens=30))
    received = await ask(case.config(model_server))
    assert [event["content"] for event in received.of_kind("content")] == ["one ", "two ", "three"]
    assert {event["message_id"] for event in received.events} == {received.message.id}
    assert received.message.text == "one two three"
    assert received.message.response_metadata["model_provider"] == PROVIDERS[case.name].mark
    assert (received.turn.usage.input_tokens, received.turn.usage.output_tokens) == (70, 30)
    assert not received.turn.usage.estimated


async def test_untold_usage_is_estimated(case: Case, model_server: ModelServer, ask: Ask) -> None:
    model_server.script(text("one two three").with_usage("never"))
    received = await ask(case.config(model_server))
    assert received.turn.usage.estimated
    assert received.turn.usage.input_tokens > 0
    assert received.turn.usage.output_tokens > 0


async def test_calls_stream_and_their_results_go_back(case: Case, model_server: ModelServer, ask: Ask) -> None:
    config = case.config(model_server)
    model_server.script(tool_calls(call("look", {"name": "R1"}), call("touch", {"name": "R2"}), text="I look first."))
    received = await ask(config)
    calls = received.message.tool_calls
    assert [(one["name"], one["args"]) for one in calls] == [("look", {"name": "R1"}), ("touch", {"name": "R2"})]
    assert received.message.text == "I look first."
    complete = [
        one["tool_call"] for one in received.of_kind("tool_call") if one["tool_call"]["function"].get("complete")
    ]
    assert [one["id"] for one in complete] == [one["id"] for one in calls]
    assert [json.loads(one["function"]["arguments"]) for one in complete] == [{"name": "R1"}, {"name": "R2"}]
    results = [ToolMessage(f"result of {one['name']}", tool_call_id=one["id"], name=one["name"]) for one in calls]
    model_server.script(text("Done."))
    after = await ask(config, (*QUESTION, received.message, *results))
    assert after.message.text == "Done."
    request = model_server.last_request
    assert [one["role"] for one in request.messages] == ["system", "user", "assistant", "tool", "tool"]
    sent_calls = request.messages[2]["tool_calls"]
    assert [json.loads(one["function"]["arguments"]) for one in sent_calls] == [{"name": "R1"}, {"name": "R2"}]
    assert ["result of look" in result for result in request.tool_results.values()] == [True, False]


async def test_an_answer_cut_off_at_its_limit_runs_no_call(case: Case, model_server: ModelServer, ask: Ask) -> None:
    model_server.script(tool_calls(call("touch", {"name": "R1"}), text="Now.", finish_reason="length"))
    received = await ask(case.config(model_server))
    [only] = received.message.tool_calls
    notes: dict[str, Any] = received.message.response_metadata["copilot"]
    assert "cut off" in notes["refused_calls"][only["id"]]
    # the model is told; nothing of the half call goes back as if it had been one
    refused = ToolMessage("cut off", tool_call_id=only["id"], name=only["name"], status="error")
    model_server.script(text("I see."))
    await ask(case.config(model_server), (*QUESTION, received.message, refused))


async def test_thoughts_are_no_part_of_the_answer(case: Case, model_server: ModelServer, ask: Ask) -> None:
    if case.name == "aws":
        pytest.skip("the scripted Bedrock does not think")
    config = case.config(model_server)
    model_server.script(tool_calls(call("look", {"name": "R1"}), text="Hello.").after_thinking("Let me see"))
    received = await ask(config)
    assert received.message.text == "Hello."
    assert "see" not in json.dumps(received.events)
    result = ToolMessage("fine", tool_call_id=received.message.tool_calls[0]["id"], name="look")
    model_server.script(text("Done."))
    await ask(config, (*QUESTION, received.message, result))
    signature = {"anthropic": "signed", "google": "c2lnbmVk"}.get(case.name, "")
    assert signature in json.dumps(model_server.last_request.body), "the provider wants its signature back"


async def test_the_client_does_not_try_again_by_itself(case: Case, model_server: ModelServer, ask: Ask) -> None:
    for status, kind in (
        (401, "authentication"),
        (404, "not_found"),
        (429, "quota"),
        (500, "provider"),
        (503, "provider"),
    ):
        before = len(model_server.requests)
        model_server.script(openai_error(status, "No."))
        with pytest.raises(ModelError) as raised:
            await ask(case.config(model_server))
        assert raised.value.kind == kind
        assert len(model_server.requests) == before + 1


async def test_a_broken_connection_is_unreachable(case: Case, model_server: ModelServer, ask: Ask) -> None:
    model_server.script(text("one two three").cut(after=2))
    with pytest.raises(ModelError) as raised:
        await ask(case.config(model_server))
    assert raised.value.kind == "unreachable"
