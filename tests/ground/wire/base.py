"""What the scripted model server needs to know of a wire format.

Scripts are written once, in OpenAI's words (`tests.ground.model_script`); a wire says them in its own. Requests are
read into OpenAI's shape, so that the same rules judge the messages and tools that every provider is sent.
"""

from __future__ import annotations

import abc
import json
from collections.abc import Mapping
from typing import Any, ClassVar

from aiohttp import web

from tests.ground.model_script import Answer, Cut, Gate, Raw

Json = dict[str, Any]


class Wire(abc.ABC):
    """One answer to one request. Subclasses write its pieces as the provider does."""

    #: Where requests come, as aiohttp writes paths.
    path: ClassVar[str]
    content_type: ClassVar[str] = "text/event-stream; charset=utf-8"

    # --- reading ---------------------------------------------------------------------------------------------------

    @staticmethod
    @abc.abstractmethod
    def key(headers: Mapping[str, str]) -> str:
        """Give the API key of a request, "" for none. Header names are in lower case."""

    @staticmethod
    @abc.abstractmethod
    def messages(body: Json) -> Any:
        """Give the messages of a request in OpenAI's shape; whatever stands there when they cannot be read."""

    @staticmethod
    @abc.abstractmethod
    def tools(body: Json) -> Any:
        """Give the tools of a request in OpenAI's shape; None when it has none."""

    @classmethod
    def violations(cls, body: Json, http: web.Request) -> list[str]:
        """Say what else is wrong with a request."""
        return []

    # --- answering -------------------------------------------------------------------------------------------------

    def __init__(self, http: web.Request, body: Json, answer: Answer) -> None:
        self.http = http
        self.body = body
        self.answer = answer
        self.response = web.StreamResponse(headers={"Content-Type": self.content_type})
        self.sent = 0

    async def send(self) -> web.StreamResponse:
        """Send the answer and give the response object that aiohttp wants back."""
        if self.answer.before is not None:
            await self.answer.before.hold()
        if self.answer.refusal is not None:
            refusal = self.answer.refusal
            headers = {**refusal.headers, "Content-Type": refusal.content_type}
            return web.Response(status=refusal.status, body=refusal.body, headers=headers)
        return await self.stream()

    async def stream(self) -> web.StreamResponse:
        """Send the answer piece by piece."""
        await self.response.prepare(self.http)
        await self.begin()
        for step in self.answer.steps:
            if isinstance(step, Gate):
                await step.hold()
            elif isinstance(step, Cut):
                self.break_off()
                return self.response
            elif isinstance(step, Raw):
                await self.response.write(step.data)
            else:
                self.sent += 1
                await self.piece(step)
        await self.end()
        await self.response.write_eof()
        return self.response

    async def begin(self) -> None:  # noqa: B027  # most have nothing to send
        """Send what comes before the first piece."""

    @abc.abstractmethod
    async def piece(self, delta: Json) -> None:
        """Send one piece: `content`, `reasoning_content` or `tool_calls`."""

    @abc.abstractmethod
    async def end(self) -> None:
        """Send what comes after the last piece: how the answer ended, and what it cost."""

    async def event(self, payload: Json, name: str | None = None) -> None:
        """Send one server-sent event."""
        head = f"event: {name}\n" if name else ""
        await self.response.write(f"{head}data: {json.dumps(payload)}\n\n".encode())

    def break_off(self) -> None:
        """Break the connection."""
        if self.http.transport is not None:
            self.http.transport.abort()

    @property
    def share(self) -> float:
        """How much of the answer is out."""
        pieces = sum(isinstance(step, dict) for step in self.answer.steps)
        return self.sent / pieces if pieces else 1.0


def whole_calls(answer: Answer, delta: Json) -> list[Json]:
    """Give name, id and parsed arguments of the calls that begin in a piece, for formats that send calls whole."""
    found = []
    for piece in delta.get("tool_calls", []):
        name = piece["function"].get("name")
        if name:
            [made] = [one for one in answer.calls if one.id == piece.get("id")]
            found.append({"id": made.id, "name": name, "args": json.loads(made.arguments)})
    return found


def function_tool(name: str, description: str, parameters: Json) -> Json:
    """Give a tool in OpenAI's shape."""
    return {
        "type": "function",
        "function": {"name": name, "description": description, "parameters": parameters},
    }


def function_call(call_id: str, name: str, args: Any) -> Json:
    """Give a tool call of a message in OpenAI's shape."""
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": json.dumps(args)}}
