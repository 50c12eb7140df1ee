"""gns3-server's own API, called in process as the user who asks.

The server's validation, privileges and notifications apply as for any other client; host, port, TLS and proxies do not
matter. Only `httpx.ASGITransport` is used: a whole `httpx.AsyncClient` would bring cookies, redirects, proxies and a
log line with every URL, and would have to stay open for changes that outlive their caller.
"""

# ruff: noqa: ASYNC109  (a caller says `timeout`; asyncio.timeout is what is done with it)

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

import httpx

from gns3server_copilot.errors import GNS3Error
from gns3server_copilot.gns3.changes import let_finish
from gns3server_copilot.gns3.streaming import streamed
from gns3server_copilot.gns3.text import printable
from gns3server_copilot.utils.uncancelled import uncancelled

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from gns3server_copilot.gns3.canvas import Canvas

log = logging.getLogger(__name__)

#: The host is never looked up: requests go to the application itself.
API = "http://gns3-server/v3"
DEFAULT_TIMEOUT = 30.0


class GNS3Client:
    """Calls `app` with the caller's `token`. Paths are without the `/v3` prefix: `/projects/<id>/nodes`.

    Every call gives the JSON answer, None for an empty one, and the text where it is not JSON. Raises GNS3Error with
    gns3-server's own message and status, or with status 408 when there is no answer within `timeout` seconds.
    Calls go on to their end when the caller is cancelled or the time is over.
    """

    def __init__(self, app: ASGIApp, token: str) -> None:
        async def logging_app(scope: Scope, receive: Receive, send: Send) -> None:
            try:
                await app(scope, receive, send)
            except Exception:
                log.exception("gns3-server failed inside while it answered %s %s", scope["method"], scope["path"])
                raise

        self._app = app
        self._token = token
        # raise_app_exceptions=False turns an unhandled error of a host's handler into status 500.
        self._transport = httpx.ASGITransport(logging_app, raise_app_exceptions=False)
        self._logging_app = logging_app
        self._headers = {"authorization": f"Bearer {token}"}

    async def get(self, path: str, *, timeout: float = DEFAULT_TIMEOUT) -> Any:
        """Read."""
        async with _deadline(f"GET {path}", timeout):
            return await uncancelled(self._call)("GET", path, None)

    async def canvas(self, project_id: str, *, timeout: float = DEFAULT_TIMEOUT) -> Canvas:
        """Read a project's nodes, links and drawings at one moment, as `gns3.canvas.read_canvas` does."""
        # Imported here because outside of gns3-server (command line, documentation) it takes more than a second.
        from gns3server_copilot.gns3.canvas import read_canvas

        async with _deadline(f"reading of project {project_id}", timeout):
            return await read_canvas(self._app, self._token, project_id)

    async def post(self, path: str, json: Any = None, *, timeout: float = DEFAULT_TIMEOUT) -> Any:
        """Create or act."""
        return await self._change("POST", path, json, timeout)

    async def put(self, path: str, json: Any = None, *, timeout: float = DEFAULT_TIMEOUT) -> Any:
        """Modify."""
        return await self._change("PUT", path, json, timeout)

    async def delete(self, path: str, json: Any = None, *, timeout: float = DEFAULT_TIMEOUT) -> Any:
        """Delete."""
        return await self._change("DELETE", path, json, timeout)

    @asynccontextmanager
    async def stream(self, path: str) -> AsyncIterator[AsyncIterator[bytes]]:
        """Read an answer piece by piece while it comes; leaving the block ends it. The caller bounds the time."""
        async with streamed(self._logging_app, API + path, self._headers) as answer:
            if answer.status >= HTTPStatus.BAD_REQUEST:
                body = b"".join([piece async for piece in answer])
                raise GNS3Error(_error_message(httpx.Response(answer.status, content=body)), answer.status)
            yield aiter(answer)

    async def aclose(self) -> None:
        """Free the client; changes that have begun go on."""
        await self._transport.aclose()

    async def _change(self, method: str, path: str, json: Any, timeout: float) -> Any:
        what = f"{method} {path}"
        async with _deadline(what, timeout):
            return await let_finish(what, self._call(method, path, json), _told)

    async def _call(self, method: str, path: str, json: Any) -> Any:
        request = httpx.Request(method, API + path, headers=self._headers, json=json)
        response = await self._transport.handle_async_request(request)
        await response.aread()
        if response.status_code >= HTTPStatus.BAD_REQUEST:
            raise GNS3Error(_error_message(response), response.status_code)
        # The 204 answers say application/json and have no body.
        if not response.content:
            return None
        try:
            return response.json()
        except ValueError:
            return response.text


def _told(answer: Any) -> str:
    """Give what an answer of gns3-server says of the thing that was changed."""
    if not isinstance(answer, dict):
        return "Done."
    said = [printable(answer[key]) for key in ("name", "status") if isinstance(answer.get(key), str)]
    return f"Done: {', '.join(said)}." if said else "Done."


@asynccontextmanager
async def _deadline(what: str, seconds: float) -> AsyncIterator[None]:
    """End the block after `seconds` with a GNS3Error; ASGITransport itself ignores timeouts."""
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        log.warning("gns3-server did not answer %s within %g s", what, seconds)
        message = f"gns3-server did not answer within {seconds:g} seconds."
        raise GNS3Error(message, HTTPStatus.REQUEST_TIMEOUT.value) from None


def _error_message(response: httpx.Response) -> str:
    status = response.status_code
    if status == HTTPStatus.UNAUTHORIZED:
        return "The GNS3 login has ended or is not valid. Log in to GNS3 again."
    try:
        body = response.json()
    except ValueError:
        body = None
    said = body.get("message") or body.get("detail") if isinstance(body, dict) else None
    if not said:
        return f"gns3-server failed with status {status}; its log says why."
    if status == HTTPStatus.UNPROCESSABLE_ENTITY:
        return f"gns3-server did not accept a value: {printable(said)}"
    return printable(said)
