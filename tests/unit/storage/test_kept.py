"""What is kept of checkpoints in memory: it saves work and changes nothing."""

from __future__ import annotations

import gc
import threading
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.base import Checkpoint, empty_checkpoint

from gns3server_copilot.schemas.identity import ProjectRef
from gns3server_copilot.storage import checkpoints, kept, serializer
from gns3server_copilot.storage.database import ProjectDatabase
from gns3server_copilot.storage.kept import KeptCheckpoints, PackedMessages
from gns3server_copilot.storage.serializer import CheckpointSerializer
from tests.unit.storage.conftest import ALICE, Ask, thread_config

METADATA: Any = {"source": "loop", "step": 0, "parents": {}}


def checkpoint(*texts: str) -> Checkpoint:
    messages = [HumanMessage(text, id=f"{number}-{text}") for number, text in enumerate(texts)]
    return {**empty_checkpoint(), "channel_values": {"messages": messages}}


async def test_a_message_is_packed_once_however_often_its_conversation_is_stored(
    project: ProjectRef, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    packed: list[str | None] = []
    pack = serializer._packed_message

    def counted(known: Any, message: Any) -> bytes:
        packed.append(message.id)
        return pack(known, message)

    monkeypatch.setattr(serializer, "_packed_message", counted)
    for _ in range(2):  # the second time they are read from the file, and not packed at all
        database = await ProjectDatabase.open(project)
        await database.sessions.create("t", ALICE)
        for _ in range(2):
            messages = await ask(database.saver, "t", "what is R1?")
        await database.close()
    assert len(messages) == 16
    assert len(packed) <= len(set(packed)) + 4  # a question has no id when it is first written
    database = await ProjectDatabase.open(project)
    found = await database.saver.aget_tuple(thread_config("t"))
    await database.close()
    assert found is not None
    assert found.checkpoint["channel_values"]["messages"] == messages


async def test_what_comes_from_memory_equals_what_is_in_the_file(project: ProjectRef, ask: Ask) -> None:
    database = await ProjectDatabase.open(project)
    await database.sessions.create("t", ALICE)
    await ask(database.saver, "t", "what is R1?")
    from_memory = await database.saver.aget_tuple(thread_config("t"))
    database.saver.forget("t")
    from_file = await database.saver.aget_tuple(thread_config("t"))
    await database.close()
    assert from_memory == from_file


async def test_whoever_changes_what_was_given_out_does_not_change_what_is_kept(database: ProjectDatabase) -> None:
    placed = await database.saver.aput(thread_config("t"), checkpoint("a"), METADATA, {})
    for _ in range(2):
        found = await database.saver.aget_tuple(placed)
        assert found is not None
        assert len(found.checkpoint["channel_values"]["messages"]) == 1
        found.checkpoint["channel_values"]["messages"].append(AIMessage("x", id="x"))
        found.checkpoint["channel_values"]["new"] = 1
        found.checkpoint["channel_versions"]["new"] = 1
        found.checkpoint["versions_seen"]["new"] = {"a": 1}


async def test_an_older_checkpoint_is_read_as_it_was(database: ProjectDatabase) -> None:
    first = await database.saver.aput(thread_config("t"), checkpoint("a"), METADATA, {})
    await database.saver.aput(thread_config("t"), checkpoint("a", "b"), METADATA, {})
    found = await database.saver.aget_tuple(first)
    assert found is not None
    assert [message.content for message in found.checkpoint["channel_values"]["messages"]] == ["a"]


async def test_the_input_s_checkpoint_is_not_stored(database: ProjectDatabase) -> None:
    await database.saver.aput(thread_config("t"), checkpoint("a"), METADATA, {})
    unstored = checkpoint("b")
    placed = await database.saver.aput(thread_config("t"), unstored, {**METADATA, "source": "input"}, {})
    assert placed["configurable"]["checkpoint_id"] == unstored["id"]
    found = await database.saver.aget_tuple(thread_config("t"))
    assert found is not None
    assert [message.content for message in found.checkpoint["channel_values"]["messages"]] == ["a"]


@pytest.mark.parametrize(("size", "in_loop"), [(10, True), (100_000, False)])
async def test_a_long_conversation_is_read_in_a_thread(
    database: ProjectDatabase, monkeypatch: pytest.MonkeyPatch, size: int, in_loop: bool
) -> None:
    placed = await database.saver.aput(thread_config("t"), checkpoint("x" * size), METADATA, {})
    database.saver.forget("t")
    readers: list[threading.Thread] = []
    read = CheckpointSerializer.loads_typed

    def watched(self: CheckpointSerializer, data: Any) -> Any:
        readers.append(threading.current_thread())
        return read(self, data)

    monkeypatch.setattr(CheckpointSerializer, "loads_typed", watched)
    assert await database.saver.aget_tuple(placed) is not None
    assert [reader is threading.current_thread() for reader in readers] == [in_loop]
    assert checkpoints.READ_IN_THREAD > 10


def test_the_threads_longest_unused_are_forgotten_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "KEPT_BYTES", 100)
    memory = KeptCheckpoints()
    one, two, three = checkpoint("1"), checkpoint("2"), checkpoint("3")
    memory.keep("one", one, 40)
    memory.keep("two", two, 40)
    memory.keep("two", two, 50)
    assert memory.get("one", one["id"]) == one
    memory.keep("three", three, 30)
    assert memory.get("two", two["id"]) is None
    assert memory.get("one", one["id"]) == one
    assert memory.get("three", three["id"]) == three
    memory.keep("one", one, 101)
    assert memory.get("one", one["id"]) is None


def test_the_packed_form_goes_with_its_message() -> None:
    packed = PackedMessages()
    message = HumanMessage("a", id="a")
    packed.keep(message, b"a")
    assert packed.get(message) == b"a"
    assert packed.get(HumanMessage("a", id="a")) is None
    del message
    gc.collect()
    assert len(packed) == 0


def test_a_message_that_has_no_id_yet_is_packed_again() -> None:
    packed = PackedMessages()
    message = HumanMessage("a")
    packed.keep(message, b"a")
    assert packed.get(message) is None
