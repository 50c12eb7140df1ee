"""Scripted routers for the console benchmark, all in one process of their own; prints their ports, ends with its input.

python -m benchmarks.console_farm COUNT
"""

from __future__ import annotations

import asyncio
import sys
from contextlib import AsyncExitStack

from tests.devices import play


async def farm(count: int) -> None:
    """Play so many routers until standard input ends."""
    async with AsyncExitStack() as stack:
        routers = [await stack.enter_async_context(play("cisco_ios", hostname=f"R{n}")) for n in range(1, count + 1)]
        print(*(router.port for router in routers), flush=True)
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(farm(int(sys.argv[1])))
