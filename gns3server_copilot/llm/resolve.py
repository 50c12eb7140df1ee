"""Which configuration a turn uses (docs/developer/llm-configs.md, "Inheritance")."""

from __future__ import annotations

from gns3server_copilot.errors import InvalidRequestError
from gns3server_copilot.llm.config import LLMConfig
from gns3server_copilot.llm.store import ConfigStore
from gns3server_copilot.schemas.identity import User


async def effective_config(store: ConfigStore, user: User, config_id: str | None) -> LLMConfig:
    """Give the configuration of a turn, ready for use: the one it names, else the user's effective default.

    Raises InvalidRequestError when there is none, or its key cannot be decrypted, or its model cannot chat;
    NotFoundError and ForbiddenError for a `config_id` that does not exist or is not the user's to use.
    """
    if config_id is not None:
        chosen = await store.user_config(user.user_id, config_id)
    else:
        default = (await store.user_configs(user.user_id)).default
        if default is None:
            raise InvalidRequestError(
                "No language model is set up for you. Add one in your AI profile, or ask an administrator to do it."
            )
        chosen = default
    if not chosen.can_chat:
        raise InvalidRequestError("This configuration's model cannot chat. Choose a text or multimodal one.")
    return await store.for_use(chosen)
