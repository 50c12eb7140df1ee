"""LangGraph's checkpoints in the project's chat database."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Sequence
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import ChannelVersions, Checkpoint, CheckpointMetadata, CheckpointTuple
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from gns3server_copilot.storage.connection import SharedConnection
from gns3server_copilot.storage.contents import check_checkpoint, check_write
from gns3server_copilot.storage.serializer import CheckpointSerializer


class ProjectSaver(AsyncSqliteSaver):
    """LangGraph's SQLite saver on a shared connection, which loads messages and plain values only.

    Raises StorageError where the database cannot be used, and for a checkpoint that holds anything else. Its `lock`
    is the connection's. Not to be used with LangGraph's delta channels: they live in rows that pruning removes.
    """

    def __init__(self, shared: SharedConnection) -> None:
        super().__init__(shared.connection, serde=CheckpointSerializer())
        self.lock = shared.lock
        self._shared = shared

    def with_allowlist(self, extra_allowlist: Collection[tuple[str, ...]]) -> ProjectSaver:
        """Give this saver: nothing widens what it loads, LANGGRAPH_STRICT_MSGPACK in the environment included."""
        return self

    async def setup(self) -> None:
        """Make LangGraph's tables if need be."""
        if not self.is_setup:
            async with self._shared.guarded():
                await super().setup()

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Give the checkpoint that `config` names, or its thread's newest."""
        async with self._shared.guarded():
            found = await super().aget_tuple(config)
        if found is not None:
            _check(found)
        return found

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """Give checkpoints, the newest first."""
        # all at once: the base class holds the lock between two of them, so a caller that uses the saver or drops
        # the iterator half-way would stop everybody
        async with self._shared.guarded():
            found = [one async for one in super().alist(config, filter=filter, before=before, limit=limit)]
        for one in found:
            _check(one)
            yield one

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Store a checkpoint."""
        async with self._shared.guarded(writing=True):
            return await super().aput(_place(config), checkpoint, metadata, new_versions)

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Store what one step has written so far."""
        async with self._shared.guarded(writing=True):
            await super().aput_writes(config, writes, task_id, task_path)

    async def adelete_thread(self, thread_id: str) -> None:
        """Remove a thread's checkpoints and writes."""
        async with self._shared.guarded(writing=True):
            await super().adelete_thread(thread_id)


def _check(found: CheckpointTuple) -> None:
    check_checkpoint(found.checkpoint)
    for _, channel, value in found.pending_writes or ():
        check_write(channel, value)


def _place(config: RunnableConfig) -> RunnableConfig:
    # the base class copies the rest of the run's configuration into the file, whatever a caller has put there
    configurable = config["configurable"]
    names = ("thread_id", "checkpoint_ns", "checkpoint_id")
    return {"configurable": {name: configurable[name] for name in names if name in configurable}}
