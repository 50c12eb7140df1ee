"""Makes a message list valid for the strictest provider, in the stored history and before every model call.

The rules: each tool call id has exactly one result, directly after its message; no result without its call; no empty
assistant message; user and assistant take turns, with tool results between an assistant's calls and its next words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from gns3server_copilot.agent.messages import ended_early, new_message_id, notes_of, stamp
from gns3server_copilot.gns3.changes import Outcome
from gns3server_copilot.tools.response import build, failed, failure, succeeded, to_text

INTERRUPTED = "Interrupted before a result came; it may have been partly carried out. Check before repeating it."
INTERRUPTED_CHANGES = (
    "Interrupted before its end. What had begun is listed with what came of it; read the state before repeating it."
)
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
        if isinstance(message, HumanMessage) and whole and isinstance(whole[-1], HumanMessage | ToolMessage):
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


def pending_results(messages: Sequence[AnyMessage]) -> list[ToolMessage]:
    """Give a result for each call of the last answer that has none, in the order of the calls."""
    for position in range(len(messages) - 1, -1, -1):
        asked = messages[position]
        if isinstance(asked, AIMessage):
            answered = {one.tool_call_id for one in messages[position + 1 :] if isinstance(one, ToolMessage)}
            pending = [call for call in asked.tool_calls if call["id"] not in answered]
            return [interrupted_result(call["id"] or "", call["name"]) for call in pending]
    return []


def interrupted_result(
    call_id: str, tool_name: str, *, begun: bool = True, outcomes: Sequence[Outcome] = ()
) -> ToolMessage:
    """Give the result of a call that never came to its end; when nobody knows, it has begun.

    `outcomes` is what came of the changes that it had begun.
    """
    response = failure(tool_name, INTERRUPTED if begun else NEVER_BEGUN, interrupted=True)
    if outcomes:
        items = [(succeeded if one.done else failed)("", one.what, one.said) for one in outcomes]
        response = build(tool_name, items, seconds=0.0, error=INTERRUPTED_CHANGES, interrupted=True)
    text = to_text(response)
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
            message = AIMessage(words, id=message.id)
        before = sent[-1] if sent else None
        if isinstance(message, AIMessage) and isinstance(before, AIMessage):
            words = f"{before.text}\n\n{message.text}"
            sent[-1] = AIMessage(words, tool_calls=message.tool_calls, id=message.id)
        else:
            sent.append(message)
    return sent
