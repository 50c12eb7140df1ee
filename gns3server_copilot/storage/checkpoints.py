"""LangGraph's checkpoints in the project's chat database."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Collection, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import ChannelVersions, Checkpoint, CheckpointMetadata, CheckpointTuple
from langgraph.checkpoint.sqlite import SqliteSaver

from gns3server_copilot.storage.connection import SharedConnection
from gns3server_copilot.storage.contents import check_checkpoint, check_write
from gns3server_copilot.storage.kept import KeptCheckpoints
from gns3server_copilot.storage.serializer import CheckpointSerializer

#: A checkpoint of more bytes than this is read in a thread: that takes longer than the event loop may be held.
READ_IN_THREAD = 32 * 1024

Stored = tuple[str, bytes]


class ProjectSaver(SqliteSaver):
    """LangGraph's SQLite saver in the thread of a shared connection, which loads messages and plain values only.

    Raises StorageError where the database cannot be used, and for a checkpoint that holds anything else. Not to be
    used with LangGraph's delta channels: they live in rows that pruning removes.
    """

    def __init__(self, shared: SharedConnection) -> None:
        super().__init__(shared.connection, serde=_AsStored())
        self._shared = shared
        self._serializer = CheckpointSerializer()
        self._kept = KeptCheckpoints()

    def with_allowlist(self, extra_allowlist: Collection[tuple[str, ...]]) -> ProjectSaver:
        """Give this saver: nothing widens what it loads, LANGGRAPH_STRICT_MSGPACK in the environment included."""
        return self

    @contextmanager
    def cursor(self, transaction: bool = True) -> Iterator[sqlite3.Cursor]:
        """Give a cursor to the base class, which would commit also what has failed half-way: here the thread's work
        is the transaction."""
        with closing(self.conn.cursor()) as cursor:
            yield cursor

    async def asetup(self) -> None:
        """Make LangGraph's tables if need be."""
        await self._shared.read(lambda _: self.setup())

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Give the checkpoint that `config` names, or its thread's newest."""
        found = await self._shared.read(lambda _: self.get_tuple(config))
        return None if found is None else await self._loaded(found)

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """Give checkpoints, the newest first."""
        found = await self._shared.read(lambda _: [*self.list(config, filter=filter, before=before, limit=limit)])
        for one in found:
            yield await self._loaded(one)

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Store a checkpoint.

        That of a turn's input is left out: it holds the conversation before the question, which is there already, and
        the one with the question follows before anything else happens.
        """
        if metadata.get("source") == "input":
            return {"configurable": {**_place(config)["configurable"], "checkpoint_id": checkpoint["id"]}}
        stored = self._serializer.dumps_typed(checkpoint)
        packed = _packed(checkpoint, stored)
        placed = await self._shared.write(lambda _: self.put(_place(config), packed, metadata, new_versions))
        self._kept.keep(config["configurable"]["thread_id"], checkpoint, len(stored[1]))
        return placed

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Store what one step has written so far."""
        packed = [(channel, self._serializer.dumps_typed(value)) for channel, value in writes]
        await self._shared.write(lambda _: self.put_writes(config, packed, task_id, task_path))

    async def adelete_thread(self, thread_id: str) -> None:
        """Remove a thread's checkpoints and writes."""
        self.forget(thread_id)
        await self._shared.write(lambda _: self.delete_thread(thread_id))

    def forget(self, thread_id: str) -> None:
        """Keep nothing of the thread in memory."""
        self._kept.forget(thread_id)

    async def _loaded(self, found: CheckpointTuple) -> CheckpointTuple:
        """Give what the base class has found, with the stored forms in it read and judged."""
        place = found.config["configurable"]
        thread_id, checkpoint_id = place["thread_id"], place["checkpoint_id"]
        checkpoint = self._kept.get(thread_id, checkpoint_id)
        if checkpoint is None:
            checkpoint = await self._read(thread_id, found.checkpoint)
        writes = [
            (task_id, channel, self._serializer.loads_typed(value))
            for task_id, channel, value in found.pending_writes or ()
        ]
        for _, channel, value in writes:
            check_write(channel, value)
        return found._replace(checkpoint=checkpoint, pending_writes=writes)

    async def _read(self, thread_id: str, stored: Any) -> Checkpoint:
        read = self._serializer.loads_typed
        size = len(stored[1])
        checkpoint: Any = await asyncio.to_thread(read, stored) if size > READ_IN_THREAD else read(stored)
        check_checkpoint(checkpoint)
        self._kept.keep(thread_id, checkpoint, size)
        loaded: Checkpoint = checkpoint
        return loaded


class _AsStored:
    """What the base class is given for a serializer: it then reads and writes rows without looking into them."""

    def dumps_typed(self, obj: Any) -> Stored:
        stored: Stored = obj.stored if isinstance(obj, _Packed) else obj
        return stored

    def loads_typed(self, data: Stored) -> Stored:
        return data


class _Packed(dict[str, Any]):
    """A checkpoint of which the base class sees the id alone."""

    stored: Stored


def _packed(checkpoint: Checkpoint, stored: Stored) -> Any:
    packed = _Packed(id=checkpoint["id"])
    packed.stored = stored
    return packed


def _place(config: RunnableConfig) -> RunnableConfig:
    # the base class copies the rest of the run's configuration into the file, whatever a caller has put there
    configurable = config["configurable"]
    names = ("thread_id", "checkpoint_ns", "checkpoint_id")
    return {"configurable": {name: configurable[name] for name in names if name in configurable}}
