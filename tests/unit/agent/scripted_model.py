"""A chat model inside the test process, whose answers a test writes beforehand.

It stands where the providers' clients do, so that a test can drive the agent with thousands of answers: chunks as they
come from LangChain, errors as the clients raise them, and functions that do something in the middle.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.messages import AIMessageChunk, BaseMessage
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.messages.utils import convert_to_openai_messages

from tests.ground.message_rules import check_messages

Step = AIMessageChunk | Exception | Callable[[], Any]
Answer = Sequence[Step]


class ProviderError(Exception):
    """What a provider's client raises."""

    def __init__(self, status: int | None, text: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(text)
        self.status_code = status
        self.response = type("Response", (), {"headers": headers or {}, "status_code": status})()


def say(text: str) -> list[Step]:
    return [AIMessageChunk(piece) for piece in text.replace(" ", " \0").split("\0")]


def end(reason: str = "stop") -> Step:
    return AIMessageChunk("", response_metadata={"finish_reason": reason})


def call(name: str, args: Any = None, *, id: str | None = "given", index: int | None = 0) -> list[Step]:
    """Give a tool call in two pieces; `args` may be text as it is."""
    text = args if isinstance(args, str) else json.dumps({} if args is None else args)
    half = len(text) // 2
    return [
        AIMessageChunk("", tool_call_chunks=[tool_call_chunk(name=name, args=text[:half], id=id, index=index)]),
        AIMessageChunk("", tool_call_chunks=[tool_call_chunk(name=None, args=text[half:], id=None, index=index)]),
    ]


class ScriptedModel:
    """Takes the place of `model_with_tools`. Without a script it says "Done."."""

    def __init__(self) -> None:
        self.answers: list[Answer] = []
        self.titles: list[Answer] = []
        #: for each request: the messages in OpenAI's shape, and the names of the tools
        self.requests: list[tuple[list[dict[str, Any]], list[str]]] = []
        self.title_requests: list[list[dict[str, Any]]] = []
        self.violations: list[str] = []

    def script(self, *answers: Answer) -> None:
        self.answers.extend(answers)

    async def __call__(self, definitions: Sequence[dict[str, Any]], config: Any, omit: Any) -> Any:
        return _Bound(self, [one["function"]["name"] for one in definitions])

    async def answer(self, messages: Sequence[BaseMessage], tools: list[str]) -> Any:
        sent: Any = convert_to_openai_messages(list(messages))
        self.violations += check_messages(sent)
        if "title of a conversation" in str(sent[0]["content"]):
            self.title_requests.append(sent)
            steps = self.titles.pop(0) if self.titles else say("Scripted title")
        else:
            self.requests.append((sent, tools))
            steps = self.answers.pop(0) if self.answers else say("Done.")
        for step in steps:
            if isinstance(step, Exception):
                raise step
            if isinstance(step, AIMessageChunk):
                yield step
            else:
                done = step()
                if inspect.isawaitable(done):
                    await done


class _Bound:
    def __init__(self, model: ScriptedModel, tools: list[str]) -> None:
        self._model = model
        self._tools = tools

    def astream(self, messages: Sequence[BaseMessage]) -> Any:
        return self._model.answer(messages, self._tools)
