"""Ollama's chat."""

from __future__ import annotations

import json
from collections.abc import Mapping

from aiohttp import web

from tests.ground.wire.base import Json, Wire, function_call, whole_calls


class Ollama(Wire):
    """`POST /api/chat`: one JSON object a line; calls come whole, their arguments as objects."""

    path = "/api/chat"
    content_type = "application/x-ndjson"

    @staticmethod
    def key(headers: Mapping[str, str]) -> str:
        """Ollama has no keys, so whatever is sent is of interest."""
        return headers.get("authorization", "")

    @staticmethod
    def messages(body: Json) -> list[Json]:
        """Give the messages. Ollama knows no ids: results belong to calls by their order."""
        found = []
        waiting: list[str] = []
        for number, message in enumerate(body["messages"]):
            one = {key: value for key, value in message.items() if key in ("role", "content")}
            if calls := message.get("tool_calls"):
                waiting = [f"made_up_{number}_{i}" for i in range(len(calls))]
                one["tool_calls"] = [
                    function_call(call_id, call["function"]["name"], call["function"]["arguments"])
                    for call_id, call in zip(waiting, calls, strict=True)
                ]
            elif message["role"] == "tool":
                one["tool_call_id"] = waiting.pop(0) if waiting else ""
            found.append(one)
        return found

    @staticmethod
    def tools(body: Json) -> list[Json] | None:
        """Give the tools, which are as OpenAI's."""
        return body.get("tools") or None

    @classmethod
    def violations(cls, body: Json, http: web.Request) -> list[str]:
        """Without num_ctx Ollama would cut the conversation."""
        return [] if body.get("options", {}).get("num_ctx") else ["num_ctx is missing"]

    async def piece(self, delta: Json) -> None:
        """Send a piece as a line."""
        message: Json = {"role": "assistant", "content": delta.get("content", "")}
        if thought := delta.get("reasoning_content"):
            message["thinking"] = thought
        if calls := whole_calls(self.answer, delta):
            message["tool_calls"] = [{"function": {"name": one["name"], "arguments": one["args"]}} for one in calls]
        elif delta.get("tool_calls"):
            return  # the arguments of a call that is out already
        await self._line(message)

    async def end(self) -> None:
        """Send the last line with the reason and the cost."""
        reason = "length" if self.answer.finish_reason == "length" else "stop"
        last: Json = {"done": True, "done_reason": reason, "total_duration": 1}
        if self.answer.usage.told != "never":
            last["prompt_eval_count"] = self.answer.usage.input_tokens
            last["eval_count"] = self.answer.usage.output_tokens
        await self._line({"role": "assistant", "content": ""}, **last)

    async def _line(self, message: Json, **fields: object) -> None:
        line = {
            "model": self.body["model"],
            "created_at": "2024-01-01T00:00:00Z",
            "message": message,
            "done": False,
            **fields,
        }
        await self.response.write(json.dumps(line).encode() + b"\n")
