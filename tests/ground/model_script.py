"""What the scripted model says, written by a test in plain Python.

text("Hello there")                                     streamed word by word
text("Hello", pieces=5)                                 in five pieces
tool_calls(call("get_gns3_templates"), call("create_gns3_node", {"nodes": [...]}), text="I look first.")
text("...").after_thinking("Let me see")                reasoning_content first
text("one two three").held(gate, after=2)               waits there until gate.release()
text("one two three").cut(after=2)                      the connection breaks there
text("...", finish_reason="length")                     the output limit was reached
too_many_requests(retry_after=1)                        an HTTP error
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from typing import Any, Literal

WAIT_SECONDS = 10.0
#: What an answer costs unless the test says otherwise: figures that are easy to add up.
INPUT_TOKENS = 100
OUTPUT_TOKENS = 10


class Gate:
    """A place where an answer waits until the test lets it go on. Works across threads; used for one answer."""

    def __init__(self) -> None:
        self._reached: Future[None] = Future()
        self._released: Future[None] = Future()

    async def reached(self, seconds: float = WAIT_SECONDS) -> None:
        """Return when the answer has come to this place. Raises TimeoutError."""
        async with asyncio.timeout(seconds):
            await asyncio.shield(asyncio.wrap_future(self._reached))

    def release(self) -> None:
        """Let the answer go on."""
        if not self._released.done():
            self._released.set_result(None)

    async def hold(self) -> None:
        """Wait here (the model server's side)."""
        if not self._reached.done():
            self._reached.set_result(None)
        await asyncio.shield(asyncio.wrap_future(self._released))


class Cut:
    """The connection breaks here."""


@dataclass(frozen=True)
class Raw:
    """Bytes that go out as they are, for streams that are not what they should be."""

    data: bytes


Delta = dict[str, Any]
Step = Delta | Raw | Gate | Cut


@dataclass(frozen=True)
class Usage:
    """What the answer costs and how the server tells it.

    "asked": in a last chunk without choices, when the request has stream_options.include_usage. "every": in every
    chunk, growing. "never": not at all.
    """

    told: Literal["asked", "every", "never"] = "asked"
    input_tokens: int = INPUT_TOKENS
    output_tokens: int = OUTPUT_TOKENS

    def as_json(self, share: float = 1.0) -> dict[str, int]:
        """Give OpenAI's usage object when this share of the answer is out."""
        output = round(self.output_tokens * share)
        return {
            "prompt_tokens": self.input_tokens,
            "completion_tokens": output,
            "total_tokens": self.input_tokens + output,
        }


@dataclass(frozen=True)
class Call:
    """A tool call as the model means it. `arguments` is the text that is sent, whole or in pieces."""

    name: str
    arguments: str
    id: str | None
    pieces: int


@dataclass(frozen=True)
class Refusal:
    """An HTTP answer that is no completion."""

    status: int
    body: bytes
    content_type: str
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Answer:
    """One answer of the model: the pieces that are streamed, and how it ends. `calls` are the tool calls in it."""

    steps: tuple[Step, ...] = ()
    finish_reason: str | None = "stop"
    usage: Usage = Usage()
    calls: tuple[Call, ...] = ()
    before: Gate | None = None
    refusal: Refusal | None = None

    def held(self, gate: Gate, after: int | None = None) -> Answer:
        """Wait at the gate after so many pieces; without `after` before the first byte of the HTTP answer."""
        return replace(self, before=gate) if after is None else self._with(gate, after)

    def cut(self, after: int = 0) -> Answer:
        """Break the connection after so many pieces."""
        return self._with(Cut(), after)

    def with_raw(self, data: bytes, after: int = 0) -> Answer:
        """Send these bytes after so many pieces, whatever they are."""
        return self._with(Raw(data), after)

    def after_thinking(self, thought: str, pieces: int | None = None) -> Answer:
        """Send reasoning first, as `reasoning_content`."""
        thinking = tuple({"reasoning_content": piece} for piece in split(thought, pieces))
        return replace(self, steps=thinking + self.steps)

    def with_usage(
        self,
        told: Literal["asked", "every", "never"] = "asked",
        *,
        input_tokens: int = INPUT_TOKENS,
        output_tokens: int = OUTPUT_TOKENS,
    ) -> Answer:
        """Tell these tokens in this way."""
        return replace(self, usage=Usage(told, input_tokens, output_tokens))

    def _with(self, step: Step, after: int) -> Answer:
        # Positions count pieces of the answer, not the gates and breaks put between them before.
        position = 0
        while position < len(self.steps) and after > 0:
            after -= isinstance(self.steps[position], dict)
            position += 1
        return replace(self, steps=(*self.steps[:position], step, *self.steps[position:]))


def text(words: str, pieces: int | None = None, finish_reason: str | None = "stop") -> Answer:
    """Give an answer in words, split at spaces or into so many pieces."""
    return Answer(tuple({"content": piece} for piece in split(words, pieces)), finish_reason)


def empty() -> Answer:
    """Give an answer that says nothing and asks for nothing."""
    return Answer()


def call(
    name: str,
    arguments: Mapping[str, Any] | Sequence[Any] | str | None = None,
    *,
    id: str | None = "",
    pieces: int = 3,
) -> Call:
    """Give a tool call for `tool_calls`.

    `arguments` may be raw text, broken text too. The id is made up unless given; None sends none at all.
    """
    sent = arguments if isinstance(arguments, str) else json.dumps({} if arguments is None else arguments)
    return Call(name, sent, f"call_{secrets.token_hex(8)}" if id == "" else id, pieces)


def tool_calls(
    *calls: Call,
    text: str = "",
    order: Literal["sequence", "interleaved"] = "sequence",
    index: Literal["each", "same", "none"] = "each",
    ids: Literal["first", "every"] = "first",
    whole: bool = False,
    finish_reason: str | None = "tool_calls",
) -> Answer:
    """Give an answer that asks for tools, after `text` if there is any.

    Providers differ in how they stream calls. `order`: one after the other, or their pieces by turns. `index`: each
    call has its own, all say 0, or it is missing. `ids`: in a call's first piece, or in every one. `whole`: name and
    arguments of a call in one piece.
    """
    streams = [
        list(_pieces_of(c, None if index == "none" else n * (index == "each"), ids, whole)) for n, c in enumerate(calls)
    ]
    if order == "sequence":
        pieces = [piece for stream in streams for piece in stream]
    else:
        longest = max((len(stream) for stream in streams), default=0)
        pieces = [stream[turn] for turn in range(longest) for stream in streams if turn < len(stream)]
    spoken: list[Step] = [{"content": piece} for piece in split(text, None)]
    return Answer((*spoken, *({"tool_calls": [piece]} for piece in pieces)), finish_reason, calls=calls)


def _pieces_of(made: Call, index: int | None, ids: str, whole: bool) -> list[dict[str, Any]]:
    place = {} if index is None else {"index": index}
    identity = {} if made.id is None else {"id": made.id}
    first = {**place, **identity, "type": "function"}
    if whole:
        return [{**first, "function": {"name": made.name, "arguments": made.arguments}}]
    later = {**place, **(identity if ids == "every" else {})}
    return [
        {**first, "function": {"name": made.name, "arguments": ""}},
        *({**later, "function": {"arguments": piece}} for piece in split(made.arguments, made.pieces)),
    ]


def http_error(status: int, body: Any, headers: Mapping[str, str] | None = None) -> Answer:
    """Give an HTTP error: JSON, or text as it is (an HTML page, say)."""
    if isinstance(body, str):
        refusal = Refusal(status, body.encode(), "text/html", headers or {})
    else:
        refusal = Refusal(status, json.dumps(body).encode(), "application/json", headers or {})
    return Answer(refusal=refusal)


def openai_error(
    status: int, message: str, code: str | None = None, headers: Mapping[str, str] | None = None
) -> Answer:
    """Give an HTTP error as OpenAI words it."""
    error = {"message": message, "type": "invalid_request_error", "param": None, "code": code}
    return http_error(status, {"error": error}, headers)


def unauthorized() -> Answer:
    """Give 401."""
    return openai_error(401, "Incorrect API key provided: sk-wrong.", "invalid_api_key")


def too_many_requests(retry_after: float | None = None) -> Answer:
    """Give 429, with Retry-After if given."""
    headers = {} if retry_after is None else {"Retry-After": f"{retry_after:g}"}
    return openai_error(429, "Rate limit reached for this model.", "rate_limit_exceeded", headers)


def context_too_long() -> Answer:
    """Give the 400 of a request that does not fit the model's context."""
    message = "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens."
    return openai_error(400, message, "context_length_exceeded")


def refuses_parameter(name: str) -> Answer:
    """Give the 400 of a server that does not know an optional parameter."""
    return openai_error(
        400, f"Unsupported parameter: '{name}' is not supported with this model.", "unsupported_parameter"
    )


def html_page(status: int = 200) -> Answer:
    """Give a web page, as a wrong base_url does."""
    return http_error(status, "<!DOCTYPE html><html><body><h1>Welcome</h1></body></html>")


def split(whole: str, pieces: int | None) -> list[str]:
    """Split text into so many pieces of about the same length, or after its spaces; nothing gives no piece."""
    if not whole:
        return []
    if pieces is None:
        return [word for word in whole.replace(" ", " \0").split("\0") if word]
    size = max(1, -(-len(whole) // pieces))
    return [whole[at : at + size] for at in range(0, len(whole), size)]
