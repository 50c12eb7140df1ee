"""Any command line program as a console, served by gns3-server's own telnet server class."""

from __future__ import annotations

import asyncio
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.ground.lab_tools import LAB_FOLDER


@asynccontextmanager
async def served(*command: str) -> AsyncIterator[int]:
    """Run the program, give the port of its console, end it with the block."""
    script = str(LAB_FOLDER / "telnet_console.py")
    # an activated virtual environment would put its name into the prompt
    environment = {name: value for name, value in os.environ.items() if name != "PS1"}
    process = await asyncio.create_subprocess_exec(
        sys.executable, script, "--", *command, stdin=DEVNULL, stdout=PIPE, stderr=DEVNULL, env=environment
    )
    try:
        assert process.stdout is not None
        yield int((await process.stdout.readline()).split()[1])
    finally:
        process.terminate()
        await process.wait()
