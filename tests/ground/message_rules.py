"""What the strictest provider demands of a message list, in the shape of OpenAI's chat completions.

Every list that the scripted model server receives goes through `check_messages`. The rules: it starts with one system
message and then a user's; each assistant message with tool calls is followed at once by exactly one result for every
call and by nothing else; no result without its call; no assistant message that says and asks nothing; no user message
straight after a tool result; tool names of 1 to 64 letters, digits, `_` and `-`; arguments that are the text of a JSON
object; ids that are never used twice; nothing empty that providers refuse; the last word is not the assistant's.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

TOOL_NAME = re.compile(r"^[a-zA-Z0-9_-]{1,64}$")
ROLES = ("system", "user", "assistant", "tool")

Message = dict[str, Any]


def check_messages(messages: Any) -> list[str]:
    """Say, one sentence each, what is wrong with a message list; empty when nothing is."""
    if not isinstance(messages, list) or not all(isinstance(message, dict) for message in messages):
        return ["messages is not a list of objects"]
    return [
        *_check_beginning_and_end(messages),
        *(f"message {i}: {wrong}" for i, message in enumerate(messages) for wrong in _check_message(message)),
        *_check_pairing(messages),
        *_check_ids(messages),
    ]


def _check_beginning_and_end(messages: Sequence[Message]) -> list[str]:
    found = []
    roles = [message.get("role") for message in messages]
    if roles[:2] != ["system", "user"]:
        found.append(f"the list starts with {roles[:2]}, not with system and user")
    if roles.count("system") > 1:
        found.append("there is more than one system message")
    if roles and roles[-1] not in ("user", "tool"):
        found.append(f"the last message is {roles[-1]}'s")
    return found


def _check_message(message: Message) -> list[str]:
    role = message.get("role")
    if role not in ROLES:
        return [f"unknown role {role!r}"]
    text = _text(message.get("content"))
    calls = message.get("tool_calls")
    if text is None:
        return [f"content of {role} is {message.get('content')!r}, neither text nor parts of text"]
    found = []
    if role != "assistant" and not text.strip():
        found.append(f"{role} message without text")
    if role == "assistant":
        if not text.strip() and not calls:
            found.append("assistant message with neither text nor tool calls")
        if calls is not None:
            found += _check_calls(calls)
    elif calls is not None:
        found.append(f"{role} message with tool calls")
    if role == "tool" and not (isinstance(message.get("tool_call_id"), str) and message["tool_call_id"]):
        found.append("tool result without tool_call_id")
    return found


def _text(content: Any) -> str | None:
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list) and all(isinstance(p, dict) and isinstance(p.get("text"), str) for p in content):
        return "".join(part["text"] for part in content)
    return None


def _check_calls(calls: Any) -> list[str]:
    if not isinstance(calls, list) or not calls:
        return ["tool_calls is not a list with something in it"]
    return [wrong for call in calls for wrong in _check_call(call)]


def _check_call(call: Any) -> list[str]:
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(function, dict):
        return [f"{call!r} is not a tool call"]
    found = []
    if call.get("type") != "function":
        found.append(f"tool call of type {call.get('type')!r}")
    if not (isinstance(call.get("id"), str) and call["id"]):
        found.append("tool call without id")
    name = function.get("name")
    if not (isinstance(name, str) and TOOL_NAME.match(name)):
        found.append(f"tool name {name!r} is not 1 to 64 letters, digits, _ and -")
    if not _is_object_text(function.get("arguments")):
        found.append(f"arguments of {name} are not the text of a JSON object: {function.get('arguments')!r}")
    return found


def _is_object_text(arguments: Any) -> bool:
    if not isinstance(arguments, str):
        return False
    try:
        return isinstance(json.loads(arguments, parse_constant=_refuse_constant), dict)
    except ValueError:
        return False


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _check_pairing(messages: Sequence[Message]) -> list[str]:
    found = []
    expected: set[str] = set()  # calls of the last assistant message that still lack their result
    previous = None
    for i, message in enumerate(messages):
        role = message.get("role")
        if role == "tool":
            call_id = message.get("tool_call_id")
            if call_id in expected:
                expected.remove(call_id)
            else:
                found.append(f"message {i}: result of {call_id!r}, which the assistant message before does not ask for")
        else:
            if expected:
                found.append(f"message {i}: {role} comes before the results of {sorted(expected)}")
            if role == "user" and previous == "tool":
                found.append(f"message {i}: user straight after a tool result")
            expected = set(call_ids(message))
        previous = role
    if expected:
        found.append(f"the list ends without the results of {sorted(expected)}")
    return found


def _check_ids(messages: Sequence[Message]) -> list[str]:
    ids = [call_id for message in messages for call_id in call_ids(message)]
    return [
        f"tool call id {call_id!r} is used {ids.count(call_id)} times"
        for call_id in sorted(set(ids))
        if ids.count(call_id) > 1
    ]


def call_ids(message: Message) -> list[str]:
    """Give the ids of a message's tool calls."""
    calls = message.get("tool_calls")
    if not isinstance(calls, list):
        return []
    return [call["id"] for call in calls if isinstance(call, dict) and isinstance(call.get("id"), str)]
