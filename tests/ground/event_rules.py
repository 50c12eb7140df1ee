"""The rules of the event stream (docs/developer/http-api.md, events), checked on the events of whole turns."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from tests.ground.sse import Event

#: Every kind with the fields that it must have besides `type` and `session_id`, and no others.
FIELDS: dict[str, dict[str, type]] = {
    "content": {"content": str, "message_id": str},
    "tool_call": {"tool_call": dict, "message_id": str},
    "tool_start": {"tool_call_id": str, "tool_name": str},
    "tool_end": {"tool_call_id": str, "tool_name": str, "tool_output": str},
    "heartbeat": {},
    "error": {"error": str},
    "abort": {},
    "done": {"usage": dict, "title": str},
}
USAGE = {
    "input_tokens": int,
    "output_tokens": int,
    "total_tokens": int,
    "estimated": bool,
    "context_tokens": int,
    "context_limit": int,
}
LONGEST_ERROR = 300
#: The web UI replaces texts that hold these by canned ones.
CANNED = ("AuthenticationError", "PermissionDenied", "ConnectionError", "TimeoutError", "ValidationError")


def check_event_order(
    events: Iterable[Event], *, earlier: Iterable[Event] = (), broken_arguments: bool = False
) -> None:
    """Check the events of one turn, from first to last, against every rule.

    `earlier` are the events of earlier turns of the session: its ids may not come again. `broken_arguments` is for
    answers whose arguments were cut off or unreadable: what stands for them at the end need not continue them.
    Raises AssertionError that lists everything wrong.
    """
    events = list(events)
    checked = [event for event in events if event.get("type") != "heartbeat"]
    found = [f"event {i}: {wrong}" for i, event in enumerate(events) for wrong in _check_fields(event)]
    if not found:  # the rules below need well-formed events
        found = [
            *_check_session(events),
            *_check_end(checked),
            *_check_messages(checked),
            *_check_calls(checked, broken_arguments),
            *_check_first_starts(checked),
            *_check_new_ids(checked, earlier),
        ]
    assert not found, "\n".join(["the event stream breaks its rules:", *found, "events:", *map(str, events)])


def _check_fields(event: Event) -> list[str]:
    kind = event.get("type")
    if kind not in FIELDS:
        return [f"unknown type {kind!r}"]
    expected = {"type": str, "session_id": str, **FIELDS[kind]}
    found = _check_object(event, expected, kind)
    if found:
        return found
    if not event["session_id"]:
        found.append("session_id is empty")
    if kind == "content" and not event["content"]:
        found.append("content is empty")
    for name in ("message_id", "tool_call_id", "tool_name"):
        if name in event and not event[name]:
            found.append(f"{name} is empty")
    if kind == "tool_call":
        found += _check_tool_call(event["tool_call"])
    elif kind == "tool_end":
        found += check_tool_response(event["tool_output"])
    elif kind == "error":
        found += check_error_text(event["error"])
    elif kind == "done":
        found += _check_usage(event["usage"])
    return found


def _check_object(value: Mapping[str, Any], expected: Mapping[str, type], name: str) -> list[str]:
    found = [f"{name} lacks {field}" for field in expected.keys() - value.keys()]
    found += [f"{name} has {field}, which nobody knows" for field in value.keys() - expected.keys()]
    for field, kind in expected.items():
        if field in value and (not isinstance(value[field], kind) or (kind is int and isinstance(value[field], bool))):
            found.append(f"{field} of {name} is {value[field]!r}, not {kind.__name__}")
    return found


def _check_tool_call(call: Mapping[str, Any]) -> list[str]:
    found = _check_object(call, {"id": str, "type": str, "function": dict}, "tool_call")
    if found:
        return found
    function = dict(call["function"])
    complete = function.pop("complete", False)
    found = _check_object(function, {"name": str, "arguments": str}, "function")
    if found:
        return found
    if call["type"] != "function":
        found.append(f"the type of a tool call is {call['type']!r}")
    if not isinstance(complete, bool):
        found.append(f"complete is {complete!r}")
    found += [f"{name} of a tool call is empty" for name in ("name", "arguments") if not function[name]]
    if not call["id"]:
        found.append("the id of a tool call is empty")
    return found


def _check_usage(usage: Mapping[str, Any]) -> list[str]:
    found = _check_object(usage, USAGE, "usage")
    if not found and usage["input_tokens"] + usage["output_tokens"] != usage["total_tokens"]:
        found.append(f"the tokens do not add up: {usage}")
    return found


def check_error_text(text: str) -> list[str]:
    """Say what is wrong with a text that is shown to people as an error."""
    found = []
    if not text.strip():
        found.append("the error text is empty")
    if len(text) > LONGEST_ERROR:
        found.append(f"the error text is {len(text)} characters long")
    if "{" in text or "}" in text:
        found.append(f"the error text has braces: {text!r}")
    if "\n" in text or "Traceback" in text:
        found.append(f"the error text is not one sentence: {text!r}")
    found += [f"the error text has {name}, which the web UI replaces: {text!r}" for name in CANNED if name in text]
    return found


def check_tool_response(output: str) -> list[str]:
    """Say what is wrong with the JSON text of a tool response, version 1.0."""
    try:
        response = json.loads(output)
    except ValueError:
        return [f"the tool output is not JSON: {output[:200]!r}"]
    if not isinstance(response, dict):
        return [f"the tool output is not an object: {output[:200]!r}"]
    error = {"error": str} if "error" in response else {}
    expected = {
        "success": bool,
        "total": int,
        "successful": int,
        "failed": int,
        "data": list,
        "metadata": dict,
        **error,
    }
    found = _check_object(response, expected, "tool response")
    if found:
        return found
    items = response["data"]
    found += [f"item {i}: {wrong}" for i, item in enumerate(items) for wrong in _check_item(item)]
    if found:
        return found
    succeeded = sum(item["status"] == "success" for item in items)
    counts = (response["total"], response["successful"], response["failed"])
    if counts != (len(items), succeeded, len(items) - succeeded):
        found.append(f"totals {counts} do not fit {len(items)} items, of which {succeeded} succeeded")
    if response["success"] != (response["failed"] == 0 and "error" not in response):
        found.append(
            f"success is {response['success']} with {response['failed']} failed, error {response.get('error')!r}"
        )
    metadata = response["metadata"]
    if metadata.get("version") != "v1.0" or not isinstance(metadata.get("tool_name"), str):
        found.append(f"metadata is {metadata}")
    if not isinstance(metadata.get("execution_time"), int | float):
        found.append(f"execution_time is {metadata.get('execution_time')!r}")
    return found


def _check_item(item: Any) -> list[str]:
    if not isinstance(item, dict):
        return [f"{item!r} is not an object"]
    found = [f"{name} is {item.get(name)!r}" for name in ("id", "name") if not isinstance(item.get(name), str)]
    if item.get("status") == "success":
        if not isinstance(item.get("result"), str) or "error" in item:
            found.append(f"success without a text result, or with an error: {item}")
    elif item.get("status") == "failed":
        if not isinstance(item.get("error"), str) or not item["error"]:
            found.append(f"failed without an error: {item}")
    else:
        found.append(f"status is {item.get('status')!r}")
    return found


def _check_session(events: Iterable[Event]) -> list[str]:
    sessions = {event["session_id"] for event in events}
    return [] if len(sessions) == 1 else [f"the events are of the sessions {sorted(sessions)}"]


def _check_end(events: list[Event]) -> list[str]:
    kinds = [event["type"] for event in events]
    found = []
    if not kinds or kinds[-1] not in ("done", "error"):
        found.append(f"the last event is {kinds[-1:]}, not done or error")
    if sum(kind in ("done", "error") for kind in kinds) > 1:
        found.append("there is more than one done or error")
    if "abort" in kinds and kinds[-2:] != ["abort", "done"]:
        found.append(f"abort is not followed by done alone: {kinds[-3:]}")
    return found


def _check_messages(events: list[Event]) -> list[str]:
    """A message id stands for one message of the model: once another event kind or id came between, it is over."""
    found = []
    over: set[str] = set()
    present: str | None = None
    for event in events:
        new = event.get("message_id")
        if new != present and present is not None:
            over.add(present)
        if new is not None and new in over:
            found.append(f"message_id {new} comes again after its message was over")
        present = new
    return found


def _check_calls(events: list[Event], broken_arguments: bool) -> list[str]:
    found: list[str] = []
    progress: dict[str, list[str]] = {}  # id -> what has happened to the call, in order
    names: dict[str, str] = {}
    arguments: dict[str, str] = {}
    for event in events:
        if event["type"] == "tool_call":
            call_id, function = event["tool_call"]["id"], event["tool_call"]["function"]
            steps = progress.setdefault(call_id, [])
            if steps and steps[-1] != "tool_call":
                found.append(f"{call_id}: tool_call after {steps[-1]}")
            if names.setdefault(call_id, function["name"]) != function["name"]:
                found.append(f"{call_id}: its name changes from {names[call_id]} to {function['name']}")
            found += _check_arguments(call_id, arguments.get(call_id, ""), function, broken_arguments)
            arguments[call_id] = function["arguments"]
            steps.append("complete" if function.get("complete") else "tool_call")
        elif event["type"] in ("tool_start", "tool_end"):
            call_id = event["tool_call_id"]
            steps = progress.setdefault(call_id, [])
            before = {"tool_start": "complete", "tool_end": "tool_start"}[event["type"]]
            if steps[-1:] != [before]:
                found.append(f"{call_id}: {event['type']} after {steps[-1:]}, not after {before}")
            if names.get(call_id) != event["tool_name"]:
                found.append(f"{call_id}: {event['type']} names {event['tool_name']}, not {names.get(call_id)}")
            steps.append(event["type"])
    if [event["type"] for event in events if event["type"] in ("abort", "error")] == []:
        found += [f"{call_id} ends with {steps[-1]}" for call_id, steps in progress.items() if steps[-1] != "tool_end"]
    return found


def _check_arguments(call_id: str, before: str, function: Mapping[str, Any], broken: bool) -> list[str]:
    now = function["arguments"]
    found = []
    if not now.startswith(before) and before != "{}" and not (broken and function.get("complete")):
        found.append(f"{call_id}: arguments {now!r} do not continue {before!r}")
    if function.get("complete"):
        try:
            json.loads(now)
        except ValueError:
            found.append(f"{call_id}: its last arguments are not JSON: {now!r}")
    return found


def _check_first_starts(events: list[Event]) -> list[str]:
    """The first call of a message starts right after the message's last tool_call: the web UI shows the chip then."""
    found = []
    first_calls: dict[str, str] = {}
    last_position: dict[str, int] = {}
    for position, event in enumerate(events):
        if event["type"] == "tool_call":
            first_calls.setdefault(event["message_id"], event["tool_call"]["id"])
            last_position[event["message_id"]] = position
    started = {event["tool_call_id"] for event in events if event["type"] == "tool_start"}
    for message_id, call_id in first_calls.items():
        following = events[last_position[message_id] + 1 :][:1]
        is_start = [(e["type"], e.get("tool_call_id")) for e in following] == [("tool_start", call_id)]
        if call_id in started and not is_start:
            found.append(f"the tool calls of message {message_id} are followed by {following}, not by its first start")
    return found


def _check_new_ids(events: list[Event], earlier: Iterable[Event]) -> list[str]:
    old = ids_of(earlier)
    return [f"{used} was used in an earlier turn" for used in sorted(ids_of(events) & old)]


def ids_of(events: Iterable[Event]) -> set[str]:
    """Give the message ids and tool call ids in events."""
    ids = set()
    for event in events:
        ids |= {event[name] for name in ("message_id", "tool_call_id") if name in event}
        if "tool_call" in event:
            ids.add(event["tool_call"]["id"])
    return ids
