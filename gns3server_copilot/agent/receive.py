"""Receives one streamed answer of the model: tells the readers as it comes, and gives the whole message at its end."""

from __future__ import annotations

import asyncio
import json
import operator
from collections.abc import AsyncIterator, Collection, Sequence
from typing import Any

from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.ai import UsageMetadata, add_ai_message_chunks
from langchain_core.runnables import Runnable

from gns3server_copilot.agent.counting import compare_counts, sent_text
from gns3server_copilot.agent.messages import new_message_id, stamp
from gns3server_copilot.agent.tool_calls import AssembledCall, ToolCallAssembler
from gns3server_copilot.agent.turn import Draft, Turn
from gns3server_copilot.errors import ModelError
from gns3server_copilot.llm.config import LLMConfig
from gns3server_copilot.llm.factory import optional_parameters
from gns3server_copilot.llm.model_errors import model_error
from gns3server_copilot.llm.providers import PROVIDERS
from gns3server_copilot.llm.tokens import count_tokens
from gns3server_copilot.schemas.unicode import valid_unicode, without_half

#: How providers say that the answer hit its length limit, lower case.
CUT_OFF = {
    "incomplete",
    "length",
    "max_output_tokens",
    "max_tokens",
    "model_context_window_exceeded",
    "model_length",
}
#: Calls as providers put them besides `tool_calls`, where they alone are kept: with our ids, and none that is refused.
CALL_BLOCKS = {"function_call", "input_json_delta", "tool_call", "tool_call_chunk", "tool_use"}
CALLS_ELSEWHERE = {"function_call", "tool_calls"}
#: More than any context window holds.
MOST_TOKENS = 100_000_000
#: Characters of one answer, thoughts and tool calls included: one without end would fill the memory.
LONGEST_ANSWER = 1_000_000
EMPTY = "The model sent an empty answer. Ask again, or choose another model."
CUT_OFF_EMPTY = (
    "The model reached its length limit before it said anything. Raise max_tokens in the AI profile, or choose a model "
    "that thinks less."
)
FINISH_KEYS = ("finish_reason", "stop_reason", "stopReason", "done_reason", "status")


class AnswerReceiver:
    """Collects the chunks of one answer."""

    def __init__(self, turn: Turn, sent_tokens: int, used_call_ids: Collection[str]) -> None:
        self.message_id = new_message_id()
        self._turn = turn
        self._turn.draft = self._draft = Draft(self.message_id, sent_tokens)
        self._calls = ToolCallAssembler(self._announce, used_call_ids)
        # with a running total in every chunk it is the largest that counts, not the sum
        provider = PROVIDERS.get(turn.request.config.provider)
        self._together = max if provider is not None and provider.repeats_usage else operator.add
        self._chunks: list[AIMessageChunk] = []
        self._cut_off = False
        self._received = 0
        #: of a character that the provider has cut in two between chunks
        self._half = ""

    def add(self, chunk: BaseMessage) -> None:
        """Take one chunk; models that do not stream give a whole message instead, which is fine too."""
        self._received += _size(chunk)
        if self._received > LONGEST_ANSWER:
            raise ModelError("The model does not come to an end. Ask again, or choose another model.", "endless")
        text, self._half = without_half(self._half + str(chunk.text))
        self._show(text)
        if isinstance(chunk, AIMessageChunk):
            self._chunks.append(chunk)
            for fragment in chunk.tool_call_chunks:
                self._calls.add_fragment(fragment)
        elif isinstance(chunk, AIMessage):
            self._chunks.append(
                AIMessageChunk(**chunk.model_dump(exclude={"type", "tool_calls", "invalid_tool_calls"}))
            )
            for call in chunk.tool_calls:
                self._calls.add_whole(call)
            for broken in chunk.invalid_tool_calls:
                self._calls.add_fragment(broken)
        usage = getattr(chunk, "usage_metadata", None)
        if usage:
            self._draft.input_tokens = self._together(self._draft.input_tokens, _plausible(usage["input_tokens"]))
            self._draft.output_tokens = self._together(self._draft.output_tokens, _plausible(usage["output_tokens"]))
        if any(str(chunk.response_metadata.get(key, "")).lower() in CUT_OFF for key in FINISH_KEYS):
            self._cut_off = True

    async def finish(self) -> AIMessage:
        """Give the message as it is stored, and count its tokens: the provider's figures, else our own count.

        Raises ModelError when there is neither text nor a tool call in it.
        """
        self._show(self._half)
        calls = self._calls.finish(self._cut_off)
        chunks = self._chunks or [AIMessageChunk(content="")]
        merged = add_ai_message_chunks(chunks[0], *chunks[1:])
        refused = {call.id: call.refusal for call in calls if call.refusal}
        message = AIMessage(
            content=_encodable(_without_calls(merged.content)),
            additional_kwargs={
                key: _encodable(value) for key, value in merged.additional_kwargs.items() if key not in CALLS_ELSEWHERE
            },
            response_metadata=merged.response_metadata,
            tool_calls=[call.as_tool_call() for call in calls],
            id=self.message_id,
        )
        await add_usage(self._turn, self._draft, sent_text(message))
        message.usage_metadata = UsageMetadata(
            input_tokens=self._draft.input_tokens,
            output_tokens=self._draft.output_tokens,
            total_tokens=self._draft.input_tokens + self._draft.output_tokens,
        )
        if not calls and not message.text.strip():
            raise ModelError(CUT_OFF_EMPTY if self._cut_off else EMPTY, "cut_off" if self._cut_off else "empty")
        stamp(message, **({"refused_calls": refused} if refused else {}))
        self._turn.produced.append(message)
        self._turn.draft = None
        return message

    def _show(self, text: str) -> None:
        if text:
            text = valid_unicode(text)
            self._draft.text += text
            self._turn.emit("content", content=text, message_id=self.message_id)

    def _announce(self, call: AssembledCall, complete: bool) -> None:
        self._draft.announced_calls.add(call.id)
        arguments = json.dumps(call.as_tool_call()["args"]) if complete else call.arguments or "{}"
        function: dict[str, Any] = {"name": call.name, "arguments": arguments}
        if complete:
            function["complete"] = True
        self._turn.emit(
            "tool_call",
            tool_call={"id": call.id, "type": "function", "function": function},
            message_id=self.message_id,
        )


