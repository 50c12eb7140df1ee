"""Nothing of the server's environment reaches a provider, whatever the packages would take from it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.ground.model_script import text
from tests.ground.model_server import ModelRequest, ModelServer
from tests.unit.llm.providers.cases import CASES, KEY, Case
from tests.unit.llm.providers.conftest import Ask, skip_if_absent

VALUE = "fromenvironment"
NOWHERE = "http://127.0.0.1:9/fromenvironment"
HEADERS = (
    f"Authorization: Bearer {VALUE}\nX-Api-Key: {VALUE}\nHost: {VALUE}\nanthropic-beta: {VALUE}\n"
    f"User-Agent: {VALUE}\nX-Stainless-Os: {VALUE}"
)

#: What the packages read of keys, addresses, headers and modes, as found in their sources: anthropic 2.14, boto3 and
#: botocore 1.44, google-auth 2.63, google-genai 3.6, ollama 0.6, openai 3.57, and LangChain's package of each. Those of
#: openai alone have a test of their own.
VARIABLES = {
    **dict.fromkeys(
        (
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_AUTH_TOKEN",
            "ANTHROPIC_AWS_API_KEY",
            "ANTHROPIC_FEDERATION_RULE_ID",
            "ANTHROPIC_IDENTITY_TOKEN",
            "ANTHROPIC_MCP_SERVERS",
            "ANTHROPIC_ORGANIZATION_ID",
            "ANTHROPIC_PROFILE",
            "ANTHROPIC_SCOPE",
            "ANTHROPIC_SERVICE_ACCOUNT_ID",
            "ANTHROPIC_SESSION_ID",
            "ANTHROPIC_WEBHOOK_SIGNING_KEY",
            "ANTHROPIC_WORKSPACE_ID",
            "AWS_ACCESS_KEY_ID",
            "AWS_ACCOUNT_ID",
            "AWS_BEARER_TOKEN_BEDROCK",
            "AWS_CONTAINER_AUTHORIZATION_TOKEN",
            "AWS_DEFAULT_PROFILE",
            "AWS_DEFAULT_REGION",
            "AWS_EXECUTION_ENV",
            "AWS_PROFILE",
            "AWS_REGION",
            "AWS_ROLE_ARN",
            "AWS_SDK_UA_APP_ID",
            "AWS_SECRET_ACCESS_KEY",
            "AWS_SECURITY_TOKEN",
            "AWS_SESSION_TOKEN",
            "DEEPSEEK_API_KEY",
            "GCLOUD_PROJECT",
            "GEMINI_API_KEY",
            "GOOGLE_API_KEY",
            "GOOGLE_CLOUD_LOCATION",
            "GOOGLE_CLOUD_PROJECT",
            "GOOGLE_CLOUD_QUOTA_PROJECT",
            "GOOGLE_CLOUD_AGENT_ENGINE_ID",
            "GOOGLE_GENAI_ACCESS_TOKEN",
            "GOOGLE_GENAI_API_KEY",
            "GOOGLE_GENAI_API_VERSION",
            "GOOGLE_GENAI_USER_PROJECT",
            "LANGSMITH_API_KEY",
            "LANGSMITH_GATEWAY_API_KEY",
            "OLLAMA_API_KEY",
            "OPENAI_ADMIN_KEY",
            "OPENAI_API_KEY",
            "OPENAI_ORG_ID",
            "OPENAI_PROJECT_ID",
            "XAI_API_KEY",
        ),
        VALUE,
    ),
    **dict.fromkeys(
        (
            "ANTHROPIC_API_URL",
            "ANTHROPIC_AWS_BASE_URL",
            "ANTHROPIC_BASE_URL",
            "ANTHROPIC_PROXY",
            "AWS_CONTAINER_CREDENTIALS_FULL_URI",
            "AWS_EC2_METADATA_SERVICE_ENDPOINT",
            "AWS_ENDPOINT_URL",
            "AWS_ENDPOINT_URL_BEDROCK_RUNTIME",
            "DEEPSEEK_API_BASE",
            "GOOGLE_GEMINI_BASE_URL",
            "GOOGLE_VERTEX_BASE_URL",
            "LANGSMITH_GATEWAY",
            "OLLAMA_HOST",
            "OPENAI_API_BASE",
            "OPENAI_BASE_URL",
            "OPENAI_PROXY",
            "XAI_API_BASE",
        ),
        NOWHERE,
    ),
    "ANTHROPIC_CUSTOM_HEADERS": HEADERS,
    "ANTHROPIC_OPEN_TELEMETRY": "true",
    "AWS_AUTH_SCHEME_PREFERENCE": "httpBearerAuth",
    "AWS_CSM_ENABLED": "true",
    "AWS_DEFAULTS_MODE": "auto",
    "AWS_MAX_ATTEMPTS": "5",
    "AWS_RETRY_MODE": "adaptive",
    "AWS_USE_DUALSTACK_ENDPOINT": "true",
    "AWS_USE_FIPS_ENDPOINT": "true",
    "GOOGLE_API_USE_CLIENT_CERTIFICATE": "true",
    "GOOGLE_API_USE_MTLS_ENDPOINT": "always",
    "GOOGLE_GENAI_CLIENT_MODE": "replay",
    "GOOGLE_GENAI_DEFAULT_HEADERS": f"Authorization: {VALUE}",
    "GOOGLE_GENAI_HTTP_CLIENT": "httpx2",
    "GOOGLE_GENAI_REPLAYS_DIRECTORY": "/nowhere",
    "GOOGLE_GENAI_REPLAY_ID": VALUE,
    "GOOGLE_GENAI_USE_ENTERPRISE": "true",
    "GOOGLE_GENAI_USE_VERTEXAI": "true",
    "LC_OUTPUT_VERSION": "v1",
    "OPENAI_CUSTOM_HEADERS": HEADERS,
}

#: The variables that a provider's packages have something to do with, by the beginning of their names.
READ_BY = {
    "openai": ("OPENAI", "LANGSMITH", "LC"),
    "deepseek": ("OPENAI", "DEEPSEEK", "LANGSMITH", "LC"),
    "xai": ("OPENAI", "XAI", "LANGSMITH", "LC"),
    "anthropic": ("ANTHROPIC", "LANGSMITH", "LC"),
    "google": ("GOOGLE", "GEMINI", "GCLOUD", "LC"),
    "ollama": ("OLLAMA", "LC"),
    "aws": ("AWS", "LANGSMITH", "ANTHROPIC", "LC"),
}


PAIRS = [(name, variable) for name, start in READ_BY.items() for variable in VARIABLES if variable.startswith(start)]


@pytest.mark.parametrize(("name", "variable"), PAIRS, ids="-".join)
async def test_no_variable_changes_what_is_sent(
    name: str, variable: str, model_server: ModelServer, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    skip_if_absent(name)
    monkeypatch.setenv(variable, VARIABLES[variable])
    await check(CASES[name], model_server, ask)


@pytest.mark.parametrize("with_key", [True, False], ids=["own key", "no key"])
async def test_not_even_all_of_them_together(
    with_key: bool, case: Case, model_server: ModelServer, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in VARIABLES.items():
        monkeypatch.setenv(name, value)
    await check(case, model_server, ask, **({} if with_key or case.name == "aws" else {"api_key": None}))


async def test_no_file_in_the_home_directory_is_read(
    case: Case, model_server: ModelServer, ask: Ask, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for folder, name, content in (
        (".aws", "config", f"[default]\nendpoint_url = {NOWHERE}\nregion = {VALUE}\nsdk_ua_app_id = {VALUE}\n"),
        (".aws", "credentials", f"[default]\naws_access_key_id = {VALUE}\naws_secret_access_key = {VALUE}\n"),
        (".config/anthropic", "active_config", "default"),
    ):
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        (tmp_path / folder / name).write_text(content)
    monkeypatch.setenv("HOME", str(tmp_path))
    await check(case, model_server, ask)


async def check(case: Case, server: ModelServer, ask: Ask, **changes: Any) -> None:
    """Ask once, and look at all that came of it."""
    server.script(text("Hello there"))
    received = await ask(case.config(server, **changes))
    assert received.message.content in ("Hello there", [{"type": "text", "text": "Hello there", "index": 0}])
    request: ModelRequest = server.last_request
    headers = request.headers
    assert VALUE not in str(headers)
    assert VALUE not in str(request.body)
    assert request.path == case.path
    assert request.key == (KEY if case.sends_key and changes.get("api_key", KEY) else "")
    assert headers["host"] == server.root_url.removeprefix("http://")
    assert headers["user-agent"] == "gns3server-copilot/" + headers["user-agent"].partition("/")[2]
    framing = {"accept", "accept-encoding", "connection", "content-length", "content-type", "host", "user-agent"}
    assert set(headers) <= framing | case.headers
