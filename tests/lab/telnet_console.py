"""Serve a command line program on a telnet port with the telnet server class of gns3-server itself.

    telnet_console.py [--host 127.0.0.1] [--port 0] [--namespaces-of PID] -- vtysh

A GNS3 cloud node's remote console can point at it and then behaves as the console of any GNS3 node: one long-lived
program shared by all clients, and a client that comes back meets the session where it was left. The program is started
again when it ends. Prints "ready PORT"; SIGTERM ends it.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import fcntl
import os
import pty
import signal
import struct
import sys
import termios

from gns3server.utils.asyncio.telnet_server import AsyncioTelnetServer

ROWS, COLUMNS = 50, 200
RESTART_SECONDS = 0.5
ENVIRONMENT = {
    "HOME": "/root",
    "PATH": "/usr/sbin:/usr/bin:/sbin:/bin:/usr/lib/frr",
    "TERM": "vt100",
    "VTYSH_PAGER": "cat",
}


class Program:
    """The program behind the console, on a pseudo terminal; reads and writes as the telnet server class wants it."""

    def __init__(self, command: list[str]) -> None:
        self._command = command
        self._output: asyncio.Queue[bytes] = asyncio.Queue()
        self._start()

    def _start(self) -> None:
        self._pid, self._fd = pty.fork()
        if self._pid == 0:
            try:
                os.execvpe(self._command[0], self._command, {**os.environ, **ENVIRONMENT})
            finally:
                os._exit(127)
        fcntl.ioctl(self._fd, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        os.set_blocking(self._fd, False)
        asyncio.get_running_loop().add_reader(self._fd, self._on_output)

    def _on_output(self) -> None:
        try:
            data = os.read(self._fd, 4096)
        except OSError:  # the terminal of a program that has ended
            data = b""
        if data:
            self._output.put_nowait(data)
            return
        loop = asyncio.get_running_loop()
        loop.remove_reader(self._fd)
        os.close(self._fd)
        os.waitpid(self._pid, 0)
        loop.call_later(RESTART_SECONDS, self._start)

    async def read(self, _: int) -> bytes:
        """Wait for output."""
        return await self._output.get()

    def at_eof(self) -> bool:
        """Never: the program is started again."""
        return False

    def write(self, data: bytes) -> None:
        """Type; however a client sends Enter, a terminal wants CR."""
        with contextlib.suppress(OSError):
            os.write(self._fd, bytes(data).replace(b"\r\n", b"\r").replace(b"\r\x00", b"\r"))

    async def drain(self) -> None:
        """Nothing is buffered here."""

    def hang_up(self) -> None:
        """End the program."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGHUP)


async def serve(command: list[str], host: str, port: int) -> None:
    """Serve the program until SIGTERM."""
    program = Program(command)
    console = AsyncioTelnetServer(reader=program, writer=program, binary=True, echo=True)
    server = await asyncio.start_server(console.run, host, port)
    print("ready", server.sockets[0].getsockname()[1], flush=True)
    stopped = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopped.set)
    await stopped.wait()
    server.close()
    program.hang_up()


def main() -> None:
    """Read the command line and serve."""
    parser = argparse.ArgumentParser(description="Serve a command line program on a telnet port.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--namespaces-of", type=int, metavar="PID", help="run the program in this process's namespaces")
    parser.add_argument("command", nargs="+")
    arguments = parser.parse_args()
    enter: list[str] = []
    if arguments.namespaces_of:
        enter = ["nsenter", "-t", str(arguments.namespaces_of), "-m", "-u", "-n", "-p"]
    asyncio.run(serve([*enter, *arguments.command], arguments.host, arguments.port))


if __name__ == "__main__":
    sys.exit(main())
