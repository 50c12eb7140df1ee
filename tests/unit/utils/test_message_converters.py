from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)

from gns3server_copilot.utils.message_converters import content_text, from_openai, history_to_openai, to_openai
from tests.unit.utils.strange_values import STRANGE_VALUES, is_strict_json, scalars, values

CREATED = "2026-01-02T03:04:05+00:00"
ROLES = ("user", "assistant", "system", "tool")


def assert_is_history_message(message: Any) -> None:
    """The rules of a history message, and what the GNS3 web UI needs of it."""
    assert is_strict_json(message)
    assert isinstance(message["id"], str)
    assert message["id"]
    assert message["role"] in ROLES
    assert isinstance(message["content"], str)
    assert message["created_at"] is None or isinstance(message["created_at"], str)
    assert isinstance(message.get("name", ""), str)
    assert isinstance(message["metadata"], dict)
    if message["role"] == "tool":
        assert isinstance(message["tool_call_id"], str)
        assert message["content"]
    for call in message.get("tool_calls", []):
        assert set(call) == {"id", "type", "function"}
        assert isinstance(call["id"], str)
        assert call["id"]
        assert call["type"] == "function"
        assert isinstance(call["function"]["name"], str)
        assert json.loads(call["function"]["arguments"]) not in (None, "")


def test_user_message() -> None:
    message = HumanMessage("hello", id="m1", response_metadata={"copilot": {"created_at": CREATED}})
    assert to_openai(message) == {
        "id": "m1",
        "role": "user",
        "content": "hello",
        "created_at": CREATED,
        "metadata": {},
    }


def test_assistant_message_with_calls() -> None:
    message = AIMessage(
        "I look.",
        id="m2",
        tool_calls=[{"name": "gns3_topology_reader", "args": {"nodes": ["Zürich"]}, "id": "c1"}],
        response_metadata={"model_name": "x", "copilot": {"created_at": CREATED, "aborted": True, "error": "stopped"}},
    )
    assert to_openai(message) == {
        "id": "m2",
        "role": "assistant",
        "content": "I look.",
        "created_at": CREATED,
        "tool_calls": [
            {
                "id": "c1",
                "type": "function",
                "function": {"name": "gns3_topology_reader", "arguments": '{"nodes": ["Zürich"]}'},
            }
        ],
        "metadata": {"aborted": True, "error": "stopped"},
    }


def test_tool_message() -> None:
    message = ToolMessage('{"success": true}', id="m3", name="a_tool", tool_call_id="c1", status="error")
    assert to_openai(message) == {
        "id": "m3",
        "role": "tool",
        "content": '{"success": true}',
        "created_at": None,
        "name": "a_tool",
        "tool_call_id": "c1",
        "metadata": {"status": "error"},
    }


@pytest.mark.parametrize("content", ["", " ", "null", []])
def test_a_tool_message_is_never_empty(content: Any) -> None:
    assert to_openai(ToolMessage(content, tool_call_id="c1"))["content"] == "{}"


@pytest.mark.parametrize(
    ("message", "role"),
    [
        (SystemMessage("x"), "system"),
        (AIMessageChunk(content="x"), "assistant"),
        (FunctionMessage(content="x", name="f"), "tool"),
        (ChatMessage(content="x", role="assistant"), "assistant"),
        (ChatMessage(content="x", role="developer"), "system"),
        (ChatMessage(content="x", role="critic"), "user"),
        (RemoveMessage(id="m1"), "user"),
    ],
)
def test_roles(message: BaseMessage, role: str) -> None:
    converted = to_openai(message)
    assert_is_history_message(converted)
    assert converted["role"] == role


def test_an_unknown_role_is_named_in_the_metadata() -> None:
    converted = to_openai(ChatMessage(content="x", role="critic"))
    assert converted["metadata"] == {"original_role": "critic"}
    again = from_openai({**converted, "role": "critic", "metadata": {}})
    assert isinstance(again, HumanMessage)
    assert to_openai(again)["metadata"] == {"original_role": "critic"}


