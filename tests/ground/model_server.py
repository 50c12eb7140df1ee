"""A model server on loopback whose answers a test writes beforehand, in every wire format of `tests.ground.wire`.

It runs in a thread with an event loop of its own, so that it answers whatever the test's loop is busy with. Every
request is kept and its messages and tools are checked as the strictest provider would; `model_server` in conftest.py
fails the test that caused a violation.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections import deque
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.ground.message_rules import check_messages
from tests.ground.model_script import WAIT_SECONDS, Answer, openai_error, text
from tests.ground.schema_rules import check_tools
from tests.ground.wire import WIRES
from tests.ground.wire.base import Wire
from tests.ground.wire.openai import OpenAI


@dataclass
class ModelRequest:
    """A request that the model server has received. Header names are in lower case."""

    headers: dict[str, str]
    body: dict[str, Any]
    path: str = ""
    wire: type[Wire] = OpenAI
    _outcome: Future[str] = field(default_factory=Future, repr=False)

    @property
    def key(self) -> str:
        """The API key."""
        return self.wire.key(self.headers)

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The messages, in OpenAI's shape."""
        messages = self.wire.messages(self.body)
        assert isinstance(messages, list)
        return messages

    @property
    def tool_names(self) -> list[str]:
        """The tools offered."""
        return [tool["function"]["name"] for tool in self.wire.tools(self.body) or []]

    @property
    def system_prompt(self) -> str:
        """The text of the first message."""
        return str(self.messages[0]["content"]) if self.messages else ""

    @property
    def tool_results(self) -> dict[str, str]:
        """The text of every tool result, by the id of its call."""
        return {m["tool_call_id"]: m["content"] for m in self.messages if m["role"] == "tool"}

    @property
    def is_for_title(self) -> bool:
        """Whether this asks for the title of a conversation, not for an answer in it."""
        after_tools = any(message["role"] == "tool" for message in self.messages)
        return not self.tool_names and not after_tools and "title" in self.system_prompt.lower()

    async def outcome(self, seconds: float = WAIT_SECONDS) -> str:
        """Return when the request is over: "answered", or "left" when the client closed the connection first."""
        async with asyncio.timeout(seconds):
            return await asyncio.shield(asyncio.wrap_future(self._outcome))


Script = Answer | Callable[[ModelRequest], Answer]


