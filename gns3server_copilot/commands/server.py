"""A running gns3-server, spoken to over HTTP as one user."""

from __future__ import annotations

import json
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http import HTTPStatus
from ipaddress import ip_address
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

import httpx

from gns3server_copilot.errors import CopilotError, GNS3Error

CONNECT_SECONDS = 10.0
#: A stream is silent for 15 s at most (heartbeats); four times that means that the server is gone.
SILENCE_SECONDS = 60.0
MAX_MESSAGE = 300
#: What OpenSSL says, in its several versions, about an answer that is no TLS.
NO_TLS = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "PACKET_LENGTH_TOO_LONG")

BAD_ADDRESS = "The server's address must look like http://127.0.0.1:3080"
NO_PRIVILEGE = (
    "A new GNS3 user has no privilege until an admin adds the user to a group and gives that group an ACL entry."
)


class Server:
    """Calls below `<base_url>/v3`. Every failure is a CopilotError; a refusal is a GNS3Error with its status."""

    def __init__(self, base_url: str, token: str = "", *, verify: ssl.SSLContext | bool = True) -> None:
        self.base_url = checked_url(base_url)
        try:
            self._client = httpx.AsyncClient(
                base_url=f"{self.base_url}/v3",
                headers={"authorization": f"Bearer {token}"} if token else {},
                timeout=httpx.Timeout(SILENCE_SECONDS, connect=CONNECT_SECONDS),
                verify=verify,
                # a proxy of the environment is no way to this machine's own server
                trust_env=not _is_loopback(self.base_url),
            )
        except httpx.InvalidURL as error:
            raise CopilotError(BAD_ADDRESS) from error

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self._client.aclose()

    async def login(self, username: str, password: str) -> str:
        """Log in for all further calls and give the token."""
        try:
            answer = await self.post("/access/users/authenticate", {"username": username, "password": password})
        except GNS3Error as error:
            if error.status == HTTPStatus.UNAUTHORIZED:
                raise GNS3Error(f"gns3-server does not accept this password for the user {username}.", 401) from error
            raise
        token = answer.get("access_token") if isinstance(answer, dict) else None
        if not isinstance(token, str):
            raise CopilotError(f"{self.base_url} did not answer the login as gns3-server does.")
        self._client.headers["authorization"] = f"Bearer {token}"
        return token

    async def get(self, path: str) -> Any:
        """Read; gives the JSON answer."""
        return await self._call("GET", path)

    async def post(self, path: str, body: Any = None) -> Any:
        """Create or act; gives the JSON answer, None for an empty one."""
        return await self._call("POST", path, body)

    @asynccontextmanager
    async def events(self, path: str, body: Any) -> AsyncIterator[AsyncIterator[dict[str, Any]]]:
        """Post and give the events of the answer's stream as they come."""
        try:
            async with self._client.stream("POST", path, **_content(body)) as response:
                if response.is_error:
                    await response.aread()
                    raise _refusal(response)
                yield read_events(response.aiter_bytes())
        except httpx.HTTPError as error:
            raise self._unreachable(error) from error

    async def _call(self, method: str, path: str, body: Any = None) -> Any:
        try:
            response = await self._client.request(method, path, **_content(body))
        except httpx.HTTPError as error:
            raise self._unreachable(error) from error
        if response.is_error:
            raise _refusal(response)
        try:
            return response.json() if response.content else None
        except ValueError as error:
            raise CopilotError(f"{self.base_url} does not answer as gns3-server does. Check the address.") from error

    def _unreachable(self, error: httpx.HTTPError) -> CopilotError:
        # never the error's own text: it can be long, and names what no reader can act on
        if "CERTIFICATE_VERIFY_FAILED" in str(error):
            return CopilotError(
                f"The certificate of {self.base_url} cannot be verified. Name its authority with --ca-file."
            )
        if any(reason in str(error) for reason in NO_TLS):
            return CopilotError(
                f"{self.base_url} answers, but not with TLS: the server may speak http. Try the address with http://."
            )
        if isinstance(error, httpx.TimeoutException):
            return CopilotError(f"{self.base_url} did not answer in time.")
        if isinstance(error, httpx.ConnectError):
            return CopilotError(f"{self.base_url} cannot be reached. Is gns3-server running there?")
        return CopilotError(f"The connection to {self.base_url} broke off.")


def checked_url(url: str) -> str:
    """Give `http://host:port` for what a person may have typed. Raises CopilotError that says what is wrong."""
    if "://" not in url:
        url = f"http://{url}"
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise CopilotError(BAD_ADDRESS)
    if parts.username or parts.password:
        raise CopilotError("Leave name and password out of the server's address: --user names the user.")
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/').removesuffix('/v3')}"


async def read_events(pieces: AsyncIterator[bytes]) -> AsyncIterator[dict[str, Any]]:
    """Yield the JSON objects of a stream's `data:` lines. Other lines are for proxies; what is no object is skipped.

    Lines end at a line feed alone: httpx's own line reader would also break at U+2028 inside a text.
    """
    rest = b""
    async for piece in pieces:
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            if not line.startswith(b"data: "):
                continue
            try:
                event = json.loads(line.removeprefix(b"data: "))
            except (ValueError, RecursionError):
                continue
            if isinstance(event, dict):
                yield event


def _content(body: Any) -> dict[str, Any]:
    if body is None:
        return {}
    # bytes of the command line that are no text arrive as surrogates, which UTF-8 has no place for
    text = json.dumps(body, ensure_ascii=False).encode(errors="replace")
    return {"content": text, "headers": {"content-type": "application/json"}}


def _refusal(response: httpx.Response) -> GNS3Error:
    try:
        said = response.json()["message"]
    except (ValueError, KeyError, TypeError):
        said = None
    message = " ".join(said.split())[:MAX_MESSAGE] if isinstance(said, str) else ""
    return GNS3Error(message or f"gns3-server answered with status {response.status_code}.", response.status_code)


def _is_loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