IMAGE = "data:image/png;base64,AAAABBBB"


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (None, ""),
        ("as it is\n", "as it is\n"),
        ([], ""),
        (["a", "b"], "ab"),
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "ab"),
        ([{"type": "thinking", "thinking": "hm", "signature": "s"}, {"type": "text", "text": "a"}], "a"),
        ([{"type": "reasoning", "reasoning": "hm", "summary": [{"text": "hm"}]}, "a"], "a"),
        ([{"type": "redacted_thinking", "data": "hm"}, {"type": "reasoning_content", "reasoning_content": "hm"}], ""),
        ([{"type": "tool_use", "id": "c1", "name": "t", "input": {"a": 1}}, "a"], "a"),
        ([{"type": "input_json_delta", "partial_json": "{"}], ""),
        ([{"type": "refusal", "refusal": "no"}], "no"),
        ([{"type": "tool_result", "content": [{"type": "text", "text": "a"}]}], "a"),
        (["see", {"type": "image_url", "image_url": {"url": IMAGE}}, "there"], "see\n[image: image/png]\nthere"),
        ([{"type": "image_url", "image_url": IMAGE}], "[image: image/png]"),
        (
            [{"type": "image_url", "image_url": {"url": "https://example.org/lab.png"}}],
            "[image: https://example.org/lab.png]",
        ),
        ([{"type": "image", "base64": "AAAA", "mime_type": "image/jpeg"}], "[image: image/jpeg]"),
        (
            [{"type": "image", "source": {"type": "base64", "media_type": "image/gif", "data": "AA"}}],
            "[image: image/gif]",
        ),
        ([{"type": "file", "file": {"filename": "lab.pdf", "file_data": "AA"}}], "[file: lab.pdf]"),
        ([{"type": "input_audio", "input_audio": {"data": "AA", "format": "wav"}}], "[audio: wav]"),
        ([{"type": "image", "data": "AA"}], "[image]"),
        ([{"type": "new_kind", "detail": 1}], '{"type": "new_kind", "detail": 1}'),
        ([{"type": ["unhashable"], "text": "a"}], "a"),
        ({"type": "text", "text": "a"}, "a"),
        (5, "5"),
        ([None, 5], "5"),
    ],
)
def test_any_kind_of_content_is_text(content: Any, text: str) -> None:
    assert content_text(content) == text


@pytest.mark.parametrize(("content", "text"), [(None, ""), ({"text": "a"}, "a"), (5, "5")])
def test_content_that_langchain_would_refuse_is_read_too(content: Any, text: str) -> None:
    assert to_openai(AIMessage.model_construct(content=content))["content"] == text


def broken_call(arguments: str | None) -> AIMessage:
    call = {"name": "a_tool", "args": arguments, "id": "c2", "error": "not JSON", "type": "invalid_tool_call"}
    return AIMessage("", id="m1", tool_calls=[{"name": "a", "args": {}, "id": "c1"}], invalid_tool_calls=[call])


@pytest.mark.parametrize("arguments", ['{"a": ', "plain", '"text"', '{"a": 1}', "[1]", "null", None])
def test_broken_calls_are_kept_and_come_back(arguments: str | None) -> None:
    message = broken_call(arguments)
    converted = to_openai(message)
    assert_is_history_message(converted)
    assert [call["id"] for call in converted["tool_calls"]] == ["c1", "c2"]
    assert converted["tool_calls"][0]["function"]["arguments"] == "{}"
    assert converted["metadata"] == {"invalid_tool_calls": [{"id": "c2", "error": "not JSON"}]}
    again = from_openai(converted)
    assert isinstance(again, AIMessage)
    assert again.tool_calls == message.tool_calls
    assert again.invalid_tool_calls == message.invalid_tool_calls
    assert again.response_metadata == {}


