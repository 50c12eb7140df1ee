"""OpenAI, and every server that speaks its chat completions protocol."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import httpx
import openai
from langchain_core.language_models import BaseChatModel
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from gns3server_copilot.errors import InvalidRequestError
from gns3server_copilot.llm.config import LLMConfig
from gns3server_copilot.llm.providers import PROVIDERS
from gns3server_copilot.llm.providers.call_ids import CallIds
from gns3server_copilot.llm.providers.connection import CONNECT_SECONDS, NO_KEY, READ_SECONDS, connect
from gns3server_copilot.llm.providers.custom_fields import custom_fields
from gns3server_copilot.llm.providers.long_conversations import SendsLongConversations
from gns3server_copilot.llm.providers.plain_streams import PlainStreams
from gns3server_copilot.llm.providers.thoughts import Thoughts

OFFICIAL_URL = PROVIDERS["openai"].official_url


class OpenAIModel(PlainStreams, SendsLongConversations, Thoughts, CallIds, ChatOpenAI):
    """The client, with what servers other than OpenAI's own want."""


def build(config: LLMConfig, omit: Collection[str]) -> BaseChatModel:
    """Give the client of a configuration; `stream_options` in `omit` does not ask for the usage of a stream.

    Nothing in it comes from the server's environment but proxy and certificates. Raises InvalidRequestError
    or pydantic's ValidationError when a custom field's value cannot be used.
    """
    base_url = config.base_url or OFFICIAL_URL
    options = common_options(OpenAIModel, config, base_url, omit)
    official = httpx.URL(base_url).host == httpx.URL(OFFICIAL_URL).host
    # OpenAI offers some models through its newer protocol only; elsewhere the same names come without it.
    options.setdefault("use_responses_api", None if official else False)
    if config.max_tokens is not None and official:
        options["max_tokens"] = config.max_tokens
    elif config.max_tokens is not None:
        # ChatOpenAI sends max_completion_tokens, which OpenAI requires and other servers ignore or refuse.
        add_to_body(options, max_tokens=config.max_tokens)
    model = OpenAIModel(api_key=_key_kept_elsewhere, **options)
    model.send_thoughts(False, omit)
    model.shorten_ids(omit)
    return model


async def _key_kept_elsewhere() -> str:
    """Satisfy the openai package, which wants a key. Being async, it also leaves out the blocking client."""
    return NO_KEY


def common_options(
    client_class: type[BaseChatModel], config: LLMConfig, base_url: str, omit: Collection[str]
) -> dict[str, Any]:
    """Give what every client class of this protocol is made with, the length limit and the key apart."""
    options: dict[str, Any] = {
        "timeout": openai.Timeout(READ_SECONDS, connect=CONNECT_SECONDS),
        "max_retries": 0,  # retries are the turn's
        "stream_usage": "stream_options" not in omit,
        **custom_fields(client_class, config.custom),
    }
    if not isinstance(options["timeout"], (int, float, openai.Timeout)):
        raise InvalidRequestError("The configuration's timeout must be a number of seconds.")
    return options | {
        "model": config.model,
        "base_url": base_url,
        "temperature": config.temperature,
        "http_async_client": connect(openai.DefaultAsyncHttpxClient, base_url, bearer(config.api_key)),
        "openai_proxy": None,
        "output_version": None,
        "stream_chunk_timeout": None,
    }


def add_to_body(options: dict[str, Any], **fields: Any) -> None:
    """Add fields to the request that the client class does not know; those of the custom field `extra_body` win."""
    extra_body = options.setdefault("extra_body", {})
    if isinstance(extra_body, dict):
        options["extra_body"] = fields | extra_body


def bearer(key: SecretStr | None) -> dict[str, SecretStr]:
    """Give the header for a key; none for none."""
    return {} if key is None else {"Authorization": SecretStr(f"Bearer {key.get_secret_value()}")}
