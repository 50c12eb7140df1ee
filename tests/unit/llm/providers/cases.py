"""What differs between providers when their clients are tested."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from pydantic import SecretStr

from gns3server_copilot.llm.config import LLMConfig
from tests.ground.model_server import ModelRequest, ModelServer
from tests.unit.llm.samples import CONFIG

KEY = "sk-test-0123456789abcdef"
AWS_SECRET = "aws-secret-0123456789abcdef"


@dataclass(frozen=True)
class Case:
    """A provider: where its client goes, and where a request says what the configuration said.

    `custom` is a custom field of the client with the value as the web UI sends it, and `arrived` what comes of it.
    """

    name: str
    model: str
    path: str
    parameters: Callable[[dict[str, Any]], dict[str, Any]]
    max_tokens: str
    custom: tuple[str, str]
    arrived: tuple[str, Any]
    at_v1: bool = False
    sends_key: bool = True
    always_sends_max_tokens: bool = False
    headers: frozenset[str] = frozenset()

    def config(self, server: ModelServer, **changes: Any) -> LLMConfig:
        """Give a configuration that goes to the scripted server."""
        given: dict[str, Any] = {
            "provider": self.name,
            "model": self.model,
            "base_url": server.base_url if self.at_v1 else server.root_url,
            "api_key": SecretStr(KEY),
        }
        if self.name == "aws":
            secrets = {"aws_access_key_id": SecretStr(KEY), "aws_secret_access_key": SecretStr(AWS_SECRET)}
            given |= {"api_key": None, "custom": {"region_name": "us-east-1"}, "secrets": secrets}
            changes["custom"] = given["custom"] | changes.get("custom", {})
        return replace(CONFIG, **(given | changes))

    def sent(self, request: ModelRequest) -> dict[str, Any]:
        """Give the parameters of a request, apart from messages and tools."""
        return self.parameters(request.body)


def _flat(body: dict[str, Any]) -> dict[str, Any]:
    return body


CASES = {
    case.name: case
    for case in (
        Case(
            "openai",
            "gpt-4o",
            "/v1/chat/completions",
            _flat,
            "max_tokens",
            ("top_p", "0.5"),
            ("top_p", 0.5),
            at_v1=True,
            headers=frozenset({"authorization"}),
        ),
        Case(
            "deepseek",
            "deepseek-chat",
            "/v1/chat/completions",
            _flat,
            "max_tokens",
            ("top_p", "0.5"),
            ("top_p", 0.5),
            at_v1=True,
            headers=frozenset({"authorization"}),
        ),
        Case(
            "xai",
            "grok-4",
            "/v1/chat/completions",
            _flat,
            "max_tokens",
            ("top_p", "0.5"),
            ("top_p", 0.5),
            at_v1=True,
            headers=frozenset({"authorization"}),
        ),
        Case(
            "anthropic",
            "claude-sonnet-4-5",
            "/v1/messages",
            _flat,
            "max_tokens",
            ("top_k", "40"),
            ("top_k", 40),
            always_sends_max_tokens=True,
            headers=frozenset({"x-api-key", "anthropic-version"}),
        ),
        Case(
            "google",
            "gemini-2.5-flash",
            "/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse",
            lambda body: body.get("generationConfig", {}),
            "maxOutputTokens",
            ("top_k", "40"),
            ("topK", 40),
            headers=frozenset({"x-goog-api-key"}),
        ),
        Case(
            "ollama",
            "llama3.2",
            "/api/chat",
            lambda body: body["options"],
            "num_predict",
            ("top_k", "40"),
            ("top_k", 40),
            sends_key=False,
        ),
        Case(
            "aws",
            "anthropic.claude-3-5-sonnet-20241022-v2:0",
            "/model/anthropic.claude-3-5-sonnet-20241022-v2%3A0/converse-stream",
            lambda body: body.get("inferenceConfig", {}),
            "maxTokens",
            ("top_p", "0.5"),
            ("topP", 0.5),
            headers=frozenset({"amz-sdk-invocation-id", "amz-sdk-request", "authorization", "x-amz-date"}),
        ),
    )
}
