"""What the openai client really sends, seen by a server on loopback."""

from __future__ import annotations

import asyncio
import gc
import http.server
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from langchain_core.messages import AIMessageChunk
from pydantic import SecretStr

from gns3server_copilot.errors import InvalidRequestError
from gns3server_copilot.llm import factory
from gns3server_copilot.llm.config import LLMConfig
from gns3server_copilot.llm.factory import create_base_model_with_tools, prepare_provider
from gns3server_copilot.llm.providers.custom_fields import custom_fields
from tests.ground.model_script import Usage, call, openai_error, text, tool_calls
from tests.ground.model_server import ModelRequest, ModelServer
from tests.unit.llm.samples import CONFIG, tool

KEY = "sk-0123456789"
ENVIRONMENT_VALUE = "fromenvironment"

#: Every variable that langchain_openai 1.7, langchain_core 1.8 and openai 3.57 read, as found in their sources, and
#: a few of older releases.
VARIABLES = {
    "OPENAI_API_KEY": ENVIRONMENT_VALUE,
    "OPENAI_ADMIN_KEY": ENVIRONMENT_VALUE,
    "OPENAI_ORG_ID": ENVIRONMENT_VALUE,
    "OPENAI_ORGANIZATION": ENVIRONMENT_VALUE,
    "OPENAI_PROJECT_ID": ENVIRONMENT_VALUE,
    "OPENAI_WEBHOOK_SECRET": ENVIRONMENT_VALUE,
    "OPENAI_CUSTOM_HEADERS": (
        f"Authorization: Bearer {ENVIRONMENT_VALUE}\nX-Api-Key: {ENVIRONMENT_VALUE}\nHost: {ENVIRONMENT_VALUE}\n"
        f"OpenAI-Organization: {ENVIRONMENT_VALUE}\nUser-Agent: {ENVIRONMENT_VALUE}\n"
        f"X-Stainless-Os: {ENVIRONMENT_VALUE}"
    ),
    "OPENAI_BASE_URL": "http://127.0.0.1:9/fromenvironment",
    "OPENAI_API_BASE": "http://127.0.0.1:9/fromenvironment",
    "OPENAI_PROXY": "http://fromenvironment:fromenvironment@127.0.0.1:9",
    "OPENAI_API_TYPE": "azure",
    "OPENAI_API_VERSION": ENVIRONMENT_VALUE,
    "AZURE_OPENAI_API_KEY": ENVIRONMENT_VALUE,
    "AZURE_OPENAI_AD_TOKEN": ENVIRONMENT_VALUE,
    "AZURE_OPENAI_ENDPOINT": "http://127.0.0.1:9/fromenvironment",
    "LANGSMITH_GATEWAY": "http://127.0.0.1:9/fromenvironment",
    "LANGSMITH_GATEWAY_API_KEY": ENVIRONMENT_VALUE,
    "LANGSMITH_API_KEY": ENVIRONMENT_VALUE,
    "LC_OUTPUT_VERSION": "responses/v1",
    "LANGCHAIN_OPENAI_STREAM_CHUNK_TIMEOUT_S": "0.000001",
    "AWS_BEARER_TOKEN_BEDROCK": ENVIRONMENT_VALUE,
}


@pytest.fixture(autouse=True)
def empty_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(factory, "_models", type(factory._models)())
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def config(model_server: ModelServer) -> LLMConfig:
    return replace(CONFIG, base_url=model_server.base_url, api_key=SecretStr(KEY))


async def ask(config: LLMConfig, *tools: dict[str, Any], omit: set[str] | None = None) -> AIMessageChunk:
    """Ask the model as a turn does and give the whole answer."""
    await prepare_provider(config.provider)
    model = create_base_model_with_tools(tools, config, omit or ())
    whole: Any = None
    async for chunk in model.astream([("system", "Be brief."), ("human", "Hello")]):
        whole = chunk if whole is None else whole + chunk
    assert isinstance(whole, AIMessageChunk)
    return whole


async def sent(server: ModelServer, config: LLMConfig, **options: Any) -> ModelRequest:
    """Ask, and give the request that the server has received."""
    server.script(text("Hello there"))
    await ask(config, **options)
    return server.last_request


async def test_an_answer_streams_with_its_usage(model_server: ModelServer, config: LLMConfig) -> None:
    model_server.script(text("Hello there", pieces=3))
    answer = await ask(config)
    assert answer.text == "Hello there"
    assert answer.usage_metadata is not None
    assert answer.usage_metadata["input_tokens"] > 0
    request = model_server.last_request
    assert request.key == KEY
    assert request.body["stream_options"] == {"include_usage": True}
    assert request.body["model"] == "gpt-4o"


