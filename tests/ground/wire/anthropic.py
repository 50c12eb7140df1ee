"""Anthropic's Messages."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from aiohttp import web

from tests.ground.wire.base import Json, Wire, function_call, function_tool

STOP_REASONS = {"stop": "end_turn", "tool_calls": "tool_use", "length": "max_tokens"}


class Anthropic(Wire):
    """`POST /v1/messages`, streamed."""

    path = "/v1/messages"

    @staticmethod
    def key(headers: Mapping[str, str]) -> str:
        """Give x-api-key."""
        return headers.get("x-api-key", "")

    @staticmethod
    def messages(body: Json) -> list[Json]:
        """Give the system prompt and the messages, tool results as messages of their own."""
        system = body.get("system")
        found = [{"role": "system", "content": _text(system)}] if system else []
        for message in body["messages"]:
            content = message["content"]
            blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
            found += _assistant(blocks) if message["role"] == "assistant" else _user(blocks)
        return found

    @staticmethod
    def tools(body: Json) -> list[Json] | None:
        """Give the tools."""
        if "tools" not in body:
            return None
        return [function_tool(tool["name"], tool["description"], tool["input_schema"]) for tool in body["tools"]]

    @classmethod
    def violations(cls, body: Json, http: web.Request) -> list[str]:
        """A request says its version, its longest answer, and alternates between user and assistant."""
        found = []
        if http.headers.get("anthropic-version") != "2023-06-01":
            found.append("anthropic-version is missing")
        if not isinstance(body.get("max_tokens"), int) or body["max_tokens"] < 1:
            found.append("max_tokens is missing")
        if not body.get("stream"):
            found.append("the request does not stream")
        roles = [message["role"] for message in body["messages"]]
        if any(one == other for one, other in pairwise(roles)):
            found.append(f"roles do not alternate: {roles}")
        return found

    async def begin(self) -> None:
        """Send message_start, which tells the cost of the question."""
        self._index = -1
        self._open: str | None = None
        usage = {"input_tokens": self.answer.usage.input_tokens, "output_tokens": 1}
        message = {
            "id": "msg_scripted",
            "type": "message",
            "role": "assistant",
            "model": self.body["model"],
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": usage if self.answer.usage.told != "never" else {"input_tokens": 0, "output_tokens": 0},
        }
        await self._send("message_start", message=message)
        await self._send("ping")

    async def piece(self, delta: Json) -> None:
        """Send a piece as the delta of a content block."""
        if thought := delta.get("reasoning_content"):
            await self._block("thinking", {"type": "thinking", "thinking": "", "signature": ""})
            await self._delta({"type": "thinking_delta", "thinking": thought})
        if words := delta.get("content"):
            await self._block("text", {"type": "text", "text": ""})
            await self._delta({"type": "text_delta", "text": words})
        for call in delta.get("tool_calls", []):
            function = call["function"]
            if name := function.get("name"):
                await self._close()
                start = {"type": "tool_use", "id": call["id"], "name": name, "input": {}}
                await self._block("tool_use", start)
            if function.get("arguments"):
                await self._delta({"type": "input_json_delta", "partial_json": function["arguments"]})

    async def end(self) -> None:
        """Send why it stopped and what it cost."""
        await self._close()
        reason = STOP_REASONS.get(self.answer.finish_reason or "stop", self.answer.finish_reason)
        usage = self.answer.usage
        told = {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens}
        if usage.told == "never":
            told = dict.fromkeys(told, 0)
        await self._send("message_delta", delta={"stop_reason": reason, "stop_sequence": None}, usage=told)
        await self._send("message_stop")

    async def _block(self, kind: str, start: Json) -> None:
        if self._open == kind:
            return
        await self._close()
        self._index += 1
        self._open = kind
        await self._send("content_block_start", index=self._index, content_block=start)

    async def _delta(self, delta: Json) -> None:
        await self._send("content_block_delta", index=self._index, delta=delta)

    async def _close(self) -> None:
        if self._open == "thinking":
            await self._delta({"type": "signature_delta", "signature": "signed"})
        if self._open is not None:
            await self._send("content_block_stop", index=self._index)
        self._open = None

    async def _send(self, kind: str, **fields: Any) -> None:
        await self.event({"type": kind, **fields}, name=kind)


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "".join(block["text"] for block in content if block["type"] == "text")


def _assistant(blocks: list[Json]) -> list[Json]:
    calls = [function_call(one["id"], one["name"], one["input"]) for one in blocks if one["type"] == "tool_use"]
    return [{"role": "assistant", "content": _text(blocks), **({"tool_calls": calls} if calls else {})}]


def _user(blocks: list[Json]) -> list[Json]:
    results = [
        {"role": "tool", "tool_call_id": one["tool_use_id"], "content": _text(one["content"])}
        for one in blocks
        if one["type"] == "tool_result"
    ]
    words = _text(blocks)
    return [*results, {"role": "user", "content": words}] if words or not results else results
