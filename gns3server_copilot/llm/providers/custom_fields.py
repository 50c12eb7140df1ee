"""Which custom fields of a configuration a provider's client gets."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, get_args

from langchain_core.language_models import BaseChatModel
from pydantic.fields import FieldInfo

from gns3server_copilot.schemas.llm_configs import looks_secret

#: What every LangChain model declares and no configuration may set: they run code, leave the configuration's address,
#: or belong to the copilot.
REFUSED = {
    "api_version",
    "base_url",
    "cache",
    "config",
    "container",
    "custom_get_token_ids",
    "location",
    "mcp_servers",
    "metadata",
    "model",
    "model_id",
    "model_kwargs",
    "model_name",
    "output_version",
    "profile",
    "project",
    "rate_limiter",
    "raw_blocks",
    "streaming",
    "tags",
    "validate_model_on_init",
    "verbose",
    "vertexai",
}
REFUSED_PARTS = (
    "api_base",
    "api_url",
    "callback",
    "client",
    "credentials",
    "endpoint",
    "header",
    "http_",
    "organization",
    "proxy",
)


def custom_fields(client: type[BaseChatModel], custom: Mapping[str, Any]) -> dict[str, Any]:
    """Give the custom fields that the client class declares, by field name or alias, as values it can take.

    Those that hold keys, run code or change where requests go are left out.
    """
    declared = client.model_fields | {info.alias: info for info in client.model_fields.values() if info.alias}
    return {
        name: _value(value, declared[name])
        for name, value in custom.items()
        if name in declared and not _is_refused(name)
    }


def _is_refused(name: str) -> bool:
    return name in REFUSED or looks_secret(name) or any(part in name for part in REFUSED_PARTS)


def _value(value: Any, info: FieldInfo) -> Any:
    """Read numbers, switches and objects out of strings, which is all that the web UI's custom rows can send."""
    if not isinstance(value, str) or info.annotation is str or str in get_args(info.annotation):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value
