"""Waiting for what another process does and tells nobody of: a file that grows, a protocol that converges."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")


async def until(look: Callable[[], Awaitable[T]], seconds: float = 10.0, every: float = 0.05) -> T:
    """Look again and again until there is something true to give. Raises TimeoutError that shows the last look.

    Only for what cannot be awaited: inside our own processes there is always an event to wait for.
    """
    seen: T | None = None
    try:
        async with asyncio.timeout(seconds):
            while not (seen := await look()):  # noqa: ASYNC110 -- polling is what this is for
                await asyncio.sleep(every)
    except TimeoutError:
        raise TimeoutError(f"still {seen!r} after {seconds} s") from None
    return seen
