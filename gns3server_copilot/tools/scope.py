"""What a turn's tools keep open from one call to the next, and put away when the turn ends."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Hashable
from typing import Any

from gns3server_copilot.utils.uncancelled import begin

log = logging.getLogger(__name__)

#: How long the end of a turn waits for what is put away, in seconds. What takes longer goes on by itself.
CLOSING_SECONDS = 0.4


class TurnScope:
    """Console sessions, captures and the like of one turn, by key."""

    def __init__(self) -> None:
        self._kept: dict[Hashable, tuple[Any, Callable[[], Awaitable[None]]]] = {}

    def keep(self, key: Hashable, value: Any, close: Callable[[], Awaitable[None]]) -> None:
        """Keep `value` for the rest of the turn; `close` puts it away and has to bound its own time.

        What was kept under this key before is forgotten without being closed.
        """
        self._kept[key] = (value, close)

    def kept(self, key: Hashable) -> Any | None:
        """Give what is kept under this key."""
        value, _ = self._kept.get(key, (None, None))
        return value

    def forget(self, key: Hashable) -> None:
        """Keep it no longer: whoever calls this has closed it, or it is of no use any more."""
        self._kept.pop(key, None)

    async def close(self) -> None:
        """Put everything away, side by side. What fails or hangs is logged and keeps nothing else from being closed."""
        kept, self._kept = self._kept, {}
        closing = {begin(_put_away(key, close), f"put away {key}"): key for key, (_, close) in kept.items()}
        if not closing:
            return
        _, late = await asyncio.wait(closing, timeout=CLOSING_SECONDS)
        for task in late:
            log.warning("%s is still being put away after its turn has ended", closing[task])


async def _put_away(key: Hashable, close: Callable[[], Awaitable[None]]) -> None:
    try:
        await close()
    except Exception:
        log.exception("%s could not be put away at the end of a turn", key)
