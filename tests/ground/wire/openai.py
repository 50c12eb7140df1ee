"""OpenAI's chat completions, which DeepSeek, xAI and many servers speak as well."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aiohttp import web

from tests.ground.model_script import Cut, Gate, Raw
from tests.ground.wire.base import Json, Wire

#: A fixed time: nothing in an answer changes from run to run.
CREATED = 1_700_000_000


class OpenAI(Wire):
    """`POST /v1/chat/completions`, streamed or whole, as the request asks."""

    path = "/v1/chat/completions"

    @staticmethod
    def key(headers: Mapping[str, str]) -> str:
        """Give the bearer token."""
        return headers.get("authorization", "").removeprefix("Bearer ")

    @staticmethod
    def messages(body: Json) -> Any:
        """Give the messages as they came."""
        return body.get("messages")

    @staticmethod
    def tools(body: Json) -> Any:
        """Give the tools as they came."""
        return body.get("tools")

    @classmethod
    def violations(cls, body: Json, http: web.Request) -> list[str]:
        """A request names its model, and asks for usage of streams only."""
        found = []
        if not (isinstance(body.get("model"), str) and body["model"]):
            found.append("the request names no model")
        if body.get("stream_options") is not None and not body.get("stream"):
            found.append("stream_options without stream")
        return found

    async def stream(self) -> web.StreamResponse:
        """Send the answer as the request asks."""
        return await super().stream() if self.body.get("stream") else await self._whole()

    async def begin(self) -> None:
        """Send the role."""
        await self._write({"role": "assistant", "content": ""})

    async def piece(self, delta: Json) -> None:
        """Send a piece as it is."""
        await self._write(delta)

    async def end(self) -> None:
        """Send the finish reason, the usage if asked for, and the end mark."""
        if self.answer.finish_reason is not None:
            await self._write({}, self.answer.finish_reason)
        usage = self.answer.usage
        if usage.told == "asked" and (self.body.get("stream_options") or {}).get("include_usage"):
            await self.event({**self._frame("chat.completion.chunk"), "choices": [], "usage": usage.as_json()})
        await self.response.write(b"data: [DONE]\n\n")

    async def _write(self, delta: Json, finish_reason: str | None = None) -> None:
        choice = {"index": 0, "delta": delta, "finish_reason": finish_reason, "logprobs": None}
        chunk = {**self._frame("chat.completion.chunk"), "choices": [choice]}
        if self.answer.usage.told == "every":
            chunk["usage"] = self.answer.usage.as_json(1.0 if finish_reason else self.share)
        await self.event(chunk)

    async def _whole(self) -> web.StreamResponse:
        spoken: list[str] = []
        thought: list[str] = []
        for step in self.answer.steps:
            if isinstance(step, Gate):
                await step.hold()
            elif isinstance(step, Cut):
                self.break_off()
                return web.Response()
            elif isinstance(step, Raw):
                return web.Response(body=step.data, content_type="application/json")
            else:
                spoken.append(step.get("content", ""))
                thought.append(step.get("reasoning_content", ""))
        message: dict[str, Any] = {"role": "assistant", "content": "".join(spoken) or None}
        if any(thought):
            message["reasoning_content"] = "".join(thought)
        if self.answer.calls:
            message["tool_calls"] = [
                {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": c.arguments}}
                for c in self.answer.calls
            ]
        choice = {"index": 0, "message": message, "finish_reason": self.answer.finish_reason, "logprobs": None}
        body = {**self._frame("chat.completion"), "choices": [choice]}
        if self.answer.usage.told != "never":
            body["usage"] = self.answer.usage.as_json()
        return web.json_response(body)

    def _frame(self, kind: str) -> Json:
        return {"id": "chatcmpl-scripted", "object": kind, "created": CREATED, "model": self.body.get("model")}
