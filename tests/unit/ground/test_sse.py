"""The event reader, which is as strict as the web UI, and the rules of an event stream."""

from __future__ import annotations

import copy
import json
from typing import Any

import httpx
import pytest

from tests.ground.event_rules import check_error_text, check_event_order, check_tool_response, ids_of
from tests.ground.sse import (
    Event,
    EventParser,
    EventStream,
    StreamError,
    check_headers,
    kinds_of,
    text_of,
    tool_outputs,
)


def parse(data: bytes, size: int = 1_000) -> list[Event]:
    parser = EventParser()
    events = [event for at in range(0, len(data), size) for event in parser.feed(data[at : at + size])]
    parser.end()
    return events


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_events_are_read_however_the_bytes_are_cut(size: int) -> None:
    data = 'data: {"type": "content", "content": "Grüße 🖧"}\n\n: ping\n\ndata: {"type": "done"}\n\n'.encode()
    assert [event["type"] for event in parse(data, size)] == ["content", "done"]
    assert parse(data, size)[0]["content"] == "Grüße 🖧"


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (b'data:{"type": "done"}\n\n', "one space"),
        (b'data:  {"type": "done"}\n\n', "one space"),
        (b'event: done\ndata: {"type": "done"}\n\n', "one space"),
        (b'data: {"type": "done"}\r\n\r\n', "carriage return|one space"),
        (b'data: {"type": "done"}', "throws away"),
        (b'data: {"type":\ndata: "done"}\n\n', "not JSON"),
        (b"data: [DONE]\n\n", "not JSON"),
        (b'data: {"type": "content", "x": NaN}\n\n', "not JSON"),
        (b'data: {"kind": "done"}\n\n', "with a type"),
        (b'data: ["done"]\n\n', "with a type"),
        (b'data: {"type": "\xff"}\n\n', "not UTF-8"),
        ("data: ü".encode()[:-1], "inside a character"),
    ],
)
def test_what_the_web_ui_would_lose_is_an_error(data: bytes, complaint: str) -> None:
    with pytest.raises(StreamError, match=complaint):
        parse(data)


GOOD_HEADERS = {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache, no-transform",
    "x-accel-buffering": "no",
}


@pytest.mark.parametrize("name", GOOD_HEADERS)
def test_headers_that_let_a_proxy_hold_events_back_are_an_error(name: str) -> None:
    check_headers(httpx.Headers(GOOD_HEADERS))
    with pytest.raises(StreamError):
        check_headers(httpx.Headers({**GOOD_HEADERS, name: "text/plain"}))


async def test_a_stream_is_read_event_by_event() -> None:
    data = b'data: {"type": "heartbeat"}\n\ndata: {"type": "content"}\n\ndata: {"type": "done"}\n\n'
    stream = EventStream(httpx.Response(200, content=data))
    assert (await stream.next())["type"] == "content"
    assert (await stream.next("done", "error"))["type"] == "done"
    assert kinds_of(await stream.rest()) == ["heartbeat", "content", "done"]
    with pytest.raises(StreamError, match="ended without tool_end"):
        await stream.next("tool_end")


# --- the rules of a turn ---------------------------------------------------------------------------------------------

SESSION = "5f0c3a52-2f4b-4f3e-9a51-3c9f7f7f7f7f"


def event(kind: str, **fields: Any) -> Event:
    return {"type": kind, "session_id": SESSION, **fields}


def response(**changes: Any) -> str:
    items = [{"id": "1", "name": "R1", "status": "success", "result": "fine"}]
    metadata = {"tool_name": "look", "version": "v1.0", "execution_time": 0.1}
    whole = {"success": True, "total": 1, "successful": 1, "failed": 0, "data": items, "metadata": metadata}
    return json.dumps({**whole, **changes})


def content(text: str, message: str = "m1") -> Event:
    return event("content", content=text, message_id=message)


def asked(call: str, arguments: str, complete: bool | None = None, name: str = "look", message: str = "m1") -> Event:
    function: dict[str, Any] = {"name": name, "arguments": arguments}
    if complete is not None:
        function["complete"] = complete
    return event("tool_call", tool_call={"id": call, "type": "function", "function": function}, message_id=message)


def started(call: str, name: str = "look") -> Event:
    return event("tool_start", tool_call_id=call, tool_name=name)


def ended(call: str, name: str = "look", output: str | None = None) -> Event:
    return event("tool_end", tool_call_id=call, tool_name=name, tool_output=response() if output is None else output)


def done(**usage: Any) -> Event:
    figures = {"input_tokens": 3, "output_tokens": 2, "total_tokens": 5, "estimated": False}
    figures |= {"context_tokens": 5, "context_limit": 128_000, **usage}
    return event("done", usage=figures, title="A title")


HEARTBEAT = event("heartbeat")
TURN = [
    content("I "),
    content("look."),
    asked("c1", "{}"),
    asked("c1", '{"at": '),
    HEARTBEAT,
    asked("c2", '{"at": "R2"}'),
    asked("c1", '{"at": "R1"}', True),
    asked("c2", '{"at": "R2"}', True),
    started("c1"),
    started("c2"),
    HEARTBEAT,
    ended("c2"),
    ended("c1"),
    content("Fine.", "m2"),
    done(),
]


@pytest.mark.parametrize(
    "events",
    [
        TURN,
        [content("Hello"), done()],
        [done()],
        [content("Hel"), event("error", error="The model did not answer.")],
        [content("Hel"), event("abort"), done()],
        [*TURN[:10], event("abort"), done()],
        [*TURN[:4], event("error", error="The model broke off.")],
        [asked("c1", "{}", True), started("c1"), ended("c1"), asked("c2", "{}", True, message="m2"), started("c2"),
         ended("c2"), done()],
    ],
)  # fmt: skip
def test_turns_that_keep_the_rules_pass(events: list[Event]) -> None:
    check_event_order(events)


