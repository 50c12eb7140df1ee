"""Google's Gemini models, over the REST interface of the Gemini API."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import httpx
from google import genai
from google.genai.client import DebugConfig
from google.genai.types import HttpOptions
from langchain_core.language_models import BaseChatModel
from langchain_google_genai import ChatGoogleGenerativeAI
from pydantic import SecretStr

from gns3server_copilot.llm.config import LLMConfig
from gns3server_copilot.llm.providers import PROVIDERS
from gns3server_copilot.llm.providers.connection import CONNECT_SECONDS, NO_KEY, READ_SECONDS, TLS, connect
from gns3server_copilot.llm.providers.custom_fields import custom_fields

API_VERSION = "v1beta"


def build(config: LLMConfig, omit: Collection[str]) -> BaseChatModel:
    """Give the client of a configuration."""
    # the client adds the version itself
    base_url = (config.base_url or PROVIDERS["google"].official_url).rstrip("/").removesuffix(f"/{API_VERSION}")
    options: dict[str, Any] = {"max_retries": 1, **custom_fields(ChatGoogleGenerativeAI, config.custom)}
    model = ChatGoogleGenerativeAI(
        model=config.model,
        base_url=base_url,
        api_key=SecretStr(NO_KEY),
        vertexai=False,  # or the environment would decide
        location=None,
        temperature=config.temperature,
        max_tokens=config.max_tokens,
        client_args={"verify": TLS},  # or it would load the certificates twice again
        **options,
    )
    model.client = _client(base_url, {} if config.api_key is None else {"x-goog-api-key": config.api_key})
    return model


def _client(base_url: str, headers: dict[str, SecretStr]) -> genai.Client:
    """Give a client that speaks HTTP through our connection; it would use aiohttp otherwise, or gRPC."""
    connection = connect(
        httpx.AsyncClient, base_url, headers, timeout=httpx.Timeout(READ_SECONDS, connect=CONNECT_SECONDS)
    )
    options = HttpOptions(
        base_url=base_url,
        api_version=API_VERSION,
        httpx_client=httpx.Client(verify=TLS),
        httpx_async_client=connection,
    )
    # the environment could have every chat recorded in files
    no_recording = DebugConfig(client_mode="", replays_directory="", replay_id="")
    return genai.Client(vertexai=False, api_key=NO_KEY, http_options=options, debug_config=no_recording)
