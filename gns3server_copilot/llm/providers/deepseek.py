"""DeepSeek."""

from __future__ import annotations

from collections.abc import Collection

from langchain_core.language_models import BaseChatModel
from langchain_deepseek import ChatDeepSeek
from pydantic import SecretStr

from gns3server_copilot.llm.config import LLMConfig
from gns3server_copilot.llm.providers import PROVIDERS
from gns3server_copilot.llm.providers.connection import NO_KEY
from gns3server_copilot.llm.providers.long_conversations import SendsLongConversations
from gns3server_copilot.llm.providers.openai import add_to_body, common_options


class _Client(SendsLongConversations, ChatDeepSeek):
    """The client of this provider."""


def build(config: LLMConfig, omit: Collection[str]) -> BaseChatModel:
    """Give the client of a configuration. Thinking is off, unless the custom field `extra_body` says otherwise.

    In a thinking model's answers DeepSeek wants the thoughts sent back with tool results, or refuses them, by release.
    """
    options = common_options(_Client, config, config.base_url or PROVIDERS["deepseek"].official_url, omit)
    if "thinking" not in omit:
        add_to_body(options, thinking={"type": "disabled"})
    # `client` keeps it from making a blocking client that nobody uses
    return _Client(api_key=SecretStr(NO_KEY), max_tokens=config.max_tokens, client="unused", **options)
