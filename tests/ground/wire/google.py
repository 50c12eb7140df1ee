"""Google's Gemini API over REST."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aiohttp import web

from tests.ground.wire.base import Json, Wire, function_call, function_tool, whole_calls

FINISH_REASONS = {"stop": "STOP", "tool_calls": "STOP", "length": "MAX_TOKENS"}


class Google(Wire):
    """`POST /v1beta/models/{model}:streamGenerateContent`; calls come whole, usage as a running total in each piece."""

    path = r"/v1beta/models/{model:[^:/]+}:streamGenerateContent"

    @staticmethod
    def key(headers: Mapping[str, str]) -> str:
        """Give x-goog-api-key."""
        return headers.get("x-goog-api-key", "")

    @staticmethod
    def messages(body: Json) -> list[Json]:
        """Give the system instruction and the contents, tool results as messages of their own."""
        system = body.get("systemInstruction")
        found = [{"role": "system", "content": _text(system["parts"])}] if system else []
        waiting: list[tuple[str, str]] = []  # calls without result so far, by id and name
        for number, content in enumerate(body["contents"]):
            parts = content["parts"]
            if content["role"] == "model":
                calls = [part["functionCall"] for part in parts if "functionCall" in part]
                waiting = [(one.get("id") or f"made_up_{number}_{i}", one["name"]) for i, one in enumerate(calls)]
                made = [
                    function_call(call_id, one["name"], one.get("args", {}))
                    for (call_id, _), one in zip(waiting, calls, strict=True)
                ]
                found.append({"role": "assistant", "content": _text(parts), **({"tool_calls": made} if made else {})})
                continue
            for part in parts:
                if result := part.get("functionResponse"):
                    found.append({"role": "tool", "tool_call_id": _match(result, waiting), "content": str(result)})
            if words := _text(parts):
                found.append({"role": "user", "content": words})
        return found

    @staticmethod
    def tools(body: Json) -> list[Json] | None:
        """Give the function declarations, with types in JSON Schema's spelling."""
        if "tools" not in body:
            return None
        return [
            function_tool(
                one["name"], one["description"], one.get("parametersJsonSchema") or _lower_types(one["parameters"])
            )
            for tool in body["tools"]
            for one in tool["functionDeclarations"]
        ]

    @classmethod
    def violations(cls, body: Json, http: web.Request) -> list[str]:
        """A stream of events has to be asked for."""
        return [] if http.query.get("alt") == "sse" else ["the request does not ask for events"]

    async def piece(self, delta: Json) -> None:
        """Send a piece as an event."""
        parts: list[Json] = []
        if thought := delta.get("reasoning_content"):
            parts.append({"text": thought, "thought": True})
        if words := delta.get("content"):
            parts.append({"text": words})
        for one in whole_calls(self.answer, delta):
            call = {"name": one["name"], "args": one["args"], **({"id": one["id"]} if one["id"] else {})}
            parts.append({"functionCall": call, "thoughtSignature": "c2lnbmVk"})
        if parts:
            await self._send({"content": {"parts": parts, "role": "model"}, "index": 0}, self.share)

    async def end(self) -> None:
        """Send the finish reason."""
        reason = FINISH_REASONS.get(self.answer.finish_reason or "stop", self.answer.finish_reason)
        await self._send({"content": {"parts": [{"text": ""}], "role": "model"}, "finishReason": reason, "index": 0}, 1)

    async def _send(self, candidate: Json, share: float) -> None:
        chunk: Json = {"candidates": [candidate], "modelVersion": "scripted", "responseId": "scripted"}
        if self.answer.usage.told != "never":
            usage = self.answer.usage.as_json(share)
            chunk["usageMetadata"] = {
                "promptTokenCount": usage["prompt_tokens"],
                "candidatesTokenCount": usage["completion_tokens"],
                "totalTokenCount": usage["total_tokens"],
            }
        await self.event(chunk)


def _text(parts: list[Json]) -> str:
    return "".join(part["text"] for part in parts if "text" in part and not part.get("thought"))


def _match(result: Json, waiting: list[tuple[str, str]]) -> str:
    for position, (call_id, name) in enumerate(waiting):
        if result.get("id") == call_id or (not result.get("id") and result["name"] == name):
            del waiting[position]
            return call_id
    return str(result.get("id"))


def _lower_types(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_lower_types(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: value.lower() if key == "type" and isinstance(value, str) else _lower_types(value)
        for key, value in schema.items()
    }