class ModelServer:
    """The scripted model server. Answers come, in this order of preference, from `when`, `script_for`, `script`,
    `always`; a request that finds none gets 500 and counts as a violation.

    Requests for a title are answered "Scripted title" and kept in `title_requests`, unless a `when` matches them.
    """

    def __init__(self) -> None:
        self.root_url = ""
        self.requests: list[ModelRequest] = []
        self.title_requests: list[ModelRequest] = []
        self.violations: list[str] = []
        self._rules: list[tuple[Callable[[ModelRequest], bool], Script]] = []
        self._by_key: dict[str, deque[Script]] = {}
        self._queue: deque[Script] = deque()
        self._default: Script | None = None
        self._arrived = threading.Condition()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="model-server", daemon=True)
        self._runner: web.AppRunner | None = None

    @property
    def base_url(self) -> str:
        """Where OpenAI's clients find it."""
        return f"{self.root_url}/v1"

    # --- what a test says and asks ---------------------------------------------------------------------------------

    def script(self, *answers: Script) -> None:
        """Answer the next requests with these, one each. A function of the request may stand for an answer."""
        self._queue.extend(answers)

    def script_for(self, key: str, *answers: Script) -> None:
        """Answer the next requests that come with this API key: many sessions at once, each with its own script."""
        self._by_key.setdefault(key, deque()).extend(answers)

    def always(self, answer: Script) -> None:
        """Answer whatever has no script of its own."""
        self._default = answer

    def when(self, matches: Callable[[ModelRequest], bool], answer: Script) -> None:
        """Answer every request that matches, before any script."""
        self._rules.append((matches, answer))

    @property
    def last_request(self) -> ModelRequest:
        """The newest request that was not for a title."""
        return self.requests[-1]

    @property
    def unused(self) -> int:
        """How many scripted answers nobody has asked for."""
        return len(self._queue) + sum(len(queue) for queue in self._by_key.values())

    async def received(self, count: int = 1, seconds: float = WAIT_SECONDS) -> ModelRequest:
        """Wait until so many requests have come (those for titles not counted) and give the last of them."""

        def wait() -> bool:
            with self._arrived:
                return self._arrived.wait_for(lambda: len(self.requests) >= count, seconds)

        if not await asyncio.to_thread(wait):
            raise TimeoutError(f"the model server got {len(self.requests)} of {count} requests in {seconds} s")
        return self.requests[count - 1]

    # --- life ------------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Listen on a port that the kernel chooses."""
        self._thread.start()
        port = asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result(WAIT_SECONDS)
        self.root_url = f"http://127.0.0.1:{port}"

    def stop(self) -> None:
        """Break what is still being answered and stop listening."""
        if self._runner is not None:
            asyncio.run_coroutine_threadsafe(self._runner.cleanup(), self._loop).result(WAIT_SECONDS)
            self._runner = None
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(WAIT_SECONDS)
        self._loop.close()

    async def _listen(self) -> int:
        app = web.Application(client_max_size=64 * 2**20)
        for wire in WIRES:
            app.router.add_post(wire.path, self._answering(wire))
        app.router.add_get("/v1/models", self._list_models)
        # A client that leaves cancels the handler: that is how a test sees that a turn has let go of the model.
        self._runner = web.AppRunner(app, handler_cancellation=True, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        port = self._runner.addresses[0][1]
        assert isinstance(port, int)
        return port

    # --- answering -------------------------------------------------------------------------------------------------

    async def _list_models(self, _: web.Request) -> web.Response:
        return web.json_response({"object": "list", "data": [{"id": "scripted", "object": "model"}]})

    def _answering(self, wire: type[Wire]) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
        async def answer(http: web.Request) -> web.StreamResponse:
            return await self._complete(http, wire)

        return answer

    async def _complete(self, http: web.Request, wire: type[Wire]) -> web.StreamResponse:
        try:
            body = json.loads(await http.text())
        except ValueError:
            body = None
        if not isinstance(body, dict):
            self.violations.append("a request whose body is not a JSON object")
            return web.Response(status=400)
        headers = {name.lower(): value for name, value in http.headers.items()}
        request = ModelRequest(headers, body, http.path_qs, wire)
        self._check(request, http)
        answer = self._choose(request)  # before anybody who waits for the request learns of it
        with self._arrived:
            (self.title_requests if request.is_for_title else self.requests).append(request)
            self._arrived.notify_all()
        try:
            response = await wire(http, body, answer).send()
        except (asyncio.CancelledError, ConnectionError):
            request._outcome.set_result("left")
            raise
        request._outcome.set_result("answered")
        return response

    def _check(self, request: ModelRequest, http: web.Request) -> None:
        found = check_messages(request.wire.messages(request.body))
        tools = request.wire.tools(request.body)
        if tools is not None:
            found += check_tools(tools)
        found += request.wire.violations(request.body, http)
        number = len(self.requests) + len(self.title_requests) + 1
        self.violations += [f"request {number}: {wrong}" for wrong in found]

    def _choose(self, request: ModelRequest) -> Answer:
        script = self._find_script(request)
        if script is None:
            self.violations.append(
                f"no answer was scripted for request {len(self.requests) + 1}: {request.messages[-1:]}"
            )
            return openai_error(500, "The test has scripted no answer for this request.")
        return script if isinstance(script, Answer) else script(request)

    def _find_script(self, request: ModelRequest) -> Script | None:
        for matches, answer in self._rules:
            if matches(request):
                return answer
        if request.is_for_title:
            return text("Scripted title")
        for queue in (self._by_key.get(request.key), self._queue):
            if queue:
                return queue.popleft()
        return self._default
