"""The offline model as a LangChain chat model."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import LanguageModelInput
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.ai import UsageMetadata, add_ai_message_chunks
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from gns3server_copilot.llm.offline.conversation import read_conversation
from gns3server_copilot.llm.offline.plan import Call, reply_to

PIECE = re.compile(r"\s*\S+|\s+")
#: A longer answer comes in larger pieces, so that a reader gets it in about as many.
MAX_PIECES = 400
PROVIDER = "offline"


class OfflineChatModel(BaseChatModel):
    """Answers by rules: slash commands and plain requests become tool calls, their results become words and tables.

    The same messages and tools always give the same answer. Its tokens are words.
    """

    model_name: str = PROVIDER

    @property
    def _llm_type(self) -> str:
        return PROVIDER

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        *,
        tool_choice: str | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Give this model with tools that it may call. `tool_choice` changes nothing: the request decides."""
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools], **kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return _whole(messages, kwargs)

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return _whole(messages, kwargs)

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        for chunk in _chunks(messages, kwargs):
            if run_manager:
                run_manager.on_llm_new_token(str(chunk.text), chunk=ChatGenerationChunk(message=chunk))
            yield ChatGenerationChunk(message=chunk)

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        for chunk in _chunks(messages, kwargs):
            if run_manager:
                await run_manager.on_llm_new_token(str(chunk.text), chunk=ChatGenerationChunk(message=chunk))
            yield ChatGenerationChunk(message=chunk)
            await asyncio.sleep(0)  # a long answer must let others run, and be stoppable


def _whole(messages: Sequence[BaseMessage], options: dict[str, Any]) -> ChatResult:
    first, *others = _chunks(messages, options)
    merged = add_ai_message_chunks(first, *others)
    message = AIMessage(
        content=merged.content,
        tool_calls=merged.tool_calls,
        usage_metadata=merged.usage_metadata,
        response_metadata=merged.response_metadata,
    )
    return ChatResult(generations=[ChatGeneration(message=message)])


def _chunks(messages: Sequence[BaseMessage], options: dict[str, Any]) -> Iterator[AIMessageChunk]:
    offered = [tool["function"]["name"] for tool in options.get("tools", ())]
    reply = reply_to(read_conversation(messages), offered)
    for piece in _pieces(reply.text):
        yield AIMessageChunk(content=piece)
    for index, call in enumerate(reply.calls):
        arguments = json.dumps(call.arguments, ensure_ascii=False)
        call_id = _call_id(messages, index, call)
        yield _call_chunk(index, name=call.tool, id=call_id, args="")
        for piece in _pieces(arguments):
            yield _call_chunk(index, name=None, id=None, args=piece)
    yield AIMessageChunk(
        content="",
        response_metadata={
            "finish_reason": "tool_calls" if reply.calls else "stop",
            "model_name": PROVIDER,
            "model_provider": PROVIDER,
        },
        usage_metadata=_usage(messages, [reply.text, *(json.dumps(call.arguments) for call in reply.calls)]),
        chunk_position="last",
    )


def _call_chunk(index: int, *, name: str | None, id: str | None, args: str) -> AIMessageChunk:
    return AIMessageChunk(content="", tool_call_chunks=[tool_call_chunk(name=name, args=args, id=id, index=index)])


def _pieces(text: str) -> Iterator[str]:
    words = PIECE.findall(text)
    size = max(1, -(-len(words) // MAX_PIECES))
    for start in range(0, len(words), size):
        yield "".join(words[start : start + size])


def _call_id(messages: Sequence[BaseMessage], index: int, call: Call) -> str:
    # unique in a conversation without chance: a digest of what came before the call
    digest = hashlib.sha256(f"{index} {call}".encode())
    for message in messages:
        digest.update(f"{message.type} {message.id} {message.text}\n".encode(errors="replace"))
    return f"call_{digest.hexdigest()[:24]}"


def _usage(messages: Sequence[BaseMessage], said: Sequence[str]) -> UsageMetadata:
    read = sum(len(PIECE.findall(str(message.text))) for message in messages)
    written = sum(len(PIECE.findall(text)) for text in said)
    return UsageMetadata(input_tokens=read, output_tokens=written, total_tokens=read + written)
