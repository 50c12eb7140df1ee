"""How a turn that was stopped, or failed, lets go of what its tools were doing."""

from __future__ import annotations

import asyncio
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage

from gns3server_copilot.agent.messages import ANNOUNCED, ended_early, new_message_id, stamp
from gns3server_copilot.agent.repair import interrupted_result
from gns3server_copilot.agent.turn import Turn
from gns3server_copilot.errors import CopilotError
from gns3server_copilot.gns3.changes import Outcome

#: How long the end of a turn waits for changes that have begun, in seconds: an abort shall take effect within one.
CHANGES_SECONDS = 0.5


async def let_go(turn: Turn) -> None:
    """Put away what the tools keep open, learn what came of the changes that had begun, and end every call."""
    running = dict(turn.running_tools)
    closing = asyncio.create_task(turn.scope.close())
    found = await asyncio.gather(*(begun.outcomes(CHANGES_SECONDS) for begun in running.values()))
    _end_calls(turn, dict(zip(running, found, strict=True)))
    await closing


def _end_calls(turn: Turn, outcomes: dict[str, list[Outcome]]) -> None:
    """Give every call of the last answer that has no result one that says so, and tell the readers of those begun."""
    ended = {message.tool_call_id for message in turn.produced if isinstance(message, ToolMessage)}
    asked = next((message for message in reversed(turn.produced) if isinstance(message, AIMessage)), None)
    for call in asked.tool_calls if asked else []:
        call_id, name = call["id"] or "", call["name"]
        if call_id in ended:
            continue
        begun = call_id in outcomes
        result = interrupted_result(call_id, name, begun=begun, outcomes=outcomes.get(call_id, ()))
        turn.produced.append(result)
        if begun:
            turn.emit("tool_end", tool_call_id=call_id, tool_name=name, tool_output=result.content)


def early_end(turn: Turn, messages: list[AnyMessage], failure: CopilotError | None) -> list[AnyMessage]:
    """Give the messages with what had come of the last answer, and with a note of why it is no whole one."""
    notes: dict[str, Any] = {"error": failure.message} if failure else {"aborted": True}
    last = messages[-1]
    if turn.draft is not None:
        if turn.draft.announced_calls:
            notes[ANNOUNCED] = sorted(turn.draft.announced_calls)
        return [*messages, ended_early(turn.draft.text, turn.draft.message_id, **notes)]
    if isinstance(last, HumanMessage | ToolMessage):
        return [*messages, ended_early("", new_message_id(), **notes)]
    if failure:  # the answer is whole, and what it should have done has failed
        return [*messages[:-1], stamp(last.model_copy(), **notes)]
    return messages
