"""What a change comes to, together with what is stored (docs/developer/llm-configs.md, "Changes")."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from pydantic import SecretStr

from gns3server_copilot.errors import InvalidFieldError
from gns3server_copilot.llm.config import KEYLESS_PROVIDERS, StoredConfig
from gns3server_copilot.schemas.llm_config_changes import UpdateLLMConfig
from gns3server_copilot.schemas.llm_configs import CHAT_MODEL_TYPES, SECRET_FIELDS, check_custom_size

COLUMNS = {"name", "model_type", "is_default"}
ENCRYPTED = {"api_key", *SECRET_FIELDS}
DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True)
class Change:
    """What is to be written.

    `is_default` is None when it stays as it is. `encrypted` has the secrets that change, by field name; None removes
    one. `forget_secrets` removes those that the provider does not use any more.
    """

    name: str
    model_type: str
    config: dict[str, Any]
    is_default: bool | None
    encrypted: Mapping[str, SecretStr | None] = field(default_factory=dict)
    forget_secrets: bool = False


def merge(stored: StoredConfig, shown: StoredConfig, update: UpdateLLMConfig) -> Change:
    """Give what a change makes of a stored configuration. Raises InvalidFieldError.

    `shown` is the same as its owner saw it: the web UI posts whole objects back, and a mode or default flag in them
    that is no other than the one shown changes nothing.
    """
    given = update.given
    if given.get("copilot_mode") == shown.config.get("copilot_mode"):
        given.pop("copilot_mode", None)
    config = _merged_config(stored.config, given, update.custom_fields)
    model_type = given.get("model_type", stored.model_type)
    is_default = given.get("is_default")
    if model_type not in CHAT_MODEL_TYPES and (shown.is_default if is_default is None else is_default):
        raise InvalidFieldError(
            "is_default" if is_default else "model_type", "only text and multimodal models can be the default"
        )
    encrypted = {name: value for name, value in given.items() if name in ENCRYPTED}
    for name, provider in SECRET_FIELDS.items():
        if encrypted.get(name) is not None and config["provider"] != provider:
            raise InvalidFieldError(name, f"is for the provider {provider} only")
    _require_secrets_again(stored, config, encrypted)
    return Change(
        name=given.get("name", stored.name),
        model_type=model_type,
        config=config,
        is_default=None if is_default == shown.is_default else is_default,
        encrypted=encrypted,
        forget_secrets=config["provider"] not in SECRET_FIELDS.values(),
    )


def _merged_config(stored: Mapping[str, Any], given: Mapping[str, Any], custom: Mapping[str, Any]) -> dict[str, Any]:
    config = dict(stored)
    for name, value in given.items():
        if name in COLUMNS | ENCRYPTED:
            continue
        if name not in custom:
            config[name] = str(value) if name == "copilot_mode" else value
        elif value is None:
            config.pop(name, None)
        elif name not in config or value != web_ui_text(config[name]):
            config[name] = value
    try:
        check_custom_size({name: value for name, value in config.items() if name not in UpdateLLMConfig.model_fields})
    except ValueError as error:
        raise InvalidFieldError("custom fields", str(error)) from None
    return config


def web_ui_text(value: Any) -> str:
    """Give what the web UI makes of a custom field that it has read and posts back: JavaScript's String(value)."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return _number_text(value)
    if isinstance(value, list):
        return ",".join("" if one is None else web_ui_text(one) for one in value)
    return "[object Object]" if isinstance(value, dict) else str(value)


def _number_text(value: float) -> str:
    if value.is_integer() and abs(value) < 1e21:
        return str(int(value))
    text = repr(value)
    if "e" not in text:
        return text
    digits, exponent = text.split("e")
    if -6 <= int(exponent) < 0:  # JavaScript begins to use exponents later
        return f"{value:.{len(digits.lstrip('-').replace('.', '')) - 1 - int(exponent)}f}"
    return f"{digits}e{'+' if int(exponent) > 0 else '-'}{abs(int(exponent))}"


def _require_secrets_again(stored: StoredConfig, config: Mapping[str, Any], given: Mapping[str, Any]) -> None:
    """Refuse to send a stored secret to another provider or address: who knows it can give it again.

    Otherwise who may change a configuration, but not read its key, could have the key sent to a server of theirs.
    """
    old, new = stored.config.get("provider"), config["provider"]
    moved = origin(stored.config.get("base_url") or "") != origin(config.get("base_url") or "")
    needed = []
    if stored.encrypted_api_key and (new != old or (moved and new not in KEYLESS_PROVIDERS)):
        needed.append("api_key")
    if stored.encrypted_secrets and new in SECRET_FIELDS.values() and (moved or new != old):
        needed += SECRET_FIELDS
    for name in needed:
        if name not in given:
            raise InvalidFieldError(
                name, "enter it again, because the provider or the address changes and a stored one goes nowhere else"
            )


def origin(url: str) -> tuple[str, str, int | None]:
    """Give scheme, host and port of a base URL: where a key that is used with it goes."""
    parts = urlsplit(url)
    return parts.scheme, parts.hostname or "", parts.port or DEFAULT_PORTS.get(parts.scheme)
