"""What the server's settings allow a configuration: when it is stored, and again when it is used."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gns3server_copilot.errors import ForbiddenError, InvalidFieldError
from gns3server_copilot.llm.addresses import check_base_url
from gns3server_copilot.llm.config import LLMConfig, StoredConfig
from gns3server_copilot.llm.providers import effective_url
from gns3server_copilot.schemas.identity import User
from gns3server_copilot.schemas.llm_config_changes import UpdateLLMConfig
from gns3server_copilot.schemas.llm_configs import CreateLLMConfig
from gns3server_copilot.settings import Settings


async def check_new(new: CreateLLMConfig, actor: User, settings: Settings) -> None:
    """Raise InvalidFieldError unless this user may store a new configuration that goes where this one would."""
    await _check(_url(new.stored()), actor, settings)


async def check_change(stored: StoredConfig, change: UpdateLLMConfig, actor: User, settings: Settings) -> None:
    """Raise InvalidFieldError unless this user may let a stored configuration go where it would after the change.

    One that goes where it went passes: the web UI sends the URL with every edit.
    """
    url = _url({**stored.config, **change.given})
    if url != _url(stored.config):
        await _check(url, actor, settings)


async def admit(config: LLMConfig, user: User, settings: Settings) -> LLMConfig:
    """Give a configuration for use, with what the settings grant it.

    Where a group's may go was decided when it was stored; users' own are looked at again, since the list of allowed
    addresses may have become stricter. Raises ForbiddenError when this one may not be used any more.
    """
    if config.source == "user":
        try:
            await _check(effective_url(config.provider, config.base_url, config.custom), user, settings)
        except InvalidFieldError:
            raise ForbiddenError(
                "This configuration's base URL is not allowed on this server. Change it, or choose another one."
            ) from None
    return replace(config, ambient_credentials=settings.aws_ambient_credentials)


def _url(fields: Mapping[str, Any]) -> str:
    return effective_url(fields.get("provider") or "", fields.get("base_url") or "", fields)


async def _check(url: str, actor: User, settings: Settings) -> None:
    await check_base_url(url, is_admin=actor.is_superadmin, allowed=settings.base_url_patterns)
