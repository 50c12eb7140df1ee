"""The console session of the PC."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any

from gns3server_copilot.demo.devices.console import INTERRUPT, Console, Interrupted, LineEditor, until_interrupted
from gns3server_copilot.demo.pc.commands import BANNER, execute
from gns3server_copilot.demo.pc.host import Host


class Session:
    """The Screen of `commands`."""

    def __init__(self, host: Host, console: Console) -> None:
        self.host = host
        self._console = console
        self._editor = LineEditor(console)

    async def run(self) -> None:
        self.write(f"{BANNER}\nPress '?' to get help.\n")
        await self._execute_startup_file()
        while True:
            try:
                line = await self._editor.read_line(f"\n\r{self.host.name}> ")
            except Interrupted:
                continue
            await execute(self, line)
            if line.strip():
                # VPCS forgets what was typed while a command ran: of lines pasted together only the first is executed.
                self._console.flush_keys()

    async def _execute_startup_file(self) -> None:
        try:
            lines = self.host.startup_file.read_text(encoding="utf-8").splitlines()
        except OSError:
            return
        self.write("\nExecuting the startup file\n\n")
        for line in lines:
            await execute(self, line)

    def write(self, text: str) -> None:
        self._console.write(text)

    async def interruptible(self, work: Coroutine[Any, Any, None]) -> None:
        if not await until_interrupted(self._console, INTERRUPT, work):
            self.write("\n")
