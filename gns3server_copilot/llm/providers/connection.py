"""The HTTP connection of one configuration: it alone decides what goes out with a request, and where to.

Providers' packages take keys, organisations, addresses and any header from the server's environment (OPENAI_API_KEY,
ANTHROPIC_CUSTOM_HEADERS, OLLAMA_API_KEY …), and more with each release. Here every header is made anew from the
configuration, so none of them can leave. Redirects are not followed, and a host is looked up once and connected to at
the address that was judged: a key goes where its configuration says, and nowhere else.
"""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Mapping
from typing import Any, TypeVar

import httpx
from pydantic import SecretStr

from gns3server_copilot import __version__
from gns3server_copilot.errors import InvalidRequestError, ModelError
from gns3server_copilot.llm.addresses import addresses_for

CONNECT_SECONDS = 10.0
#: The turn has its own, shorter limit for the model's silence, a setting; this one ends what nobody waits for any more.
READ_SECONDS = 600.0

#: What of a package's own headers goes out.
FRAMING_HEADERS = {
    "accept",
    "accept-encoding",
    "connection",
    "content-length",
    "content-type",
    "transfer-encoding",
}

#: What the packages are told where they insist on a key. It never goes out.
NO_KEY = "none"

# Loading the certificates takes 30 ms, so it is done once, here, while the module is imported in a thread.
TLS = httpx.create_ssl_context()

Client = TypeVar("Client")


def connect(client_class: type[Client], address: str, headers: Mapping[str, str | SecretStr], **options: Any) -> Client:
    """Give an async client that keeps the rules, of a class derived from the one of httpx or of its fork.

    `address` is the configuration's URL, and `headers` are added to every request. Nothing is connected yet. Raises
    InvalidRequestError for a wrong URL.
    """
    rules = _Rules(address, headers)
    options |= {"verify": TLS, "follow_redirects": False}
    client: Any = client_class(**options)
    client._transport = _Transport(client._transport, rules)
    # through a proxy it is the proxy that looks names up
    proxied = {
        pattern: None if inner is None else _Transport(inner, rules, pinned=False)
        for pattern, inner in client._mounts.items()
    }
    client._mounts = proxied
    # A configuration that has changed leaves its client behind, as soon as no turn uses it any more.
    transports = [client._transport, *(one for one in proxied.values() if one is not None)]
    weakref.finalize(client, _close, rules, transports).atexit = False
    result: Client = client
    return result


class _Rules:
    """What may go out: to which address, and with which headers."""

    def __init__(self, address: str, headers: Mapping[str, str | SecretStr]) -> None:
        try:
            self._origin = _origin(httpx.URL(address))
        except httpx.InvalidURL:
            raise InvalidRequestError("The configuration's base URL is not valid. Correct it.") from None
        self._headers = dict(headers)
        self.loop: asyncio.AbstractEventLoop | None = None

    def headers(self, request: Any) -> dict[str, str]:
        """Give all headers of a request. Raises ModelError when it goes elsewhere."""
        self.loop = asyncio.get_running_loop()
        if _origin(request.url) != self._origin:
            raise ModelError("The request would have left the configuration's address. Check the base URL.", "address")
        framing = {name: value for name, value in request.headers.items() if name.lower() in FRAMING_HEADERS}
        own = {
            name: value.get_secret_value() if isinstance(value, SecretStr) else value
            for name, value in self._headers.items()
        }
        host = request.url.netloc.decode("ascii")
        return {"Host": host, **framing, "User-Agent": f"gns3server-copilot/{__version__}", **own}


class _Transport:
    """Sends a copy of each request that keeps the rules; so the key is not even in the request that errors carry.

    A host is looked up, and connected to at an address that was judged. It stays in the Host header and in TLS, so
    certificates are checked as ever.
    """

    def __init__(self, inner: Any, rules: _Rules, *, pinned: bool = True) -> None:
        self.inner = inner
        self._rules = rules
        self._pinned = pinned

    async def handle_async_request(self, request: Any) -> Any:
        headers = self._rules.headers(request)
        addresses = await _look_up(request.url) if self._pinned else [request.url.host]
        for number, address in enumerate(addresses, start=1):
            try:
                return await self.inner.handle_async_request(_to(address, request, headers))
            except Exception as error:  # httpx and its fork have an exception class each
                if number == len(addresses) or type(error).__name__ not in ("ConnectError", "ConnectTimeout"):
                    raise
        raise ModelError("The name of the model provider's host has no address. Check the base URL.", "unreachable")

    async def aclose(self) -> None:
        await self.inner.aclose()

    async def __aenter__(self) -> _Transport:
        await self.inner.__aenter__()
        return self

    async def __aexit__(self, *ending: Any) -> None:
        await self.inner.__aexit__(*ending)


async def _look_up(url: Any) -> list[str]:
    try:
        return await addresses_for(url.host, url.port or (443 if url.scheme == "https" else 80))
    except OSError:
        raise ModelError(
            "The host in the base URL is not known. Check the base URL and the network.", "unreachable"
        ) from None


def _to(address: str, request: Any, headers: dict[str, str]) -> Any:
    url, extensions = request.url, request.extensions
    if address != url.host:
        url, extensions = url.copy_with(host=address), {**extensions, "sni_hostname": url.host}
    return type(request)(request.method, url, headers=headers, stream=request.stream, extensions=extensions)


def _close(rules: _Rules, transports: list[Any]) -> None:
    if rules.loop is not None and rules.loop.is_running():
        for transport in transports:
            asyncio.run_coroutine_threadsafe(transport.aclose(), rules.loop)


def _origin(url: Any) -> tuple[str, str, int | None]:
    """Give scheme, host and port of a URL of httpx, or of its fork."""
    return url.scheme, url.host, url.port
