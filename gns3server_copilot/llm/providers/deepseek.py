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
from gns3server_copilot.llm.providers.plain_streams import PlainStreams
from gns3server_copilot.llm.providers.thoughts import Thoughts


class DeepSeekModel(PlainStreams, SendsLongConversations, Thoughts, ChatDeepSeek):
    """The client, with thoughts that can go back."""


def build(config: LLMConfig, omit: Collection[str]) -> BaseChatModel:
    """Give the client of a configuration. Thinking is off, unless the custom field `extra_body` says otherwise.

    With tool results DeepSeek wants a thinking model's thoughts back, or refuses them, by release. They are sent when
    the configuration turns thinking on.
    """
    options = common_options(DeepSeekModel, config, config.base_url or PROVIDERS["deepseek"].official_url, omit)
    thinks = isinstance(options.get("extra_body"), dict) and "enabled" in str(options["extra_body"].get("thinking"))
    if "thinking" not in omit:
        add_to_body(options, thinking={"type": "disabled"})
    # `client` keeps it from making a blocking client that nobody uses
    model = DeepSeekModel(api_key=SecretStr(NO_KEY), max_tokens=config.max_tokens, client="unused", **options)
    model.send_thoughts(thinks, omit)
    return model
