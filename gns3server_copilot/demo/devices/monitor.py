"""The QEMU monitor as gns3-server uses it: every line is echoed, then answered.

The server waits 3 s for the echo of each command and 10 s for the port to listen, so neither may be missing.
"""

from __future__ import annotations

import asyncio
import re
from typing import Protocol

_SET_LINK = re.compile(r"set_link gns3-(\d+) (on|off)")


class Machine(Protocol):
    """What the monitor can do with a device."""

    paused: bool

    def set_link(self, adapter: int, connected: bool) -> None: ...

    def reset(self) -> None: ...

    def power_off(self) -> None: ...


class Monitor:
    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._server: asyncio.Server | None = None

    async def listen(self, host: str, port: int) -> int:
        """Start listening; the port."""
        self._server = await asyncio.start_server(self._serve, host, port)
        return int(self._server.sockets[0].getsockname()[1])

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while line := await reader.readline():
                command = line.decode("ascii", "replace").strip()
                answer = self._answer(command)
                writer.write(f"{command}\r\n{answer}".encode())
                await writer.drain()
        except OSError:
            pass
        finally:
            writer.close()

    def _answer(self, command: str) -> str:
        if match := _SET_LINK.fullmatch(command):
            self._machine.set_link(int(match[1]), match[2] == "on")
        elif command == "info status":
            return f"VM status: {'paused' if self._machine.paused else 'running'}\r\n"
        elif command in ("stop", "cont"):
            self._machine.paused = command == "stop"
        elif command == "system_reset":
            self._machine.reset()
        elif command in ("system_powerdown", "quit"):
            self._machine.power_off()
        elif command:
            return f"unknown command: '{command}'\r\n"
        return ""
