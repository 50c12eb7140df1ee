"""Makes the LangChain model of a turn, and keeps it as long as its configuration stays the same."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from types import ModuleType
from typing import Any

from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage
from langchain_core.runnables import Runnable
from pydantic import ValidationError

from gns3server_copilot.errors import CopilotError, InvalidRequestError
from gns3server_copilot.llm.config import LLMConfig
from gns3server_copilot.llm.importing import import_quickly
from gns3server_copilot.llm.providers import PROVIDERS, Provider
from gns3server_copilot.schemas.wire_names import CALL_ID, THOUGHTS

log = logging.getLogger(__name__)

Model = Runnable[LanguageModelInput, AIMessage]

#: They log every request with its URL at INFO, and more of it at DEBUG: headers, messages, answers.
TALKATIVE_LOGGERS = (
    "anthropic",
    "boto3",
    "botocore",
    "google_genai",
    "httpcore",
    "httpcore2",
    "httpx",
    "httpx2",
    "langchain_aws",
    "langchain_google_genai",
    "openai",
    "urllib3",
)

KEPT_MODELS = 64

OPTIONAL = ("temperature", "max_tokens")
#: Of OpenAI's protocol.
OPTIONAL_IN_STREAMS = (*OPTIONAL, "max_completion_tokens", "stream_options")
#: What providers' modules can leave out of requests, where that is not just `OPTIONAL`. Two are no parameters: thoughts
#: are left out or sent, whichever was not done (`providers.thoughts`), and ids of tool calls are written in another way
#: (`providers.call_ids`).
OPTIONAL_OF = {
    "offline": (),
    "openai": (*OPTIONAL_IN_STREAMS, THOUGHTS, CALL_ID),
    "deepseek": (*OPTIONAL_IN_STREAMS, THOUGHTS, "thinking"),
    "ollama": (*OPTIONAL, "num_ctx"),
    "xai": OPTIONAL_IN_STREAMS,
}

_modules: dict[Provider, ModuleType] = {}
_models: OrderedDict[tuple[object, ...], Model] = OrderedDict()
_lock = threading.Lock()


async def prepare_provider(provider: str) -> None:
    """Import a provider's client in a thread; it takes more than a second the first time.

    Raises InvalidRequestError with the pip command when its package is not installed.
    """
    if PROVIDERS.get(provider) not in _modules:
        await asyncio.to_thread(_load, provider)


def create_base_model_with_tools(
    mode_tools: Sequence[dict[str, Any]], llm_config: LLMConfig, omit: Collection[str] = ()
) -> Model:
    """Give the model of a configuration, which can call the given tools.

    `mode_tools` are tool definitions in OpenAI's shape. `omit` names request parameters (`temperature`, `max_tokens`,
    `stream_options`, custom fields) that this provider has refused and that are left out. `prepare_provider` comes
    first. A new model takes up to 400 ms (aws), so turns use `model_with_tools`. Raises InvalidRequestError when the
    configuration cannot be used.
    """
    key = _cache_key(mode_tools, llm_config, omit)
    with _lock:
        model = _models.get(key)
        if model is None:
            model = _create(mode_tools, llm_config, omit)
            _models[key] = model
            if len(_models) > KEPT_MODELS:
                _models.popitem(last=False)
        _models.move_to_end(key)
    return model


async def model_with_tools(
    mode_tools: Sequence[dict[str, Any]], llm_config: LLMConfig, omit: Collection[str] = ()
) -> Model:
    """Give the same without holding the event loop: a new model is made in a thread, a known one is just given."""
    # without the lock, which is held for as long as another thread makes a model
    known = _models.get(_cache_key(mode_tools, llm_config, omit))
    if known is not None:
        return known
    return await asyncio.to_thread(create_base_model_with_tools, mode_tools, llm_config, omit)


def optional_parameters(config: LLMConfig) -> list[str]:
    """Give what the client of this configuration can leave out when it is refused, by the names a refusal may use."""
    return [*config.custom, *OPTIONAL_OF.get(config.provider, OPTIONAL)]


def _create(mode_tools: Sequence[dict[str, Any]], config: LLMConfig, omit: Collection[str]) -> Model:
    sent = replace(
        config,
        temperature=None if "temperature" in omit else config.temperature,
        max_tokens=None if {"max_tokens", "max_completion_tokens"} & set(omit) else config.max_tokens,
        custom={name: value for name, value in config.custom.items() if name not in omit},
    )
    build: Callable[[LLMConfig, Collection[str]], BaseChatModel] = _load(config.provider).build
    try:
        model = build(sent, omit)
    except ValidationError as error:
        first = error.errors(include_input=False)[0]
        field = ".".join(str(part) for part in first["loc"]) or "configuration"
        # the provider's own text may repeat the value
        raise InvalidRequestError(f"The model's client does not accept the configuration's {field}.") from None
    except CopilotError:
        raise
    except Exception as error:  # clients check some options with errors of their own
        log.warning("The client of provider %s could not be made: %s", config.provider, type(error).__name__)
        raise InvalidRequestError(
            "The model's client does not accept the configuration's options. Check its custom fields."
        ) from None
    return model.bind_tools(mode_tools) if mode_tools else model


def _cache_key(mode_tools: Sequence[dict[str, Any]], config: LLMConfig, omit: Collection[str]) -> tuple[object, ...]:
    # Id and version would do, were it not for databases that are restored to an earlier state.
    return (
        config.config_id,
        config.version,
        config.provider,
        config.model,
        config.base_url,
        config.temperature,
        config.max_tokens,
        config.context_limit,
        config.api_key,
        *sorted(config.secrets.items()),
        config.ambient_credentials,
        json.dumps(config.custom, sort_keys=True),
        frozenset(omit),
        tuple(tool["function"]["name"] for tool in mode_tools),
    )


def _load(name: str) -> ModuleType:
    provider = PROVIDERS.get(name)
    if provider is None:
        raise InvalidRequestError(
            f"The provider {name or '(none)'} is not supported by this version of the copilot. "
            f"Choose one of: {', '.join(PROVIDERS)}."
        )
    if provider in _modules:
        return _modules[provider]
    if not provider.installed:
        raise InvalidRequestError(
            f"The package of the provider {name} is not installed. "
            f'An administrator can install it: pip install "{provider.install}"'
        )
    module = import_quickly(provider.module)
    # The openai package sets levels of its own while it is imported, if the environment says so.
    for logger in TALKATIVE_LOGGERS:
        logging.getLogger(logger).setLevel(logging.WARNING)
    _modules[provider] = module
    return module