async def test_tools_are_offered_and_called(model_server: ModelServer, config: LLMConfig) -> None:
    model_server.script(tool_calls(call("a", {"name": "R1"}), call("b", {"name": "R2"})))
    answer = await ask(config, tool("a"), tool("b"))
    assert [(one["name"], one["args"]) for one in answer.tool_calls] == [("a", {"name": "R1"}), ("b", {"name": "R2"})]
    assert model_server.last_request.body["tools"] == [tool("a"), tool("b")]


async def test_a_server_that_tells_no_usage_is_fine(model_server: ModelServer, config: LLMConfig) -> None:
    answer = text("Hello")
    model_server.script(replace(answer, usage=Usage("never")))
    assert (await ask(config)).usage_metadata is None


# --- the environment -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("variable", VARIABLES)
@pytest.mark.parametrize("key", [KEY, None], ids=["own key", "no key"])
async def test_nothing_of_the_servers_environment_is_sent(
    variable: str, key: str | None, model_server: ModelServer, config: LLMConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, VARIABLES[variable])
    request = await sent(model_server, replace(config, api_key=SecretStr(key) if key else None))
    assert_clean(request, model_server, key)


@pytest.mark.parametrize("key", [KEY, None], ids=["own key", "no key"])
async def test_not_even_all_of_it_together(
    key: str | None, model_server: ModelServer, config: LLMConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in VARIABLES.items():
        monkeypatch.setenv(name, value)
    request = await sent(model_server, replace(config, api_key=SecretStr(key) if key else None))
    assert_clean(request, model_server, key)


def assert_clean(request: ModelRequest, server: ModelServer, key: str | None) -> None:
    headers = dict(request.headers)
    assert ENVIRONMENT_VALUE not in str(headers)
    assert ENVIRONMENT_VALUE not in str(request.body)
    assert headers.get("authorization") == (f"Bearer {key}" if key else None)
    assert headers["host"] == server.base_url.split("/")[2]
    assert headers["user-agent"].startswith("gns3server-copilot/")
    assert set(headers) <= {
        "accept",
        "accept-encoding",
        "authorization",
        "connection",
        "content-length",
        "content-type",
        "host",
        "user-agent",
    }


async def test_an_empty_url_is_the_official_one_whatever_the_environment_says(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in VARIABLES.items():
        monkeypatch.setenv(name, value)
    await prepare_provider("openai")
    model: Any = create_base_model_with_tools([], replace(CONFIG, base_url="", max_tokens=100))
    assert str(model.root_async_client.base_url) == "https://api.openai.com/v1/"
    assert model.openai_proxy is None
    payload = model._get_request_payload([("human", "Hello")])
    assert payload["max_completion_tokens"] == 100
    assert "max_tokens" not in payload


async def test_the_key_is_in_nothing_that_the_client_shows(config: LLMConfig) -> None:
    await prepare_provider("openai")
    model: Any = create_base_model_with_tools([tool("a")], config)
    inner = model.bound
    for shown in (model, inner, vars(inner), vars(inner.root_async_client), inner.root_async_client.default_headers):
        assert KEY not in repr(shown)
    assert KEY not in inner.model_dump_json(fallback=repr)


# --- parameters ----------------------------------------------------------------------------------------------------


async def test_a_temperature_that_is_not_set_is_not_sent(model_server: ModelServer, config: LLMConfig) -> None:
    for model in ("gpt-4o", "gpt-5", "llama3"):
        assert "temperature" not in (await sent(model_server, replace(config, model=model))).body
    o1: Any = create_base_model_with_tools([], replace(config, model="o1"))
    assert "temperature" not in o1._get_request_payload([("human", "Hello")])
    assert (await sent(model_server, replace(config, temperature=0.0))).body["temperature"] == 0.0


async def test_max_tokens_goes_to_other_servers_by_its_old_name(model_server: ModelServer, config: LLMConfig) -> None:
    body = (await sent(model_server, config)).body
    assert not {"max_tokens", "max_completion_tokens"} & set(body)
    body = (await sent(model_server, replace(config, max_tokens=77))).body
    assert body["max_tokens"] == 77
    assert "max_completion_tokens" not in body
    body = (await sent(model_server, replace(config, max_tokens=77, custom={"extra_body": '{"min_p": 0.1}'}))).body
    assert (body["max_tokens"], body["min_p"]) == (77, 0.1)


async def test_parameters_that_a_provider_has_refused_can_be_left_out(
    model_server: ModelServer, config: LLMConfig
) -> None:
    full = replace(config, temperature=0.5, max_tokens=77, custom={"top_p": "0.9", "seed": "1"})
    body = (await sent(model_server, full)).body
    assert {"temperature", "max_tokens", "top_p", "seed", "stream_options"} <= set(body)
    for name in ("temperature", "max_tokens", "top_p", "seed", "stream_options"):
        reduced = (await sent(model_server, full, omit={name})).body
        assert set(body) - set(reduced) == {name}


async def test_other_servers_are_never_asked_by_the_newer_protocol(
    model_server: ModelServer, config: LLMConfig
) -> None:
    for model in ("gpt-5-pro", "gpt-5.2-codex", "gpt-6", "codex-mini-latest"):
        assert (await sent(model_server, replace(config, model=model))).messages


async def test_custom_fields_arrive_as_the_values_they_mean(model_server: ModelServer, config: LLMConfig) -> None:
    custom = {
        "top_p": "0.9",
        "seed": "42",
        "reasoning_effort": "low",
        "stop": "END",
        "logprobs": "true",
        "extra_body": '{"chat_template_kwargs": {"enable_thinking": false}}',
        "timeout": "30",
        "num_ctx": "4096",
    }
    body = (await sent(model_server, replace(config, custom=custom))).body
    assert (body["top_p"], body["seed"], body["reasoning_effort"], body["logprobs"]) == (0.9, 42, "low", True)
    assert body["stop"] in ("END", ["END"])
    assert body["chat_template_kwargs"] == {"enable_thinking": False}
    assert "num_ctx" not in body
    assert "timeout" not in body


@pytest.mark.parametrize(
    "name",
    [
        "api_key",
        "openai_api_key",
        "openai_organization",
        "organization",
        "openai_api_base",
        "base_url",
        "openai_proxy",
        "default_headers",
        "http_client",
        "http_async_client",
        "http_socket_options",
        "async_client",
        "root_async_client",
        "client",
        "callbacks",
        "model_kwargs",
        "model",
        "model_name",
        "cache",
        "metadata",
        "tags",
        "verbose",
        "rate_limiter",
        "output_version",
        "include_response_headers",
    ],
)
async def test_custom_fields_that_reach_beyond_the_request_are_left_out(name: str) -> None:
    from langchain_openai import ChatOpenAI

    assert custom_fields(ChatOpenAI, {name: "value", "top_p": 1}) == {"top_p": 1}


@pytest.mark.parametrize("custom", [{"seed": "many"}, {"timeout": "soon"}, {"extra_body": "no object"}, {"n": "0"}])
async def test_a_custom_field_that_cannot_be_used_is_an_error_without_its_value(
    config: LLMConfig, custom: dict[str, Any]
) -> None:
    [value] = custom.values()
    await prepare_provider("openai")
    with pytest.raises(InvalidRequestError) as raised:
        create_base_model_with_tools([], replace(config, custom=custom, max_tokens=5))
    assert value not in raised.value.message
    assert "configuration" in raised.value.message


@pytest.mark.parametrize("url", ["http://é..b/v1", "http://256.1.1.1/v1", "http://xn--é/"])
async def test_an_address_that_cannot_be_is_said_to_be_wrong(config: LLMConfig, url: str) -> None:
    await prepare_provider("openai")
    with pytest.raises(InvalidRequestError, match="base URL"):
        create_base_model_with_tools([], replace(config, base_url=url))


# --- failures ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [408, 429, 500, 503])
async def test_the_client_does_not_try_again_by_itself(
    model_server: ModelServer, config: LLMConfig, status: int
) -> None:
    model_server.script(openai_error(status, "No."))
    with pytest.raises(Exception) as raised:
        await ask(config)
    assert getattr(raised.value, "status_code", None) == status
    assert len(model_server.requests) == 1


class Redirecting(http.server.BaseHTTPRequestHandler):
    """Sends every request elsewhere."""

    target = ""
    seen: list[str | None]

    def do_POST(self) -> None:
        self.seen.append(self.headers["Authorization"])
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(307)
        self.send_header("Location", self.target)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Keep quiet."""


@pytest.fixture
def redirect_to() -> Iterator[Callable[[str], str]]:
    servers = []

    def start(target: str) -> str:
        handler = type("Handler", (Redirecting,), {"target": target, "seen": []})
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_port}/v1"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


async def test_a_key_does_not_follow_a_redirect(
    model_server: ModelServer, config: LLMConfig, redirect_to: Callable[[str], str]
) -> None:
    base_url = redirect_to(f"{model_server.base_url}/chat/completions")
    with pytest.raises(Exception) as raised:
        await ask(replace(config, base_url=base_url))
    assert getattr(raised.value, "status_code", None) == 307
    assert model_server.requests == []


async def test_connections_of_a_dropped_model_are_closed(model_server: ModelServer, config: LLMConfig) -> None:
    await sent(model_server, config)
    [model] = factory._models.values()
    client = model.http_async_client  # type: ignore[attr-defined]
    pool = client._transport.inner._pool
    assert pool.connections
    factory._models.clear()
    del client, model
    gc.collect()
    for _ in range(100):
        await asyncio.sleep(0)
    assert not pool.connections
