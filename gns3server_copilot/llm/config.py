"""A configuration of a language model: as it is stored, and as a turn uses it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from pydantic import SecretStr

from gns3server_copilot.schemas.llm_configs import CHAT_MODEL_TYPES, UserConfigAnswer
from gns3server_copilot.schemas.modes import CONFIGURABLE_MODES, Mode

Source = Literal["user", "group"]

#: Providers that have no key. One that is stored all the same, because the web UI insists on it, is never read.
KEYLESS_PROVIDERS = frozenset({"aws", "offline", "ollama"})

_OPTIONS = {
    "provider",
    "model",
    "base_url",
    "temperature",
    "max_tokens",
    "context_limit",
    "context_strategy",
    "copilot_mode",
}


@dataclass(frozen=True)
class Owner:
    """Whose a configuration is. `id` is UUID text with dashes, of a user or a group."""

    kind: Source
    id: str


@dataclass(frozen=True)
class StoredConfig:
    """A row of `copilot_llm_configs`. `config` is its JSON, custom fields included; the key stays encrypted.

    `key_error` says that it can no longer be decrypted. `group_name` is known where a user looks at what is inherited.
    """

    config_id: str
    name: str
    model_type: str
    config: dict[str, Any]
    owner: Owner
    is_default: bool
    version: int
    created_at: datetime
    updated_at: datetime
    encrypted_api_key: str | None = field(repr=False)
    encrypted_secrets: str | None = field(default=None, repr=False)
    key_error: bool = False
    group_name: str | None = None

    @property
    def encrypted(self) -> list[str]:
        """Everything that is stored encrypted."""
        return [token for token in (self.encrypted_api_key, self.encrypted_secrets) if token is not None]

    @property
    def can_chat(self) -> bool:
        """Whether its model is of a type that answers in a chat."""
        return self.model_type in CHAT_MODEL_TYPES

    def as_answer(self) -> UserConfigAnswer:
        """Give what may be shown of it: everything but what is encrypted."""
        return UserConfigAnswer(
            config_id=self.config_id,
            name=self.name,
            model_type=self.model_type,
            config={**self.config, "api_key": None},
            user_id=self.owner.id if self.owner.kind == "user" else None,
            group_id=self.owner.id if self.owner.kind == "group" else None,
            is_default=self.is_default,
            has_api_key=bool(self.encrypted),
            key_error=self.key_error,
            version=self.version,
            created_at=self.created_at.isoformat(timespec="microseconds"),
            updated_at=self.updated_at.isoformat(timespec="microseconds"),
            source=self.owner.kind,
            group_name=self.group_name,
        )


@dataclass(frozen=True)
class LLMConfig:
    """A configuration with its key decrypted, for one turn. `context_limit` is in thousands of tokens.

    `temperature` and `max_tokens` of None are not sent to the provider. `dataclasses.replace` makes a turn's override.
    `secrets` are what a provider needs besides a key, by field name. `ambient_credentials` lets aws use the server's
    own credentials, which only a setting allows.
    """

    config_id: str
    version: int
    name: str
    source: Source
    provider: str
    model: str
    base_url: str
    temperature: float | None
    max_tokens: int | None
    context_limit: int
    context_strategy: str
    copilot_mode: Mode
    api_key: SecretStr | None
    custom: dict[str, Any] = field(default_factory=dict)
    secrets: dict[str, SecretStr] = field(default_factory=dict)
    ambient_credentials: bool = False

    @property
    def secret_values(self) -> list[str]:
        """The key and the other secrets in the clear, for what keeps them out of logs."""
        held = [*([self.api_key] if self.api_key else []), *self.secrets.values()]
        return [secret.get_secret_value() for secret in held]

    @classmethod
    def from_stored(
        cls, stored: StoredConfig, api_key: SecretStr | None, secrets: Mapping[str, SecretStr] | None = None
    ) -> LLMConfig:
        """Give the configuration of a row. What the row lacks or holds wrongly gets its default."""
        options = stored.config
        mode = options.get("copilot_mode")
        return cls(
            config_id=stored.config_id,
            version=stored.version,
            name=stored.name,
            source=stored.owner.kind,
            provider=options.get("provider") or "",
            model=options.get("model") or "",
            base_url=options.get("base_url") or "",
            temperature=options.get("temperature"),
            max_tokens=options.get("max_tokens"),
            context_limit=options.get("context_limit") or 128,
            context_strategy=options.get("context_strategy") or "balanced",
            copilot_mode=Mode(mode) if mode in CONFIGURABLE_MODES else Mode.TEACHING,
            api_key=api_key,
            custom={name: value for name, value in options.items() if name not in _OPTIONS},
            secrets=dict(secrets or {}),
        )
