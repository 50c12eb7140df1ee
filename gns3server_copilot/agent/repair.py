"""Makes a message list valid for the strictest provider, in the stored history and before every model call.

The rules: each tool call id has exactly one result, directly after its message; no result without its call; no empty
assistant message; after tool results an assistant message comes before the next user message.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from gns3server_copilot.agent.messages import ended_early, new_message_id, notes_of, stamp
from gns3server_copilot.tools.response import failure, to_text

INTERRUPTED = "Interrupted before a result came; it may have been partly carried out. Check before repeating it."
NEVER_BEGUN = "Not carried out: the turn ended before this call began."
NO_ANSWER = "(This answer was interrupted.)"


def repaired(messages: Iterable[BaseMessage]) -> list[AnyMessage]:
    """Give the messages with every call answered and every result directly after its call.

    The input is not changed; a valid list comes back equal.
    """
    # a system message is made anew for each model call and has no place in between
    messages = [message for message in messages if not isinstance(message, SystemMessage)]
    results: dict[str, ToolMessage] = {}
    for message in messages:
        if isinstance(message, ToolMessage):
            results.setdefault(message.tool_call_id, message)
    whole: list[AnyMessage] = []
    for message in messages:
        if isinstance(message, ToolMessage):
            continue  # placed after its call
        if isinstance(message, HumanMessage) and whole and isinstance(whole[-1], ToolMessage):
            whole.append(ended_early("", new_message_id(), aborted=True))
        whole.append(message)  # type: ignore[arg-type]
        if isinstance(message, AIMessage):
            whole.extend(_results_of(message, results))
    return whole


def _results_of(message: AIMessage, results: dict[str, ToolMessage]) -> list[ToolMessage]:
    answered = []
    for call in message.tool_calls:
        call_id = call["id"] or ""
        known = results.pop(call_id) if call_id in results else interrupted_result(call_id, call["name"])
        answered.append(known)
    return answered


def interrupted_result(call_id: str, tool_name: str, *, begun: bool = True) -> ToolMessage:
    """Give the result of a call that never came to its end; when nobody knows, it has begun."""
    text = to_text(failure(tool_name, INTERRUPTED if begun else NEVER_BEGUN, interrupted=True))
    return stamp(
        ToolMessage(text, tool_call_id=call_id, name=tool_name, id=new_message_id(), status="error"), aborted=True
    )


def as_sent(messages: Sequence[AnyMessage]) -> list[AnyMessage]:
    """Give the copy that is sent: valid, and with words where an answer was empty."""
    sent: list[AnyMessage] = []
    for message in repaired(messages):
        if isinstance(message, AIMessage) and not message.tool_calls and not message.text.strip():
            reason = notes_of(message).get("error")
            words = f"(This answer failed: {reason})" if reason else NO_ANSWER
            sent.append(AIMessage(words, id=message.id))
        else:
            sent.append(message)
    return sent
