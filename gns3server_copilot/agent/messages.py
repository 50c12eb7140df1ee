"""Our notes on LangChain messages: when they came, how they ended, and what must not run.

They are kept in `response_metadata["copilot"]`, which LangChain stores and no provider is sent.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

NOTES = "copilot"
#: The note with the ids of calls that readers have seen of an answer that never came whole.
ANNOUNCED = "announced_calls"

AnyMessage = TypeVar("AnyMessage", bound=BaseMessage)


def new_message_id() -> str:
    """Give an id that no other message has."""
    return str(uuid.uuid4())


def stamp(message: AnyMessage, **notes: Any) -> AnyMessage:
    """Note the time and the given facts on a message and give it back."""
    own = {"created_at": datetime.now(UTC).isoformat(timespec="microseconds"), **notes_of(message), **notes}
    message.response_metadata = {**message.response_metadata, NOTES: own}
    return message


def notes_of(message: BaseMessage) -> dict[str, Any]:
    """Give our notes on a message."""
    notes = message.response_metadata.get(NOTES)
    return notes if isinstance(notes, dict) else {}


def used_call_ids(messages: Sequence[BaseMessage]) -> set[str]:
    """Give every id of a tool call that readers of the conversation have seen."""
    calls = (call["id"] or "" for one in messages if isinstance(one, AIMessage) for call in one.tool_calls)
    return {*calls, *(call_id for one in messages for call_id in notes_of(one).get(ANNOUNCED, ()))}


def question(text: str) -> HumanMessage:
    """Give what a person asked as a message."""
    return stamp(HumanMessage(text, id=new_message_id()))


def ended_early(text: str, message_id: str, **notes: Any) -> AIMessage:
    """Give the part of an answer that came before the turn was aborted or failed; may be empty."""
    return stamp(AIMessage(text, id=message_id), **notes)
