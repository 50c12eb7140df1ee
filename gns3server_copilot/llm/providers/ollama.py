"""Ollama, on the server itself or elsewhere."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import httpx
import ollama
from langchain_core.language_models import BaseChatModel
from langchain_ollama import ChatOllama

from gns3server_copilot.llm.config import LLMConfig
from gns3server_copilot.llm.providers import PROVIDERS
from gns3server_copilot.llm.providers.connection import CONNECT_SECONDS, READ_SECONDS, TLS, connect
from gns3server_copilot.llm.providers.custom_fields import custom_fields


def build(config: LLMConfig, omit: Collection[str]) -> BaseChatModel:
    """Give the client of a configuration. A stored key is not used.

    The whole context limit is asked for: Ollama's own default is small, and what does not fit it drops without a word,
    the system prompt first.
    """
    base_url = config.base_url or PROVIDERS["ollama"].official_url
    options: dict[str, Any] = {"num_ctx": config.context_limit * 1000, **custom_fields(ChatOllama, config.custom)}
    if "num_ctx" in omit:
        options.pop("num_ctx")
    if config.max_tokens is not None:
        options["num_predict"] = config.max_tokens
    model = ChatOllama(
        model=config.model,
        base_url=base_url,
        temperature=config.temperature,
        client_kwargs={"verify": TLS},  # or it would load the certificates again
        **options,
    )
    client = ollama.AsyncClient(host=base_url, verify=TLS)
    client._client = connect(
        httpx.AsyncClient,
        base_url,
        {},
        base_url=client._client.base_url,
        timeout=httpx.Timeout(READ_SECONDS, connect=CONNECT_SECONDS),
    )
    model._async_client = client
    return model
