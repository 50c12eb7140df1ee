"""Carries out the model's tool calls and tells the readers, one call at a time or several side by side."""

from __future__ import annotations

import asyncio
from typing import Any

from langchain_core.messages import ToolMessage

from gns3server_copilot.agent.closing import HINT_AT, REPEATED, REPEATED_AT, REPEATED_HINT
from gns3server_copilot.agent.injection import has_applied
from gns3server_copilot.agent.messages import new_message_id, stamp
from gns3server_copilot.agent.turn import Turn
from gns3server_copilot.gns3.changes import BegunChanges, begun_changes
from gns3server_copilot.tools.base import ToolContext
from gns3server_copilot.tools.dispatch import execute, kept_result, refuse
from gns3server_copilot.tools.response import to_text


class CallRunner:
    """Runs the calls of one turn."""

    def __init__(self, turn: Turn, context: ToolContext) -> None:
        self._turn = turn
        self._context = context

    async def run(self, call: Any, refusal: str | None) -> ToolMessage:
        """Carry out a call and give its result; one that is refused, or has failed too often, is not carried out."""
        name, arguments = call["name"], call["args"]
        begun = self._start(call)
        if refusal is None and self._turn.failed_calls.of(name, arguments) >= REPEATED_AT:
            refusal = REPEATED.refusal
        if refusal is not None:
            response = refuse(name, refusal, self._context)
        else:
            with begun_changes(begun):
                response = await execute(name, arguments, self._context)
        if not response["success"] and self._turn.failed_calls.add(name, arguments) == HINT_AT:
            response["metadata"]["hint"] = REPEATED_HINT
        return await self._end(call, response)

    async def refuse(self, call: Any, reason: str) -> ToolMessage:
        """Give the result of a call that is not carried out, for a reason that is none of its own."""
        self._start(call)
        return await self._end(call, refuse(call["name"], reason, self._context))

    def _start(self, call: Any) -> BegunChanges:
        begun = self._turn.running_tools[call["id"]] = BegunChanges()
        self._turn.emit("tool_start", tool_call_id=call["id"], tool_name=call["name"])
        return begun

    async def _end(self, call: Any, response: dict[str, Any]) -> ToolMessage:
        self._turn.applied |= has_applied(response)
        text = await kept_result(to_text, response)  # half a second for an answer of several MB
        result = stamp(
            ToolMessage(
                text,
                tool_call_id=call["id"],
                name=call["name"],
                id=new_message_id(),
                status="success" if response["success"] else "error",
            ),
            redacted=self._context.redact,
        )
        self._turn.produced.append(result)
        self._turn.running_tools.pop(call["id"], None)
        self._turn.emit("tool_end", tool_call_id=call["id"], tool_name=call["name"], tool_output=text)
        if self._turn.abort_reason is not None:  # the tool took its cancellation for its own matter and came to an end
            raise asyncio.CancelledError
        return result
