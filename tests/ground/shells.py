"""Any command line program as a console, served by gns3-server's own telnet server class."""

from __future__ import annotations

import asyncio
import sys
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.ground.lab_tools import LAB_FOLDER


@asynccontextmanager
async def served(*command: str) -> AsyncIterator[int]:
    """Run the program, give the port of its console, end it with the block."""
    script = str(LAB_FOLDER / "telnet_console.py")
    process = await asyncio.create_subprocess_exec(
        sys.executable, script, "--", *command, stdin=DEVNULL, stdout=PIPE, stderr=DEVNULL
    )
    try:
        assert process.stdout is not None
        yield int((await process.stdout.readline()).split()[1])
    finally:
        process.terminate()
        await process.wait()
