"""Long conversations are sent as the client would send them, in a fraction of the time."""

from __future__ import annotations

import gc
from dataclasses import replace
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_openai.chat_models import base
from pydantic import SecretStr

from gns3server_copilot.llm.config import LLMConfig
from gns3server_copilot.llm.factory import create_base_model_with_tools, prepare_provider
from gns3server_copilot.llm.providers.long_conversations import FEW, SendsLongConversations
from tests.ground.model_script import text
from tests.ground.model_server import ModelServer
from tests.unit.llm.providers.cases import CASES
from tests.unit.llm.providers.conftest import TOOLS, Ask, skip_if_absent
from tests.unit.llm.samples import CONFIG


def conversation(exchanges: int) -> tuple[BaseMessage, ...]:
    messages: list[BaseMessage] = [SystemMessage("Be brief.")]
    for number in range(exchanges):
        call: Any = {"name": "look", "args": {"name": f"R{number}"}, "id": f"call_{number}", "type": "tool_call"}
        messages += [
            HumanMessage(f"question {number}"),
            AIMessage("" if number % 2 else "I look.", tool_calls=[call]),
            ToolMessage(f'{{"found": {number}}}', tool_call_id=f"call_{number}"),
            AIMessage(f"answer {number}"),
        ]
    return (*messages, HumanMessage("And now?"))


@pytest.fixture(params=["openai", "deepseek", "xai"])
def config(request: pytest.FixtureRequest, model_server: ModelServer) -> LLMConfig:
    skip_if_absent(request.param)
    return replace(CONFIG, provider=request.param, base_url=model_server.base_url, api_key=SecretStr("sk-0123456789"))


@pytest.mark.parametrize("exchanges", [1, 30])
async def test_what_is_sent_is_what_the_client_would_send(
    model_server: ModelServer, config: LLMConfig, ask: Ask, exchanges: int
) -> None:
    assert (4 * exchanges > FEW) is (exchanges > 1)
    messages = conversation(exchanges)
    model_server.script(text("Well."), text("Well."))
    first = await ask(config, messages)
    body = model_server.last_request.body
    client = bound(config)
    expected = super(SendsLongConversations, client)._get_request_payload(list(messages))["messages"]
    assert body["messages"] == expected
    assert first.message.content == "Well."
    assert {"model", "messages", "stream", "tools"} <= body.keys()
    assert "extra_body" not in body
    await ask(config, messages)
    assert model_server.last_request.body == body


async def test_anthropic_gets_what_its_client_would_send(model_server: ModelServer, ask: Ask) -> None:
    skip_if_absent("anthropic")
    config = CASES["anthropic"].config(model_server)
    messages = conversation(30)
    model_server.script(text("Well."))
    await ask(config, messages)
    model: Any = create_base_model_with_tools(TOOLS, config)
    body = model_server.last_request.body
    assert body["messages"] == model.bound._get_request_payload(list(messages))["messages"]
    assert {"model", "messages", "stream", "system", "tools"} <= body.keys()
    assert "extra_body" not in body


def bound(config: LLMConfig) -> SendsLongConversations:
    """Give the client behind the model of a configuration."""
    model: Any = create_base_model_with_tools(TOOLS, config)
    client = model.bound
    assert isinstance(client, SendsLongConversations)
    return client


async def test_a_message_is_converted_once_and_its_form_goes_with_it(
    model_server: ModelServer, config: LLMConfig, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    converted: list[BaseMessage] = []
    convert = base._convert_message_to_dict

    def counted(message: BaseMessage, *arguments: Any) -> dict[str, Any]:
        converted.append(message)
        return convert(message, *arguments)

    monkeypatch.setattr(base, "_convert_message_to_dict", counted)
    model_server.always(text("Well."))
    messages = conversation(10)
    await ask(config, messages)
    await ask(config, (*messages, AIMessage("Well."), HumanMessage("And then?")))
    assert len(converted) == len(messages) + 2
    forms = bound(config)._forms
    assert len(forms) >= len(messages)
    converted.clear()
    del messages
    gc.collect()
    assert len(forms) == 0


async def test_the_newer_protocol_gets_its_list_too(config: LLMConfig) -> None:
    if config.provider == "deepseek":
        pytest.skip("DeepSeek has one protocol")
    await prepare_provider(config.provider)
    client = bound(replace(config, custom={"use_responses_api": "true"}))
    messages = list(conversation(2))
    payload = client._get_request_payload(messages)
    expected = super(SendsLongConversations, client)._get_request_payload(messages)
    assert payload["input"] == []
    assert payload["extra_body"]["input"] == expected["input"] != []
