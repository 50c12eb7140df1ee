"""xAI."""

from __future__ import annotations

from collections.abc import Collection
from urllib.parse import urlsplit

from langchain_core.language_models import BaseChatModel
from langchain_xai import ChatXAI
from pydantic import SecretStr

from gns3server_copilot.llm.config import LLMConfig
from gns3server_copilot.llm.providers import PROVIDERS
from gns3server_copilot.llm.providers.connection import NO_KEY
from gns3server_copilot.llm.providers.long_conversations import SendsLongConversations
from gns3server_copilot.llm.providers.openai import common_options
from gns3server_copilot.llm.providers.plain_streams import PlainStreams


class _Client(PlainStreams, SendsLongConversations, ChatXAI):
    """The client of this provider."""


def build(config: LLMConfig, omit: Collection[str]) -> BaseChatModel:
    """Give the client of a configuration."""
    base_url = config.base_url or PROVIDERS["xai"].official_url
    if not urlsplit(base_url).path.strip("/"):
        base_url = f"{base_url.rstrip('/')}/v1"  # the web UI fills in the host alone
    options = common_options(_Client, config, base_url, omit)
    options.setdefault("use_responses_api", False)
    # `client` keeps it from making a blocking client that nobody uses
    return _Client(api_key=SecretStr(NO_KEY), max_tokens=config.max_tokens, client="unused", **options)
