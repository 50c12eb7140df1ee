"""What a turn has left behind whose end could not be stored: the server was killed, or the disk was full."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage

from gns3server_copilot.agent.messages import ended_early, new_message_id, notes_of
from gns3server_copilot.agent.repair import repaired

INTERRUPTED = "This answer was interrupted: the server ended before it was complete. Ask again."


@dataclass(frozen=True)
class LostTurn:
    """The whole conversation after its last turn was lost, and what is known of that turn."""

    messages: list[AnyMessage]
    model_calls: int
    input_tokens: int
    output_tokens: int
    #: when the last message came that is known; None in an empty conversation
    time: str | None


def recover(messages: Sequence[AnyMessage], counted: int) -> LostTurn:
    """Give a conversation as it is to be kept. So many of its messages were counted before the turn was lost."""
    answers = [message for message in messages[counted:] if isinstance(message, AIMessage)]
    figures = [message.usage_metadata for message in answers if message.usage_metadata is not None]
    whole = repaired(messages)
    if whole and isinstance(whole[-1], HumanMessage | ToolMessage):
        whole.append(ended_early("", new_message_id(), aborted=True, error=INTERRUPTED))
    return LostTurn(
        whole,
        model_calls=len(answers),
        input_tokens=sum(one["input_tokens"] for one in figures),
        output_tokens=sum(one["output_tokens"] for one in figures),
        time=notes_of(messages[-1]).get("created_at") if messages else None,
    )
