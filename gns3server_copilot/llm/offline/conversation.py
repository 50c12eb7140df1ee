"""What the rules read out of the messages: the question, what its tool calls gave, and the lab."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from gns3server_copilot.llm.offline.lab import Lab, read_lab

#: The numbers of both marks are the same, and what is between them cannot hold it.
TOPOLOGY = re.compile(r"^<topology ([0-9a-f]+)>$(.*)^</topology \1>$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Result:
    """What a tool call gave: the response as text."""

    tool: str
    arguments: dict[str, Any]
    text: str


@dataclass(frozen=True)
class Conversation:
    """The part of a conversation that the next answer depends on."""

    question: str
    results: tuple[Result, ...] = ()
    lab: Lab = field(default_factory=Lab)
    #: Whether nothing was asked before this question.
    is_first: bool = True


def read_conversation(messages: Sequence[BaseMessage]) -> Conversation:
    """Read the last question and the results of the calls made since; device text is never read as a question."""
    start = max((place for place, message in enumerate(messages) if isinstance(message, HumanMessage)), default=-1)
    calls: dict[str | None, dict[str, Any]] = {}
    results = []
    for message in messages[start + 1 :]:
        if isinstance(message, AIMessage):
            calls |= {call["id"]: call["args"] for call in message.tool_calls}
        elif isinstance(message, ToolMessage):
            arguments = calls.get(message.tool_call_id, {})
            results.append(Result(message.name or "", arguments, str(message.text)))
    prompt = "\n".join(str(message.text) for message in messages if isinstance(message, SystemMessage))
    topology = TOPOLOGY.search(prompt)
    return Conversation(
        question=str(messages[start].text).strip() if start >= 0 else "",
        results=tuple(results),
        lab=read_lab(topology[2].strip("\n") if topology else ""),
        is_first=not any(isinstance(message, HumanMessage) for message in messages[: max(start, 0)]),
    )
