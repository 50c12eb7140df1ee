"""Amazon Bedrock's Converse stream."""

from __future__ import annotations

import binascii
import json
import struct
from collections.abc import Mapping
from typing import Any

from aiohttp import web

from tests.ground.wire.base import Json, Wire, function_call, function_tool

STOP_REASONS = {"stop": "end_turn", "tool_calls": "tool_use", "length": "max_tokens"}


class Bedrock(Wire):
    """`POST /model/{model}/converse-stream`: JSON in AWS's binary event stream. Signatures are not checked."""

    path = "/model/{model}/converse-stream"
    content_type = "application/vnd.amazon.eventstream"

    @staticmethod
    def key(headers: Mapping[str, str]) -> str:
        """Give the access key id in the signature."""
        return headers.get("authorization", "").partition("Credential=")[2].partition("/")[0]

    @staticmethod
    def messages(body: Json) -> list[Json]:
        """Give the system prompt and the messages, tool results as messages of their own."""
        system = "".join(block.get("text", "") for block in body.get("system", []))
        found: list[Json] = [{"role": "system", "content": system}] if system else []
        for message in body["messages"]:
            blocks = message["content"]
            words = "".join(block["text"] for block in blocks if "text" in block)
            uses = [block["toolUse"] for block in blocks if "toolUse" in block]
            calls = [function_call(one["toolUseId"], one["name"], one["input"]) for one in uses]
            found += [
                {"role": "tool", "tool_call_id": block["toolResult"]["toolUseId"], "content": str(block)}
                for block in blocks
                if "toolResult" in block
            ]
            if words or calls:
                found.append({"role": message["role"], "content": words, **({"tool_calls": calls} if calls else {})})
        return found

    @staticmethod
    def tools(body: Json) -> list[Json] | None:
        """Give the tools."""
        specs = [tool["toolSpec"] for tool in body.get("toolConfig", {}).get("tools", [])]
        return [function_tool(one["name"], one["description"], one["inputSchema"]["json"]) for one in specs] or None

    @classmethod
    def violations(cls, body: Json, http: web.Request) -> list[str]:
        """A request is signed."""
        signed = http.headers.get("Authorization", "").startswith("AWS4-HMAC-SHA256 ")
        return [] if signed else ["the request is not signed"]

    async def begin(self) -> None:
        """Send the role."""
        self._index = -1
        self._open: str | None = None
        await self._send("messageStart", role="assistant")

    async def piece(self, delta: Json) -> None:
        """Send a piece as the delta of a content block."""
        if words := delta.get("content"):
            await self._block("text")
            await self._delta({"text": words})
        for call in delta.get("tool_calls", []):
            function = call["function"]
            if name := function.get("name"):
                await self._close()
                await self._block("toolUse", {"toolUse": {"toolUseId": call["id"], "name": name}})
            if function.get("arguments"):
                await self._delta({"toolUse": {"input": function["arguments"]}})

    async def end(self) -> None:
        """Send why it stopped and what it cost."""
        await self._close()
        reason = STOP_REASONS.get(self.answer.finish_reason or "stop", self.answer.finish_reason)
        await self._send("messageStop", stopReason=reason)
        usage = self.answer.usage
        if usage.told != "never":
            told = {
                "inputTokens": usage.input_tokens,
                "outputTokens": usage.output_tokens,
                "totalTokens": usage.input_tokens + usage.output_tokens,
            }
            await self._send("metadata", usage=told, metrics={"latencyMs": 1})

    async def _block(self, kind: str, start: Json | None = None) -> None:
        if self._open == kind:
            return
        await self._close()
        self._index += 1
        self._open = kind
        if start is not None:
            await self._send("contentBlockStart", contentBlockIndex=self._index, start=start)

    async def _delta(self, delta: Json) -> None:
        await self._send("contentBlockDelta", contentBlockIndex=self._index, delta=delta)

    async def _close(self) -> None:
        if self._open is not None:
            await self._send("contentBlockStop", contentBlockIndex=self._index)
        self._open = None

    async def _send(self, kind: str, **fields: Any) -> None:
        names = {":message-type": "event", ":event-type": kind, ":content-type": "application/json"}
        await self.response.write(frame(names, json.dumps(fields).encode()))


def frame(headers: Mapping[str, str], payload: bytes) -> bytes:
    """Give one message of the event stream: lengths, checksum, headers, payload, checksum."""
    packed = b"".join(
        struct.pack("!B", len(name)) + name.encode() + struct.pack("!BH", 7, len(value)) + value.encode()
        for name, value in headers.items()
    )
    prelude = struct.pack("!II", 12 + len(packed) + len(payload) + 4, len(packed))
    prelude += struct.pack("!I", binascii.crc32(prelude))
    message = prelude + packed + payload
    return message + struct.pack("!I", binascii.crc32(message))
