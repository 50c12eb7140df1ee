"""A configuration of a language model: as it is stored, and as a turn uses it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from pydantic import SecretStr

from gns3server_copilot.schemas.llm_configs import CHAT_MODEL_TYPES, UserConfigAnswer
from gns3server_copilot.schemas.modes import CONFIGURABLE_MODES, Mode

Source = Literal["user", "group"]

#: Providers that have no key. One that is stored all the same, because the web UI insists on it, is never read.
KEYLESS_PROVIDERS = frozenset({"offline"})

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
    """A row of `copilot_llm_configs`. `config` is its JSON, custom fields included; the key stays encrypted."""

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

    @property
    def can_chat(self) -> bool:
        """Whether its model is of a type that answers in a chat."""
        return self.model_type in CHAT_MODEL_TYPES

    def as_answer(self, group_name: str | None = None) -> UserConfigAnswer:
        """Give what a user sees; `group_name` is the name of the group that owns it."""
        return UserConfigAnswer(
            config_id=self.config_id,
            name=self.name,
            model_type=self.model_type,
            config={**self.config, "api_key": None},
            user_id=self.owner.id if self.owner.kind == "user" else None,
            group_id=self.owner.id if self.owner.kind == "group" else None,
            is_default=self.is_default,
            has_api_key=self.encrypted_api_key is not None,
            version=self.version,
            created_at=self.created_at.isoformat(timespec="microseconds"),
            updated_at=self.updated_at.isoformat(timespec="microseconds"),
            source=self.owner.kind,
            group_name=group_name,
        )


@dataclass(frozen=True)
class LLMConfig:
    """A configuration with its key decrypted, for one turn. `context_limit` is in thousands of tokens.

    `temperature` and `max_tokens` of None are not sent to the provider. `dataclasses.replace` makes a turn's override.
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

    @classmethod
    def from_stored(cls, stored: StoredConfig, api_key: SecretStr | None) -> LLMConfig:
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
        )
