"""Which configuration a turn uses (docs/developer/llm-configs.md, "Inheritance")."""

from __future__ import annotations

from collections.abc import Sequence

from gns3server_copilot.errors import InvalidRequestError
from gns3server_copilot.llm.config import LLMConfig, Owner, StoredConfig
from gns3server_copilot.llm.store import ConfigStore
from gns3server_copilot.schemas.identity import User


async def effective_config(store: ConfigStore, user: User, config_id: str | None) -> LLMConfig:
    """Give the configuration of a turn, ready for use: the one it names, else the user's effective default.

    Raises InvalidRequestError when there is none, or its key cannot be decrypted, or its model cannot chat;
    NotFoundError and ForbiddenError for a `config_id` that does not exist or is not the user's to use.
    """
    owner = Owner("user", user.user_id)
    if config_id is not None:
        chosen: StoredConfig | None = await store.get_config(owner, config_id)
    else:
        chosen = effective_default(await store.list_configs(owner))
    if chosen is None:
        raise InvalidRequestError(
            "No language model is set up for you. Add one in your AI profile, or ask an administrator to do it."
        )
    if not chosen.can_chat:
        raise InvalidRequestError("This configuration's model cannot chat. Choose a text or multimodal one.")
    return await store.for_use(chosen)


def effective_default(own: Sequence[StoredConfig]) -> StoredConfig | None:
    """Give the default among a user's own configurations, which come oldest first: the marked one, else the oldest."""
    usable = [config for config in own if config.can_chat]
    return next((config for config in usable if config.is_default), usable[0] if usable else None)