def without(position: int) -> list[Event]:
    return TURN[:position] + TURN[position + 1 :]


def swapped(first: int, second: int) -> list[Event]:
    events = list(TURN)
    events[first], events[second] = events[second], events[first]
    return events


def changed(position: int, **fields: Any) -> list[Event]:
    events = copy.deepcopy(TURN)
    events[position] |= fields
    return events


@pytest.mark.parametrize(
    ("events", "complaint"),
    [
        ([], "the events are of"),
        (TURN[:-1], "the last event is"),
        ([*TURN, done()], "more than one done"),
        ([*TURN[:-1], event("error", error="Sorry."), done()], "more than one done"),
        ([*TURN, content("late", "m3")], "the last event is"),
        ([event("abort"), content("late"), done()], "abort is not followed"),
        ([event("abort"), event("error", error="x")], "abort is not followed"),
        (without(6), "tool_start after ['tool_call']"),
        (without(8), "tool_end after ['complete']"),
        (without(11), "c2 ends with tool_start"),
        ([*TURN[:12], ended("c2"), *TURN[12:]], "tool_end after ['tool_end']"),
        ([*TURN[:9], asked("c1", '{"at": "R1"}', True), *TURN[9:]], "tool_call after tool_start"),
        (swapped(8, 9), "not by its first start"),
        ([*TURN[:8], content("hm"), *TURN[8:]], "not by its first start"),
        (changed(13, message_id="m1"), "message_id m1 comes again"),
        (changed(1, message_id="m0"), "message_id m1 comes again"),
        (changed(0, content=""), "content is empty"),
        (changed(0, content=[{"text": "x"}]), "not str"),
        (changed(0, message_id=""), "message_id is empty"),
        (changed(0, session_id="other"), "are of the sessions"),
        (changed(0, type="thinking"), "unknown type"),
        (changed(0, extra=1), "extra, which nobody knows"),
        (changed(8, tool_name="other"), "names other, not look"),
        (changed(8, tool_call_id="c9"), "tool_start after []"),
        (changed(11, tool_output=""), "not JSON"),
        (changed(11, tool_output="{}"), "lacks"),
        ([asked("c1", ""), *TURN[3:]], "arguments of a tool call is empty"),
        ([asked("c1", '{"a'), asked("c1", '{"b": 1}', True), started("c1"), ended("c1"), done()], "do not continue"),
        ([asked("c1", '{"a', True), started("c1"), ended("c1"), done()], "last arguments are not JSON"),
        (
            [asked("c1", "{}"), asked("c1", "{}", True, name="b"), started("c1"), ended("c1"), done()],
            "its name changes",
        ),
        ([content("x"), done(total_tokens=9)], "do not add up"),
        ([content("x"), done(estimated=1)], "not bool"),
        ([content("x"), done(input_tokens=True)], "not int"),
        ([content("x"), event("error", error="It's {'code': 400}")], "braces"),
        ([content("x"), event("error", error="TimeoutError: late")], "web UI replaces"),
    ],
)
def test_every_broken_rule_is_named(events: list[Event], complaint: str) -> None:
    with pytest.raises(AssertionError) as caught:
        check_event_order(events)
    assert complaint in str(caught.value)


def test_ids_of_earlier_turns_may_not_come_again() -> None:
    with pytest.raises(AssertionError, match="c1 was used in an earlier turn"):
        check_event_order(TURN, earlier=TURN)
    assert ids_of(TURN) == {"m1", "m2", "c1", "c2"}


def test_cut_off_arguments_may_be_replaced_where_the_test_says_so() -> None:
    events = [asked("c1", '{"at": "R'), asked("c1", "{}", True), started("c1"), ended("c1"), done()]
    check_event_order(events, broken_arguments=True)
    with pytest.raises(AssertionError, match="do not continue"):
        check_event_order(events)


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"success": False}, "success is False"),
        ({"error": "It failed."}, "success is True"),
        ({"total": 2}, "totals"),
        ({"failed": 1, "success": False}, "totals"),
        ({"data": [{"id": "1", "name": "R1", "status": "ok", "result": "x"}]}, "status is 'ok'"),
        ({"data": [{"id": 1, "name": "R1", "status": "success", "result": "x"}]}, "id is 1"),
        ({"data": [{"id": "1", "name": "R1", "status": "success", "result": {}}]}, "without a text result"),
        ({"data": [{"id": "1", "name": "R1", "status": "failed", "result": "x"}]}, "without an error"),
        ({"metadata": {"tool_name": "look", "version": "1", "execution_time": 0}}, "metadata is"),
    ],
)
def test_a_tool_response_that_is_not_version_1_is_named(changes: dict[str, Any], complaint: str) -> None:
    assert check_tool_response(response()) == []
    assert any(complaint in wrong for wrong in check_tool_response(response(**changes)))


def test_a_wholly_failed_tool_response_passes() -> None:
    output = response(success=False, total=0, successful=0, data=[], error="No such node.")
    assert check_tool_response(output) == []


@pytest.mark.parametrize("text", ["", "x" * 301, "a {b}", "Traceback (most recent call last)", "ValidationError here"])
def test_error_texts_that_people_cannot_read_are_named(text: str) -> None:
    assert check_error_text(text)
    assert not check_error_text("The model's key was refused; enter it again.")


def test_events_can_be_summed_up() -> None:
    assert text_of(TURN) == "I look.Fine."
    assert [output["success"] for output in tool_outputs(TURN)] == [True, True]
    assert kinds_of(TURN)[:3] == ["content", "tool_call", "heartbeat"]
