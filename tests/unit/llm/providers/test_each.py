"""What only one provider has."""

from __future__ import annotations

import importlib
from dataclasses import replace
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from pydantic import SecretStr

from gns3server_copilot.errors import InvalidRequestError, ModelError
from gns3server_copilot.llm.factory import create_base_model_with_tools, prepare_provider
from gns3server_copilot.llm.providers import PROVIDERS, effective_url
from gns3server_copilot.llm.providers.custom_fields import custom_fields
from tests.ground.model_script import http_error, text
from tests.ground.model_server import ModelServer
from tests.unit.llm.providers.cases import CASES, Case
from tests.unit.llm.providers.conftest import Ask, skip_if_absent


@pytest.fixture(autouse=True)
def installed(request: pytest.FixtureRequest) -> None:
    name = request.node.name.split("_")[1]
    if name in PROVIDERS:
        skip_if_absent(name)


@pytest.mark.parametrize(
    ("name", "rest"), [("xai", ""), ("xai", "/"), ("xai", "/v1"), ("anthropic", "/v1"), ("google", "/v1beta/")]
)
async def test_addresses_as_people_and_the_web_ui_write_them(
    name: str, rest: str, model_server: ModelServer, ask: Ask
) -> None:
    skip_if_absent(name)
    model_server.script(text("Hello"))
    await ask(CASES[name].config(model_server, base_url=model_server.root_url + rest))
    assert model_server.last_request.path == CASES[name].path


async def test_without_a_url_it_is_the_official_one(case: Case) -> None:
    await prepare_provider(case.name)
    config = replace(CASES[case.name].config(_nowhere()), base_url="")
    url = effective_url(case.name, "", config.custom)
    assert url.startswith("http://127.0.0.1:11434" if case.name == "ollama" else "https://")
    if case.name == "aws":
        assert url == "https://bedrock-runtime.us-east-1.amazonaws.com"
    model: Any = create_base_model_with_tools([], config)
    assert url in repr(vars(model)) or url in repr(
        [vars(one) for one in vars(model).values() if hasattr(one, "__dict__")]
    )


def _nowhere() -> Any:
    server = ModelServer.__new__(ModelServer)
    server.root_url = "http://127.0.0.1:9"
    return server


async def test_ollama_gets_the_whole_context_and_a_field_of_its_own_wins(model_server: ModelServer, ask: Ask) -> None:
    model_server.script(text("Hello"), text("Hello"))
    await ask(CASES["ollama"].config(model_server, context_limit=32))
    assert model_server.last_request.body["options"]["num_ctx"] == 32_000
    await ask(CASES["ollama"].config(model_server, custom={"num_ctx": "4096"}))
    assert model_server.last_request.body["options"]["num_ctx"] == 4096


async def test_deepseek_does_not_think_unless_told_to(model_server: ModelServer, ask: Ask) -> None:
    model_server.script(text("Hello"), text("Hello"))
    await ask(CASES["deepseek"].config(model_server))
    assert model_server.last_request.body["thinking"] == {"type": "disabled"}
    extra = {"extra_body": '{"thinking": {"type": "enabled"}}'}
    await ask(CASES["deepseek"].config(model_server, custom=extra))
    assert model_server.last_request.body["thinking"] == {"type": "enabled"}


async def test_anthropic_betas_of_the_configuration_are_asked_for(model_server: ModelServer, ask: Ask) -> None:
    model_server.script(text("Hello"))
    await ask(CASES["anthropic"].config(model_server, custom={"betas": '["one-2025", "two-2025"]'}))
    assert model_server.last_request.headers["anthropic-beta"] == "one-2025,two-2025"


async def test_google_answers_400_to_a_wrong_key(model_server: ModelServer, ask: Ask) -> None:
    details = [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}]
    error = {"code": 400, "message": "API key not valid. Please pass a valid API key.", "status": "INVALID_ARGUMENT"}
    model_server.script(http_error(400, {"error": {**error, "details": details}}))
    with pytest.raises(ModelError) as raised:
        await ask(CASES["google"].config(model_server))
    assert raised.value.kind == "authentication"


@pytest.mark.parametrize("custom", [{}, {"region_name": None}, {"region_name": 5}])
async def test_aws_needs_a_region(custom: dict[str, Any]) -> None:
    await prepare_provider("aws")
    config = replace(CASES["aws"].config(_nowhere()), custom=custom)
    with pytest.raises(InvalidRequestError, match="region_name"):
        create_base_model_with_tools([], config)


@pytest.mark.parametrize(
    "wrong", [{"max_retries": "abc"}, {"max_retries": [1]}, {"timeout": "abc"}, {"region_name": "evil.example/"}]
)
async def test_options_that_the_client_refuses_are_said(wrong: dict[str, Any]) -> None:
    await prepare_provider("aws")
    config = CASES["aws"].config(_nowhere())
    with pytest.raises(InvalidRequestError):
        create_base_model_with_tools([], replace(config, custom=config.custom | wrong))


@pytest.mark.parametrize("missing", ["aws_access_key_id", "aws_secret_access_key"])
async def test_aws_needs_both_credentials(missing: str) -> None:
    await prepare_provider("aws")
    config = CASES["aws"].config(_nowhere())
    half = {name: value for name, value in config.secrets.items() if name != missing}
    for ambient in (False, True):
        with pytest.raises(InvalidRequestError, match="aws_access_key_id"):
            create_base_model_with_tools([], replace(config, secrets=half, ambient_credentials=ambient))


async def test_aws_uses_the_servers_credentials_only_if_a_setting_says_so(
    model_server: ModelServer, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "of-the-server")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "of-the-server")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    config = CASES["aws"].config(model_server, secrets={})
    with pytest.raises(InvalidRequestError):
        await ask(config)
    model_server.script(text("Hello"))
    await ask(replace(config, ambient_credentials=True))
    assert model_server.last_request.key == "of-the-server"
    model_server.script(text("Hello"))
    own = {"aws_access_key_id": SecretStr("my-own-key"), "aws_secret_access_key": SecretStr("my-own-secret")}
    await ask(replace(config, ambient_credentials=True, secrets=own))
    assert model_server.last_request.key == "my-own-key"


async def test_aws_takes_a_models_id_and_not_its_arn() -> None:
    await prepare_provider("aws")
    with pytest.raises(InvalidRequestError, match="ARN"):
        create_base_model_with_tools([], CASES["aws"].config(_nowhere(), model="arn:aws:bedrock:us-east-1::x/y"))


@pytest.mark.parametrize(
    "name",
    [
        "additional_headers",
        "anthropic_api_url",
        "anthropic_proxy",
        "api_version",
        "async_client_kwargs",
        "bedrock_client",
        "callbacks",
        "client_args",
        "client_kwargs",
        "client_options",
        "config",
        "container",
        "credentials",
        "credentials_profile_name",
        "default_headers",
        "endpoint_url",
        "location",
        "mcp_servers",
        "model_id",
        "project",
        "raw_blocks",
        "sync_client_kwargs",
        "validate_model_on_init",
        "vertexai",
        "xai_api_base",
    ],
)
async def test_custom_fields_that_reach_beyond_the_request_are_left_out(name: str, case: Case) -> None:
    await prepare_provider(case.name)
    module = importlib.import_module(PROVIDERS[case.name].module)
    clients = [one for one in vars(module).values() if isinstance(one, type) and issubclass(one, BaseChatModel)]
    [client] = [one for one in clients if one.__name__.startswith("Chat")]
    assert custom_fields(client, {name: "value", "top_p": 1}) == {"top_p": 1}