def test_metadata_of_the_same_name_is_kept_beside() -> None:
    message = broken_call("{")
    message.response_metadata = {"copilot": {"invalid_tool_calls": "kept"}}
    assert "kept" in to_openai(message)["metadata"].values()


def test_a_call_with_the_id_of_a_broken_one_stays_valid() -> None:
    good = {"name": "a", "args": {"b": 1}, "id": "c1", "type": "tool_call"}
    broken = {"name": "a", "args": "{", "id": "c1", "error": "not JSON", "type": "invalid_tool_call"}
    again = from_openai(to_openai(AIMessage("", tool_calls=[good], invalid_tool_calls=[broken])))
    assert isinstance(again, AIMessage)
    assert (again.tool_calls, again.invalid_tool_calls) == ([good], [broken])


@pytest.mark.parametrize(
    ("call", "arguments"),
    [
        ({"id": "c1", "function": {"name": "t", "arguments": '{"a": 1}'}}, {"a": 1}),
        ({"id": "c1", "function": {"name": "t", "arguments": {"a": 1}}}, {"a": 1}),
        ({"id": "c1", "function": {"name": "t", "arguments": ""}}, {}),
        ({"id": "c1", "function": {"name": "t"}}, {}),
        ({"id": "c1", "name": "t", "args": {"a": 1}}, {"a": 1}),
    ],
)
def test_calls_of_every_shape_are_read(call: dict[str, Any], arguments: dict[str, Any]) -> None:
    message = from_openai({"role": "assistant", "content": None, "tool_calls": [call]})
    assert isinstance(message, AIMessage)
    assert message.tool_calls == [{"name": "t", "args": arguments, "id": "c1", "type": "tool_call"}]
    assert message.invalid_tool_calls == []


@pytest.mark.parametrize("arguments", ["{", "[1]", "5", [1]])
def test_a_call_without_an_object_of_arguments_is_invalid(arguments: Any) -> None:
    call = {"id": "c1", "function": {"name": "t", "arguments": arguments}}
    message = from_openai({"role": "assistant", "tool_calls": [call]})
    assert isinstance(message, AIMessage)
    assert message.tool_calls == []
    assert [(bad["id"], bad["args"]) for bad in message.invalid_tool_calls] == [
        ("c1", arguments if isinstance(arguments, str) else json.dumps(arguments))
    ]


def test_ids_that_are_missing_depend_on_what_is_said_alone() -> None:
    def message(text: str, name: str = "a_tool") -> AIMessage:
        return AIMessage(
            text, tool_calls=[{"name": name, "args": {}, "id": None}, {"name": name, "args": {}, "id": None}]
        )

    first, second = to_openai(message("a")), to_openai(message("a"))
    assert_is_history_message(first)
    assert first == second
    both = [*first["tool_calls"], *to_openai(message("b"))["tool_calls"]]
    assert len({call["id"] for call in both}) == 4
    assert len({to_openai(other)["id"] for other in (message("a"), message("b"), message("a", "other"))}) == 3
    at = {"copilot": {"created_at": CREATED}}
    assert to_openai(HumanMessage("a"))["id"] != to_openai(HumanMessage("a", response_metadata=at))["id"]
    assert to_openai(HumanMessage("a"))["id"] != to_openai(SystemMessage("a"))["id"]


def test_ids_that_are_missing_are_given_in_both_directions_alike() -> None:
    message = HumanMessage("a")
    assert from_openai({"role": "user", "content": "a"}).id == to_openai(message)["id"]


def test_a_history_has_no_id_twice() -> None:
    messages = [HumanMessage("a"), HumanMessage("a"), HumanMessage("b", id="x"), HumanMessage("c", id="x")]
    messages += [HumanMessage("d", id="x-2"), HumanMessage("e", id="x")]
    ids = [message["id"] for message in history_to_openai(messages)]
    assert len(set(ids)) == len(messages)
    assert ids[1] == f"{ids[0]}-2"
    assert ids[2:4] == ["x", "x-2"]
    assert ids == [message["id"] for message in history_to_openai(messages)]


