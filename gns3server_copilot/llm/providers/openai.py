"""OpenAI, and every server that speaks its chat completions protocol."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Collection
from typing import Any

import httpx
import openai
from langchain_core.language_models import BaseChatModel
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from gns3server_copilot import __version__
from gns3server_copilot.errors import InvalidRequestError
from gns3server_copilot.llm.config import LLMConfig
from gns3server_copilot.llm.providers.custom_fields import custom_fields

OFFICIAL_URL = "https://api.openai.com/v1"
CONNECT_SECONDS = 10.0
#: The turn has its own, shorter limit for the model's silence, a setting; this one ends what nobody waits for any more.
READ_SECONDS = 600.0

#: What of the openai package's own headers goes out.
FRAMING_HEADERS = {
    "accept",
    "accept-encoding",
    "connection",
    "content-length",
    "content-type",
    "transfer-encoding",
}

# Loading the certificates takes 30 ms, so it is done once, here, while the module is imported in a thread.
TLS = httpx.create_ssl_context()


def build(config: LLMConfig, omit: Collection[str]) -> BaseChatModel:
    """Give the client of a configuration; `stream_options` in `omit` does not ask for the usage of a stream.

    Nothing in it comes from the server's environment but proxy and certificates. Raises InvalidRequestError
    or pydantic's ValidationError when a custom field's value cannot be used.
    """
    base_url = config.base_url or OFFICIAL_URL
    try:
        official = httpx.URL(base_url).host == httpx.URL(OFFICIAL_URL).host
    except httpx.InvalidURL:
        raise InvalidRequestError("The configuration's base URL is not valid. Correct it.") from None
    options: dict[str, Any] = {
        "timeout": openai.Timeout(READ_SECONDS, connect=CONNECT_SECONDS),
        "max_retries": 0,  # retries are the turn's
        "stream_usage": "stream_options" not in omit,
        # OpenAI offers some models through its newer protocol only; elsewhere the same names come without it.
        "use_responses_api": None if official else False,
        **custom_fields(ChatOpenAI, config.custom),
    }
    if not isinstance(options["timeout"], (int, float, openai.Timeout)):
        raise InvalidRequestError("The configuration's timeout must be a number of seconds.")
    if config.max_tokens is not None and official:
        options["max_tokens"] = config.max_tokens
    elif config.max_tokens is not None:
        # ChatOpenAI sends max_completion_tokens, which OpenAI requires and other servers ignore or refuse.
        extra_body = options.setdefault("extra_body", {})
        if isinstance(extra_body, dict):
            options["extra_body"] = {"max_tokens": config.max_tokens, **extra_body}
    return ChatOpenAI(
        model=config.model,
        base_url=base_url,
        api_key=_key_kept_elsewhere,
        temperature=config.temperature,
        http_async_client=_Connection(base_url, config.api_key),
        openai_proxy=None,
        output_version=None,
        stream_chunk_timeout=None,
        **options,
    )


async def _key_kept_elsewhere() -> str:
    """Satisfy the openai package, which wants a key. Being async, it also leaves out the blocking client."""
    return "none"


class _Connection(openai.DefaultAsyncHttpxClient):
    """The HTTP client of one configuration, which alone decides what goes out with a request.

    The openai package takes keys, organisation, project and any header from the server's environment
    (OPENAI_API_KEY, OPENAI_ADMIN_KEY, OPENAI_ORG_ID, OPENAI_CUSTOM_HEADERS …), and more with each release. Here every
    header is made anew from the configuration, so none of them can leave. Redirects are not followed: a key goes to the
    address that its configuration names, and nowhere else.
    """

    _loop: asyncio.AbstractEventLoop | None = None

    def __init__(self, base_url: str, key: SecretStr | None) -> None:
        super().__init__(verify=TLS, follow_redirects=False, event_hooks={"request": [self._set_headers]})
        self._origin = _origin(httpx.URL(base_url))
        self._key = key

    async def _set_headers(self, request: Any) -> None:
        self._loop = asyncio.get_running_loop()
        if _origin(request.url) != self._origin:
            raise openai.OpenAIError("The request would have left the configuration's address.")
        framing = {name: value for name, value in request.headers.items() if name.lower() in FRAMING_HEADERS}
        request.headers.clear()
        request.headers["Host"] = request.url.netloc.decode("ascii")
        request.headers.update(framing)
        request.headers["User-Agent"] = f"gns3server-copilot/{__version__}"
        if self._key is not None:
            request.headers["Authorization"] = f"Bearer {self._key.get_secret_value()}"

    def __del__(self) -> None:
        # A configuration that has changed leaves its client behind, as soon as no turn uses it any more.
        with contextlib.suppress(Exception):  # the interpreter may be ending
            if self._loop is not None and self._loop.is_running() and not self.is_closed:
                asyncio.run_coroutine_threadsafe(self.aclose(), self._loop)


def _origin(url: Any) -> tuple[str, str, int | None]:
    """Give scheme, host and port of a URL of httpx, or of the like-named package that openai uses."""
    return url.scheme, url.host, url.port
