"""One user of a console at a time, whichever chats and users they are: GNS3's consoles mix what two type."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from gns3server_copilot.errors import ConsoleError


class Lease:
    """The right to type at a node's console until it is given back."""

    def __init__(self, lock: _NodeLock) -> None:
        self._lock: _NodeLock | None = lock

    def release(self) -> None:
        """Give it back; a second time does nothing."""
        if self._lock is not None:
            self._lock.release()
            self._lock = None


class NodeLocks:
    """The locks of all nodes, by node id. Those who wait get their turn in the order in which they came."""

    def __init__(self) -> None:
        self._locks: dict[str, _NodeLock] = {}

    async def acquire(self, node_id: str, holder: str, seconds: float) -> Lease:
        """Wait at most so long for the console. Raises ConsoleError that says who is using it.

        `holder` is what others are told while they wait: whose chat it is.
        """
        lock = self._locks.setdefault(node_id, _NodeLock())
        lock.users += 1
        try:
            async with asyncio.timeout(seconds):
                await lock.lock.acquire()
        except TimeoutError:
            self._leave(node_id, lock)
            raise ConsoleError(
                f"The console is busy: {lock.holder} has been using it for {time.monotonic() - lock.since:.0f} s. "
                "Try again later."
            ) from None
        except BaseException:
            self._leave(node_id, lock)
            raise
        lock.holder, lock.since = holder, time.monotonic()
        lock.leave = lambda: self._leave(node_id, lock)
        return Lease(lock)

    def holder(self, node_id: str) -> str:
        """Give who uses the console now, "" when nobody of ours does."""
        lock = self._locks.get(node_id)
        return lock.holder if lock is not None and lock.lock.locked() else ""

    def __len__(self) -> int:
        """Count the nodes whose console is used or waited for."""
        return len(self._locks)

    def _leave(self, node_id: str, lock: _NodeLock) -> None:
        lock.users -= 1
        if not lock.users:
            del self._locks[node_id]


class _NodeLock:
    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.users = 0
        self.holder = ""
        self.since = 0.0
        self.leave: Callable[[], None] = lambda: None

    def release(self) -> None:
        self.lock.release()
        self.leave()
