from __future__ import annotations

import re
import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import ormsgpack
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
from langgraph.checkpoint.serde import jsonplus
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from gns3server_copilot.errors import StorageError
from gns3server_copilot.schemas.modes import Mode
from gns3server_copilot.storage.serializer import CheckpointSerializer
from tests.unit.storage.plants import PLANTS, shell_command

SERIALIZER = CheckpointSerializer()


def there_and_back(value: Any) -> Any:
    return SERIALIZER.loads_typed(SERIALIZER.dumps_typed(value))


MESSAGES = [
    HumanMessage("hello", id="1", name="someone"),
    SystemMessage("be kind"),
    AIMessage(
        [{"type": "text", "text": "hi"}],
        id="2",
        tool_calls=[{"name": "show", "args": {"node": "R1", "deep": [1, None, {"a": 1.5}]}, "id": "c1"}],
        invalid_tool_calls=[{"name": "x", "args": "{", "id": "c2", "error": "cut off"}],
        usage_metadata={"input_tokens": 1, "output_tokens": 2, "total_tokens": 3},
        additional_kwargs={"signature": b"\x00\xff", "reasoning_content": "…"},
        response_metadata={"copilot": {"created_at": "2026-01-01T00:00:00+00:00"}},
    ),
    AIMessageChunk("part", id="3"),
    ToolMessage("done", tool_call_id="c1", status="error", artifact={"rows": [1, 2]}),
    FunctionMessage("old", name="f"),
    ChatMessage("x", role="critic"),
    RemoveMessage(id="1"),
]


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: type(message).__name__)
def test_messages_come_back_as_they_were(message: BaseMessage) -> None:
    back = there_and_back({"messages": [message]})["messages"][0]
    assert type(back) is type(message)
    assert back == message


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: type(message).__name__)
def test_the_format_on_disk_is_langgraphs_own(message: BaseMessage) -> None:
    strict = JsonPlusSerializer(allowed_msgpack_modules=None)
    assert strict.loads_typed(SERIALIZER.dumps_typed([message, 1])) == [message, 1]
    assert SERIALIZER.loads_typed(strict.dumps_typed([message, 1])) == [message, 1]


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(PLAIN)
def test_plain_values_come_back_as_they_were(value: Any) -> None:
    assert there_and_back(value) == value


def test_a_messages_odd_fields_are_kept_as_text_and_never_stop_a_turn() -> None:
    deep: Any = "x"
    for _ in range(3000):
        deep = [deep]
    message = AIMessage(
        "lone \ud800 surrogate",
        tool_calls=[{"name": "t", "args": {"big": 2**70, "small": -(2**70), "deep": deep}, "id": "1"}],
        response_metadata={"when": datetime(2026, 1, 1, tzinfo=UTC), "mode": Mode.TEACHING, "odd": {1, 2}},
    )
    back = there_and_back(message)
    assert back.content == "lone ? surrogate"
    assert back.tool_calls[0]["args"]["big"] == str(2**70)
    assert back.response_metadata["mode"] == "teaching_assistant"
    assert back.response_metadata["when"].startswith("2026-01-01T00:00:00")


def test_a_provider_own_message_class_is_kept_as_the_known_class_it_extends() -> None:
    class ProviderMessage(AIMessage):
        pass

    back = there_and_back(ProviderMessage("hi", id="1"))
    assert type(back) is AIMessage
    assert back.content == "hi"


def test_of_an_exception_only_its_class_is_kept() -> None:
    stored = SERIALIZER.dumps_typed(RuntimeError("401 for key sk-secret"))
    assert SERIALIZER.loads_typed(stored) == "RuntimeError"


@dataclass
class Point:
    x: int


@pytest.mark.parametrize("value", [Point(1), {1}, uuid.uuid4(), Mode.TEACHING, datetime.now(UTC), re.compile("x")])
def test_state_that_would_not_come_back_is_refused_when_written(value: object) -> None:
    with pytest.raises(TypeError):
        SERIALIZER.dumps_typed({"channel": value})


@pytest.mark.parametrize("plant", PLANTS.values(), ids=PLANTS.keys())
def test_a_planted_object_is_refused_and_nothing_runs(plant: Callable[[Path], Any], tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    stored = ("msgpack", ormsgpack.packb({"messages": [plant(marker)]}))
    for load in (SERIALIZER.loads_typed, SERIALIZER.placeholder):
        with pytest.raises(StorageError, match="refused"):
            load(stored)
    assert not marker.exists()


def test_the_plant_is_a_real_one(tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    JsonPlusSerializer(allowed_msgpack_modules=True).loads_typed(("msgpack", ormsgpack.packb(shell_command(marker))))
    assert marker.exists()


def test_a_known_message_with_impossible_fields_is_refused() -> None:
    fields = {"content": 5, "tool_calls": "none"}
    stored = ormsgpack.Ext(
        jsonplus.EXT_PYDANTIC_V2, ormsgpack.packb(("langchain_core.messages.ai", "AIMessage", fields))
    )
    with pytest.raises(StorageError):
        SERIALIZER.loads_typed(("msgpack", ormsgpack.packb(stored)))


@pytest.mark.parametrize(
    "stored",
    [
        ("json", b'{"lc": 2, "type": "constructor", "id": ["os", "getcwd"]}'),
        ("json", b"{}"),
        ("pickle", b"\x80\x04K\x01."),
        ("bytes", b"x"),
        ("msgpack", b"\xc1"),
        ("msgpack", b""),
        ("msgpack", None),
        (None, b""),
        ("msgpack", b"\x91" * 5000),
    ],
)
def test_other_formats_and_broken_bytes_are_refused(stored: Any) -> None:
    with pytest.raises(StorageError):
        SERIALIZER.loads_typed(stored)


@given(st.binary())
def test_any_bytes_give_plain_values_or_are_refused(blob: bytes) -> None:
    with suppress(StorageError):
        SERIALIZER.loads_typed(("msgpack", blob))
