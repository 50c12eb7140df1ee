"""What comes in OpenAI's protocol reaches LangChain as it came, and chunks that lack a field are read all the same."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import openai._base_client
import pytest
from langchain_core.messages import AIMessageChunk
from pydantic import SecretStr

from gns3server_copilot.llm.config import LLMConfig
from gns3server_copilot.llm.factory import create_base_model_with_tools, prepare_provider
from tests.ground.model_script import text
from tests.ground.model_server import ModelServer
from tests.unit.llm.providers.conftest import TOOLS, Ask, skip_if_absent
from tests.unit.llm.samples import CONFIG


@pytest.fixture(params=["openai", "deepseek", "xai"])
def config(request: pytest.FixtureRequest, model_server: ModelServer) -> LLMConfig:
    skip_if_absent(request.param)
    custom = {"extra_headers": '{"X-Class": "7b"}', "extra_query": '{"version": "2"}', "extra_body": '{"top_k": 4}'}
    config = replace(CONFIG, provider=request.param, base_url=model_server.base_url, api_key=SecretStr("sk-0123456789"))
    return replace(config, custom=custom if request.param == "openai" else {})


async def test_no_object_is_made_of_a_chunk(
    model_server: ModelServer, config: LLMConfig, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Any] = []
    monkeypatch.setattr(openai._base_client, "construct_type", lambda **options: made.append(options))
    model_server.script(text("Well, well."))
    answer = await ask(config)
    assert answer.message.content == "Well, well."
    assert answer.message.usage_metadata is not None
    assert made == []
    body = model_server.last_request.body
    assert body["stream"] is True
    assert not {"extra_headers", "extra_query", "extra_body", "timeout"} & body.keys()
    if config.custom:
        assert body["top_k"] == 4


@pytest.mark.parametrize(
    ("choice", "calls"),
    [
        ({"index": 0, "finish_reason": "stop"}, None),
        ({"index": 0, "delta": None}, None),
        ({"index": 0, "delta": {"role": "assistant", "content": None, "tool_calls": None}}, []),
        ({"delta": {"tool_calls": [{"id": "a", "function": {"name": "look", "arguments": "{}"}}]}}, [("look", None)]),
        ({"delta": {"tool_calls": [{"index": 0, "id": "a", "function": None}]}}, [(None, 0)]),
        ({"delta": {"tool_calls": [{"index": 1, "id": "a"}]}}, [(None, 1)]),
    ],
    ids=["no delta", "delta null", "all null", "call without index", "function null", "no function"],
)
async def test_a_chunk_that_lacks_a_field_is_read(
    config: LLMConfig, choice: dict[str, Any], calls: list[tuple[str | None, int | None]] | None
) -> None:
    await prepare_provider(config.provider)
    model: Any = create_base_model_with_tools(TOOLS, config)
    made = model.bound._convert_chunk_to_generation_chunk({"choices": [choice]}, AIMessageChunk, None)
    if calls is None:
        assert made is None
    else:
        assert [(one["name"], one["index"]) for one in made.message.tool_call_chunks] == calls
