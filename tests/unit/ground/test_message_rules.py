"""The rules for message lists and tool definitions: good ones pass, every kind of bad one is named."""

from __future__ import annotations

from typing import Any

import pytest

from tests.ground.message_rules import check_messages
from tests.ground.schema_rules import check_tools

SYSTEM = {"role": "system", "content": "You help."}
USER = {"role": "user", "content": "hi"}
SAID = {"role": "assistant", "content": "hello"}


def asked(*ids: str, name: str = "look", arguments: Any = "{}", content: str | None = None) -> dict[str, Any]:
    calls = [{"id": i, "type": "function", "function": {"name": name, "arguments": arguments}} for i in ids]
    return {"role": "assistant", "content": content, "tool_calls": calls}


def result(call_id: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": "seen"}


@pytest.mark.parametrize(
    "messages",
    [
        [SYSTEM, USER],
        [SYSTEM, USER, SAID, USER],
        [SYSTEM, USER, asked("a"), result("a")],
        [SYSTEM, USER, asked("a", "b", content="I look."), result("b"), result("a"), SAID, USER],
        [SYSTEM, USER, asked("a"), result("a"), asked("b"), result("b"), SAID, USER],
        [SYSTEM, {"role": "user", "content": [{"type": "text", "text": "hi"}]}],
    ],
)
def test_a_valid_list_passes(messages: list[dict[str, Any]]) -> None:
    assert check_messages(messages) == []


@pytest.mark.parametrize(
    ("messages", "complaint"),
    [
        ([], "starts with"),
        ("no list", "not a list"),
        ([USER], "starts with"),
        ([SYSTEM, SAID, USER], "starts with"),
        ([SYSTEM, USER, SAID, SYSTEM, USER], "more than one system"),
        ([SYSTEM, USER, SAID], "the last message is assistant's"),
        ([SYSTEM, {"role": "user", "content": "  \n"}], "user message without text"),
        ([SYSTEM, {"role": "user", "content": 7}], "neither text"),
        ([SYSTEM, {"role": "wizard", "content": "hi"}], "unknown role"),
        ([SYSTEM, USER, {"role": "assistant", "content": ""}, USER], "neither text nor tool calls"),
        ([SYSTEM, USER, {"role": "assistant", "content": None}, USER], "neither text nor tool calls"),
        ([SYSTEM, USER, {"role": "assistant", "content": "x", "tool_calls": []}, USER], "something in it"),
        ([SYSTEM, USER, asked("a"), USER], "comes before the results"),
        ([SYSTEM, USER, asked("a", "b"), result("a"), SAID, USER], "comes before the results of ['b']"),
        ([SYSTEM, USER, asked("a", "b"), result("a")], "ends without the results of ['b']"),
        ([SYSTEM, USER, asked("a"), result("a"), USER], "user straight after a tool result"),
        ([SYSTEM, USER, asked("a"), result("a"), result("a")], "does not ask for"),
        ([SYSTEM, USER, result("a")], "does not ask for"),
        ([SYSTEM, USER, asked("a"), result("a"), SAID, USER, asked("a"), result("a")], "is used 2 times"),
        ([SYSTEM, USER, asked(""), result("")], "without id"),
        ([SYSTEM, USER, asked("a", name="show me"), result("a")], "tool name 'show me'"),
        ([SYSTEM, USER, asked("a", name="x" * 65), result("a")], "is not 1 to 64"),
        ([SYSTEM, USER, asked("a", arguments={}), result("a")], "not the text of a JSON object"),
        ([SYSTEM, USER, asked("a", arguments=""), result("a")], "not the text of a JSON object"),
        ([SYSTEM, USER, asked("a", arguments="[1]"), result("a")], "not the text of a JSON object"),
        ([SYSTEM, USER, asked("a", arguments='{"x": NaN}'), result("a")], "not the text of a JSON object"),
        ([SYSTEM, USER, asked("a"), {"role": "tool", "tool_call_id": "a", "content": ""}], "tool message without text"),
    ],
)
def test_whatever_a_provider_would_refuse_is_named(messages: Any, complaint: str) -> None:
    assert any(complaint in wrong for wrong in check_messages(messages)), check_messages(messages)


def tool(**changes: Any) -> dict[str, Any]:
    properties = {
        "name": {"type": "string", "description": "Name, for example R1"},
        "modes": {"type": "array", "description": "Modes", "items": {"type": "string", "enum": ["a", "b"]}},
        "where": {
            "type": "object",
            "description": "Place",
            "properties": {"x": {"type": "number", "description": "Left to right"}},
        },
    }
    parameters = {"type": "object", "properties": properties, "required": ["name"], "additionalProperties": False}
    function = {"name": "look", "description": "Looks at a node.", "parameters": parameters, **changes}
    return {"type": "function", "function": function}


def parameters(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def test_a_plain_tool_passes() -> None:
    assert check_tools([tool()]) == []


@pytest.mark.parametrize(
    ("tools", "complaint"),
    [
        ([], "something in it"),
        ([tool(), tool()], "used twice"),
        ([{"name": "look"}], "not a function tool"),
        ([tool(name="look at")], "is not 1 to 64"),
        ([tool(description=" ")], "no description"),
        ([tool(description="x" * 1025)], "longer than 1024"),
        ([tool(parameters=None)], "not an object schema"),
        ([tool(parameters=parameters(a={"type": ["string", "null"], "description": "x"}))], "has the type"),
        (
            [tool(parameters=parameters(a={"anyOf": [{"type": "string"}, {"type": "null"}], "description": "x"}))],
            "anyOf",
        ),
        ([tool(parameters=parameters(a={"$ref": "#/$defs/A", "description": "x"}))], "$ref"),
        ([tool(parameters=parameters(a={"type": "array", "description": "x"}))], "without items"),
        ([tool(parameters=parameters(a={"type": "array", "items": {}, "description": "x"}))], "a[] has the type None"),
        ([tool(parameters=parameters(a={"type": "string"}))], "a has no description"),
        ([tool(parameters=parameters(a={"type": "string", "enum": [None], "description": "x"}))], "enum"),
        ([tool(parameters={**parameters(), "required": ["b"]})], "requires"),
    ],
)
def test_whatever_a_provider_would_refuse_in_a_tool_is_named(tools: Any, complaint: str) -> None:
    assert any(complaint in wrong for wrong in check_tools(tools)), check_tools(tools)
