"""What is kept in memory of the checkpoints: a turn reads its conversation several times and writes it at every step.

It rests on two rules. A checkpoint never changes, so its id is enough to know it again. A message of a conversation is
never changed either, only replaced by another object, so what it was packed to holds for as long as it lives.
"""

from __future__ import annotations

import weakref
from collections import OrderedDict
from typing import NamedTuple

from langchain_core.messages import BaseMessage
from langgraph.checkpoint.base import Checkpoint

#: Bytes of packed checkpoints of one project; in memory they take three to four times as much.
KEPT_BYTES = 8 * 1024 * 1024


class PackedMessages:
    """The stored form of every message that is alive and has been read or written."""

    def __init__(self) -> None:
        self._packed: dict[int, tuple[weakref.ref[BaseMessage], bytes]] = {}

    def get(self, message: BaseMessage) -> bytes | None:
        """Give the stored form of a message; None for one that was neither read nor written yet."""
        known = self._packed.get(id(message))
        return known[1] if known is not None and known[0]() is message else None

    def keep(self, message: BaseMessage, packed: bytes) -> None:
        """Keep the stored form of a message for as long as the message lives."""
        if message.id is None:  # LangGraph gives it one later
            return
        key = id(message)
        self._packed[key] = (weakref.ref(message, lambda _: self._packed.pop(key, None)), packed)

    def __len__(self) -> int:
        return len(self._packed)


class _Kept(NamedTuple):
    checkpoint: Checkpoint
    size: int


class KeptCheckpoints:
    """The checkpoint last read or written of the threads last used, up to `KEPT_BYTES`."""

    def __init__(self) -> None:
        self._threads: OrderedDict[str, _Kept] = OrderedDict()
        self._size = 0

    def get(self, thread_id: str, checkpoint_id: str) -> Checkpoint | None:
        """Give a checkpoint to work with, if it is the one that is kept of this thread."""
        kept = self._threads.get(thread_id)
        if kept is None or kept.checkpoint["id"] != checkpoint_id:
            return None
        self._threads.move_to_end(thread_id)
        return _copy(kept.checkpoint)

    def keep(self, thread_id: str, checkpoint: Checkpoint, size: int) -> None:
        """Keep a checkpoint of the thread, whose stored form has so many bytes, instead of the one before."""
        self.forget(thread_id)
        self._threads[thread_id] = _Kept(_copy(checkpoint), size)
        self._size += size
        while self._size > KEPT_BYTES:
            self.forget(next(iter(self._threads)))

    def forget(self, thread_id: str) -> None:
        """Keep nothing of this thread any more."""
        kept = self._threads.pop(thread_id, None)
        if kept is not None:
            self._size -= kept.size


def _copy(checkpoint: Checkpoint) -> Checkpoint:
    # LangGraph writes into these
    copied = checkpoint.copy()
    copied["channel_values"] = {
        name: list(value) if isinstance(value, list) else value for name, value in checkpoint["channel_values"].items()
    }
    copied["channel_versions"] = checkpoint["channel_versions"].copy()
    copied["versions_seen"] = {name: dict(seen) for name, seen in checkpoint["versions_seen"].items()}
    return copied
