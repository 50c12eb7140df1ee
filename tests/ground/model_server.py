"""An OpenAI-compatible model server on loopback whose answers a test writes beforehand.

It runs in a thread with an event loop of its own, so that it answers whatever the test's loop is busy with. Every
request is kept and its messages and tools are checked as the strictest provider would; `model_server` in conftest.py
fails the test that caused a violation.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.ground.message_rules import check_messages
from tests.ground.model_script import WAIT_SECONDS, Answer, Cut, Gate, Raw, openai_error, text
from tests.ground.schema_rules import check_tools

#: A fixed time: nothing in an answer changes from run to run.
CREATED = 1_700_000_000


@dataclass
class ModelRequest:
    """A request that the model server has received. Header names are in lower case."""

    headers: dict[str, str]
    body: dict[str, Any]
    _outcome: Future[str] = field(default_factory=Future, repr=False)

    @property
    def key(self) -> str:
        """The API key."""
        return self.headers.get("authorization", "").removeprefix("Bearer ")

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The messages, in OpenAI's shape."""
        messages = self.body.get("messages", [])
        assert isinstance(messages, list)
        return messages

    @property
    def tool_names(self) -> list[str]:
        """The tools offered."""
        return [tool["function"]["name"] for tool in self.body.get("tools") or []]

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
        self.base_url = ""
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
        self.base_url = f"http://127.0.0.1:{port}/v1"

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
        app.router.add_post("/v1/chat/completions", self._complete)
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

    async def _complete(self, http: web.Request) -> web.StreamResponse:
        try:
            body = json.loads(await http.text())
        except ValueError:
            body = None
        if not isinstance(body, dict):
            self.violations.append("a request whose body is not a JSON object")
            return web.Response(status=400)
        request = ModelRequest({name.lower(): value for name, value in http.headers.items()}, body)
        self._check(request)
        answer = self._choose(request)  # before anybody who waits for the request learns of it
        with self._arrived:
            (self.title_requests if request.is_for_title else self.requests).append(request)
            self._arrived.notify_all()
        try:
            response = await Reply(http, request, answer).send()
        except (asyncio.CancelledError, ConnectionError):
            request._outcome.set_result("left")
            raise
        request._outcome.set_result("answered")
        return response

    def _check(self, request: ModelRequest) -> None:
        found = check_messages(request.body.get("messages"))
        if "tools" in request.body:
            found += check_tools(request.body["tools"])
        if not (isinstance(request.body.get("model"), str) and request.body["model"]):
            found.append("the request names no model")
        if request.body.get("stream_options") is not None and not request.body.get("stream"):
            found.append("stream_options without stream")
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


class Reply:
    """Sends one answer to one request, streamed or whole, as the request asks."""

    def __init__(self, http: web.Request, request: ModelRequest, answer: Answer) -> None:
        self._http = http
        self._request = request
        self._answer = answer
        self._sent = 0

    async def send(self) -> web.StreamResponse:
        """Send the answer and give the response object that aiohttp wants back."""
        answer = self._answer
        if answer.before is not None:
            await answer.before.hold()
        if answer.refusal is not None:
            refusal = answer.refusal
            headers = {**refusal.headers, "Content-Type": refusal.content_type}
            return web.Response(status=refusal.status, body=refusal.body, headers=headers)
        if self._request.body.get("stream"):
            return await self._stream()
        return await self._whole()

    async def _stream(self) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream; charset=utf-8"})
        await response.prepare(self._http)
        await self._write(response, {"role": "assistant", "content": ""})
        for step in self._answer.steps:
            if isinstance(step, Gate):
                await step.hold()
            elif isinstance(step, Cut):
                self._break()
                return response
            elif isinstance(step, Raw):
                await response.write(step.data)
            else:
                self._sent += 1
                await self._write(response, step)
        if self._answer.finish_reason is not None:
            await self._write(response, {}, self._answer.finish_reason)
        usage = self._answer.usage
        if usage.told == "asked" and (self._request.body.get("stream_options") or {}).get("include_usage"):
            await response.write(
                _event({**self._frame("chat.completion.chunk"), "choices": [], "usage": usage.as_json()})
            )
        await response.write(b"data: [DONE]\n\n")
        await response.write_eof()
        return response

    async def _write(
        self, response: web.StreamResponse, delta: dict[str, Any], finish_reason: str | None = None
    ) -> None:
        choice = {"index": 0, "delta": delta, "finish_reason": finish_reason, "logprobs": None}
        chunk = {**self._frame("chat.completion.chunk"), "choices": [choice]}
        if self._answer.usage.told == "every":
            pieces = sum(isinstance(step, dict) for step in self._answer.steps)
            share = 1.0 if finish_reason or not pieces else self._sent / pieces
            chunk["usage"] = self._answer.usage.as_json(share)
        await response.write(_event(chunk))

    async def _whole(self) -> web.StreamResponse:
        spoken: list[str] = []
        thought: list[str] = []
        for step in self._answer.steps:
            if isinstance(step, Gate):
                await step.hold()
            elif isinstance(step, Cut):
                self._break()
                return web.Response()
            elif isinstance(step, Raw):
                return web.Response(body=step.data, content_type="application/json")
            else:
                spoken.append(step.get("content", ""))
                thought.append(step.get("reasoning_content", ""))
        message: dict[str, Any] = {"role": "assistant", "content": "".join(spoken) or None}
        if any(thought):
            message["reasoning_content"] = "".join(thought)
        if self._answer.calls:
            message["tool_calls"] = [
                {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": c.arguments}}
                for c in self._answer.calls
            ]
        choice = {"index": 0, "message": message, "finish_reason": self._answer.finish_reason, "logprobs": None}
        body = {**self._frame("chat.completion"), "choices": [choice]}
        if self._answer.usage.told != "never":
            body["usage"] = self._answer.usage.as_json()
        return web.json_response(body)

    def _frame(self, kind: str) -> dict[str, Any]:
        return {"id": "chatcmpl-scripted", "object": kind, "created": CREATED, "model": self._request.body.get("model")}

    def _break(self) -> None:
        if self._http.transport is not None:
            self._http.transport.abort()


def _event(payload: dict[str, Any]) -> bytes:
    return f"data: {json.dumps(payload)}\n\n".encode()
