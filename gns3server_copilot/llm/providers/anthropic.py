"""Anthropic."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Iterable
from functools import partial
from typing import Any

import anthropic
from langchain_anthropic import ChatAnthropic
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatGenerationChunk
from pydantic import SecretStr

from gns3server_copilot.errors import InvalidRequestError
from gns3server_copilot.llm.config import LLMConfig
from gns3server_copilot.llm.providers import PROVIDERS
from gns3server_copilot.llm.providers.connection import CONNECT_SECONDS, NO_KEY, READ_SECONDS, connect
from gns3server_copilot.llm.providers.custom_fields import custom_fields

PROTOCOL_VERSION = "2023-06-01"
#: So many messages are put into a request faster than another thread is asked for it.
FEW = 16


class _Client(ChatAnthropic):
    """Keeps a long conversation, which takes the package 60 ms for 800 messages, from holding the event loop."""

    async def _astream(
        self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: Any = None, **kwargs: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        if len(messages) > FEW:
            prepare = partial(self._get_request_payload, messages, stop=stop, **{**kwargs, "stream": True})
            messages = _Prepared(messages, await asyncio.to_thread(prepare))
        async for chunk in super()._astream(messages, stop, run_manager, **kwargs):
            yield chunk

    def _get_request_payload(
        self, input_: LanguageModelInput, *, stop: list[str] | None = None, **kwargs: Any
    ) -> dict[str, Any]:
        if isinstance(input_, _Prepared):
            return input_.payload
        return super()._get_request_payload(input_, stop=stop, **kwargs)

    async def _acreate(self, payload: dict[str, Any]) -> Any:
        # as in `long_conversations`: the package would look for keys to rename in every message
        extra_body = {**(payload.get("extra_body") or {}), "messages": payload["messages"]}
        return await super()._acreate(payload | {"messages": [], "extra_body": extra_body})


class _Prepared(list[BaseMessage]):
    """Messages with the request that asks for their continuation."""

    def __init__(self, messages: Iterable[BaseMessage], payload: dict[str, Any]) -> None:
        super().__init__(messages)
        self.payload = payload


def build(config: LLMConfig, omit: Collection[str]) -> BaseChatModel:
    """Give the client of a configuration. Without `max_tokens` the model's own longest answer is asked for."""
    # the client adds the version itself
    base_url = (config.base_url or PROVIDERS["anthropic"].official_url).rstrip("/").removesuffix("/v1")
    options = custom_fields(_Client, config.custom)
    timeout = options.pop("timeout", None) or options.pop("default_request_timeout", None) or READ_SECONDS
    if not isinstance(timeout, (int, float)):
        raise InvalidRequestError("The configuration's timeout must be a number of seconds.")
    headers: dict[str, str | SecretStr] = {"anthropic-version": PROTOCOL_VERSION}
    if betas := options.get("betas"):
        headers["anthropic-beta"] = ",".join(betas) if isinstance(betas, list) else str(betas)
    if config.api_key is not None:
        headers["x-api-key"] = config.api_key
    model = _Client(
        model=config.model,
        base_url=base_url,
        api_key=SecretStr(NO_KEY),
        temperature=config.temperature,
        max_tokens=config.max_tokens,
        anthropic_proxy=None,
        **options,
    )
    # a property of the class that keeps what it has made here, from the server's environment
    vars(model)["_async_client"] = _client(base_url, headers, timeout, int(options.get("max_retries", 0)))
    return model


def _client(base_url: str, headers: dict[str, Any], timeout: float, retries: int) -> anthropic.AsyncAnthropic:
    return anthropic.AsyncAnthropic(
        api_key=NO_KEY,
        base_url=base_url,
        open_telemetry=False,  # the environment could have every chat traced
        max_retries=retries,  # none but those that the configuration asks for: retries are the turn's
        timeout=anthropic.Timeout(timeout, connect=CONNECT_SECONDS),
        http_client=connect(anthropic.DefaultAsyncHttpxClient, base_url, headers),
    )