# Round trips -------------------------------------------------------------------------------------------------------

names = st.text(min_size=1, max_size=8)
objects = st.dictionaries(st.text(max_size=5), st.none() | st.integers(-9, 9) | st.text(max_size=5), max_size=3)
copilot_metadata = objects.filter(lambda data: not {"created_at", "status", "invalid_tool_calls"} & set(data))
calls = st.builds(
    lambda id, name, args: {
        "id": id,
        "type": "function",
        "function": {"name": name, "arguments": json.dumps(args, ensure_ascii=False)},
    },
    names,
    names,
    objects,
)


@st.composite
def history_messages(draw: st.DrawFn) -> dict[str, Any]:
    role = draw(st.sampled_from(ROLES))
    message: dict[str, Any] = {
        "id": draw(names),
        "role": role,
        "content": draw(st.text()),
        "created_at": draw(st.none() | st.just(CREATED)),
        "metadata": draw(copilot_metadata),
    }
    if draw(st.booleans()):
        message["name"] = draw(names)
    if role == "tool":
        message["content"] = json.dumps(draw(objects))
        message["tool_call_id"] = draw(names)
        if draw(st.booleans()):
            message["metadata"]["status"] = "error"
    if role == "assistant" and draw(st.booleans()):
        message["tool_calls"] = draw(st.lists(calls, min_size=1, max_size=3))
    return message


@given(history_messages())
def test_a_history_message_comes_back_from_langchain(message: dict[str, Any]) -> None:
    assert to_openai(from_openai(message)) == message


@given(history_messages())
def test_a_langchain_message_comes_back_from_a_history(message: dict[str, Any]) -> None:
    converted = from_openai(message)
    again = from_openai(json.loads(json.dumps(to_openai(converted))))
    assert type(again) is type(converted)
    assert again == converted


# Whatever comes ----------------------------------------------------------------------------------------------------

FIELDS = ("id", "content", "name", "role", "type", "tool_calls", "invalid_tool_calls", "tool_call_id")
INNER_KEYS = ("function", "args", "arguments", "error", "text", "copilot", "status", "image_url", "source", "url")
strange = values(
    st.sampled_from([*FIELDS, *INNER_KEYS, "created_at", "metadata"]),
    scalars | st.sampled_from([*ROLES, "text", "image", "thinking", '{"a": 1}', "error"]),
)
classes = st.sampled_from(
    [HumanMessage, AIMessage, SystemMessage, ToolMessage, ChatMessage, AIMessageChunk, BaseMessage]
)


spoiled = st.builds(
    lambda message, key, value: {**message, key: value}, history_messages(), st.sampled_from(FIELDS), strange
)


@given(strange | spoiled)
def test_any_history_message_is_read(message: Any) -> None:
    converted = from_openai(message)
    assert isinstance(converted, BaseMessage)
    assert converted.id
    assert_is_history_message(to_openai(converted))


@given(
    classes,
    st.fixed_dictionaries(
        {},
        optional=dict.fromkeys(FIELDS, strange)
        | {"response_metadata": strange | strange.map(lambda data: {"copilot": data})},
    ),
)
def test_any_langchain_message_is_written(kind: type[BaseMessage], fields: dict[str, Any]) -> None:
    message = kind.model_construct(**fields)
    converted = to_openai(message)
    assert_is_history_message(converted)
    assert converted == to_openai(message)


@pytest.mark.parametrize("name", STRANGE_VALUES)
def test_strange_values(name: str) -> None:
    value = STRANGE_VALUES[name]
    assert_is_history_message(to_openai(value))
    assert_is_history_message(to_openai(from_openai(value)))
    assert_is_history_message(
        to_openai(HumanMessage.model_construct(content=value, response_metadata={"copilot": value}))
    )
    assert isinstance(content_text([value]), str)
