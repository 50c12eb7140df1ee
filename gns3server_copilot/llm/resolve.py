"""Which configuration a turn uses (docs/developer/llm-configs.md, "Inheritance")."""

from __future__ import annotations

from gns3server_copilot.errors import InvalidRequestError
from gns3server_copilot.llm.config import LLMConfig
from gns3server_copilot.llm.policies import Policy
from gns3server_copilot.llm.store import ConfigStore
from gns3server_copilot.schemas.identity import User


async def effective_config(store: ConfigStore, user: User, config_id: str | None) -> tuple[LLMConfig, Policy]:
    """Give the configuration of a turn, ready for use, and the policy that binds the user at this moment.

    It is the one that the turn names, else the user's effective default.

    Raises InvalidRequestError when there is none, or its key cannot be decrypted, or its model cannot chat;
    NotFoundError and ForbiddenError for a `config_id` that does not exist or is not the user's to use.
    """
    usable = await store.usable_configs(user.user_id)
    chosen = usable.default if config_id is None else await store.require(usable, config_id)
    if chosen is None:
        raise InvalidRequestError(
            "No language model is set up for you. Add one in your AI profile, or ask an administrator to do it."
        )
    if not chosen.can_chat:
        raise InvalidRequestError("This configuration's model cannot chat. Choose a text or multimodal one.")
    return await store.for_use(chosen), usable.policy
