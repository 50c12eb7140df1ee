"""Configurations and tools to test with."""

from __future__ import annotations

from typing import Any

from pydantic import SecretStr

from gns3server_copilot.llm.config import LLMConfig
from gns3server_copilot.schemas.llm_configs import CreateLLMConfig
from gns3server_copilot.schemas.modes import Mode

CONFIG = LLMConfig(
    config_id="8b9d1c66-6f0f-4b4c-9b0e-5c8c2f8a1c11",
    version=0,
    name="main",
    source="user",
    provider="openai",
    model="gpt-4o",
    base_url="http://127.0.0.1:9/v1",
    temperature=None,
    max_tokens=None,
    context_limit=128,
    context_strategy="balanced",
    copilot_mode=Mode.TEACHING,
    api_key=SecretStr("sk-0123456789"),
)


def tool(name: str) -> dict[str, Any]:
    parameters = {
        "type": "object",
        "properties": {"name": {"type": "string", "description": "A node."}},
        "required": ["name"],
    }
    return {"type": "function", "function": {"name": name, "description": f"Does {name}.", "parameters": parameters}}


def new(name: str = "main", **fields: Any) -> CreateLLMConfig:
    return CreateLLMConfig.model_validate(
        {"name": name, "model_type": "text", "provider": "openai", "model": "gpt", "context_limit": 128, **fields}
    )