async def receive_answer(
    model: Runnable[Any, Any],
    sent: Sequence[BaseMessage],
    sent_tokens: int,
    turn: Turn,
    used_call_ids: Collection[str],
    idle_seconds: float,
) -> AIMessage:
    """Send the messages, `sent_tokens` with the tools, and receive the answer.

    Raises ModelError when the provider fails, or sends nothing for `idle_seconds`. It stands alone: what the client
    raised may hold the key, so it is not its cause.
    """
    receiver = AnswerReceiver(turn, sent_tokens, used_call_ids)
    turn.model_calls += 1
    chunks = model.astream(list(sent))
    try:
        while (chunk := await _next_chunk(chunks, idle_seconds, turn.request.config)) is not None:
            receiver.add(chunk)
    finally:
        await chunks.aclose()  # type: ignore[attr-defined]  # LangChain's iterator is an async generator
    return await receiver.finish()


async def add_usage(turn: Turn, draft: Draft, answer: str) -> None:
    """Add the tokens of a message, whole or not, to the turn's: the provider's figures, else our own count. Once."""
    if draft.counted:
        return
    draft.counted = True
    estimated = not (draft.input_tokens or draft.output_tokens)
    if estimated:
        draft.input_tokens = draft.sent_tokens
        draft.output_tokens = sum(await count_tokens([answer]))
    elif draft.input_tokens:
        compare_counts(turn.request.config, counted=draft.sent_tokens, told=draft.input_tokens)
    turn.usage.add(draft.input_tokens, draft.output_tokens, estimated=estimated)
    turn.usage.context_tokens = (draft.input_tokens or draft.sent_tokens) + draft.output_tokens


async def _next_chunk(chunks: AsyncIterator[Any], idle_seconds: float, config: LLMConfig) -> BaseMessage | None:
    try:
        async with asyncio.timeout(idle_seconds):
            return await anext(chunks, None)
    except Exception as error:  # provider clients have no common base class
        failure = model_error(error, config.model, optional_parameters(config))
    raise failure


def _without_calls(content: Any) -> Any:
    if not isinstance(content, list):
        return content
    return [block for block in content if not (isinstance(block, dict) and block.get("type") in CALL_BLOCKS)]


def _size(chunk: BaseMessage) -> int:
    content = chunk.content if isinstance(chunk.content, str) else str(chunk.content)
    thoughts = str(chunk.additional_kwargs) if chunk.additional_kwargs else ""
    fragments = chunk.tool_call_chunks if isinstance(chunk, AIMessageChunk) else []
    return len(content) + len(thoughts) + sum(len(fragment["args"] or "") for fragment in fragments)


def _plausible(tokens: Any) -> int:
    """Give a provider's figure, or 0 for one that no model call can have."""
    return tokens if isinstance(tokens, int) and 0 <= tokens <= MOST_TOKENS else 0


def _encodable(value: Any) -> Any:
    """Replace what is no Unicode text (lone surrogates): it could never be sent again."""
    if isinstance(value, str):
        return valid_unicode(value)
    if isinstance(value, list):
        return [_encodable(one) for one in value]
    if isinstance(value, dict):
        return {key: _encodable(one) for key, one in value.items()}
    return value
