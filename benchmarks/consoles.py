"""What the copilot adds to a device's own time: for a command, for a session, for forty devices; next to netmiko.

    python -m benchmarks.consoles [--rounds N] [--write]

Scripted routers (`benchmarks.console_farm`) answer in a process of their own. A raw socket says what they take by
themselves. netmiko is measured when it is installed. Exits with 1 when a limit is passed; figures of a machine that
does other things at the same time are worth little.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import importlib.util
import re
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence

from benchmarks import page
from benchmarks.page import spread
from gns3server_copilot.consoles.credentials import StoredCredentials
from gns3server_copilot.consoles.session import Session
from gns3server_copilot.knowledge.loader import packaged_knowledge
from gns3server_copilot.knowledge.schemas.family import Family

DEVICES = 40
FAST, SLOW = "show clock", "ping 10.0.0.2"
PROMPT = re.compile(rb"R\d+#$")

LIMIT_COMMAND_MS = 50.0
LIMIT_SESSION_MS = 300.0
LIMIT_MANY = 1.5
LIMIT_NETMIKO = 2.0


@contextlib.contextmanager
def farm(count: int) -> Iterator[list[int]]:
    """Give the ports of so many routers."""
    command = [sys.executable, "-m", "benchmarks.console_farm", str(count)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None and process.stdout is not None
        yield [int(port) for port in process.stdout.readline().split()]
        process.stdin.close()


async def always() -> None:
    """The permission of a superadmin."""


@contextlib.asynccontextmanager
async def session(port: int) -> AsyncIterator[Session]:
    """Give a session at a router's prompt."""
    made = Session(packaged_knowledge().of(Family)["cisco_ios"], StoredCredentials(), always)
    await made.attach("127.0.0.1", port)
    try:
        await made.ready()
        yield made
    finally:
        await made.close()


class RawConsole:
    """The least that a client can do: type, and read until the prompt stands at the end."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self.writer = writer

    async def run(self, line: str) -> None:
        """Type a line and wait for the prompt."""
        self.writer.write(line.encode() + b"\r")
        received = b""
        while not PROMPT.search(received) or line.encode() not in received:
            received += await self._reader.read(65536)


@contextlib.asynccontextmanager
async def raw_console(port: int) -> AsyncIterator[RawConsole]:
    """Connect without a word of telnet."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        yield RawConsole(reader, writer)
    finally:
        writer.close()


async def timed(work: Callable[[], Awaitable[object]]) -> float:
    """Give the milliseconds that it takes."""
    began = time.perf_counter()
    await work()
    return (time.perf_counter() - began) * 1000


async def commands(port: int, command: str, rounds: int) -> tuple[list[float], list[float]]:
    """Give the milliseconds of a command through the engine, and on a raw socket."""
    async with session(port) as engine:
        ours = [await timed(lambda: engine.run(command, 30)) for _ in range(rounds)]
    async with raw_console(port) as raw:
        await raw.run("")
        theirs = [await timed(lambda: raw.run(command)) for _ in range(rounds)]
    return ours, theirs


async def whole_session(port: int) -> None:
    """Attach, run both commands, close."""
    async with session(port) as engine:
        for command in (FAST, SLOW):
            output = await engine.run(command, 30)
            if output.error is not None:
                raise RuntimeError(output.error)


async def raw_session(port: int) -> None:
    """The same on a raw socket, what the engine does at the beginning of a session included."""
    async with raw_console(port) as raw:
        for line in ("", "terminal length 0", "terminal width 0", FAST, SLOW):
            await raw.run(line)


def netmiko_session(port: int) -> None:
    """The same through netmiko, with its own defaults."""
    from netmiko import ConnectHandler

    connection = ConnectHandler(device_type="cisco_ios_telnet", host="127.0.0.1", port=port)
    for command in (FAST, SLOW):
        connection.send_command(command)
    connection.disconnect()


def row(name: str, raw: list[float], ours: list[float], added: float, limit: float) -> str:
    """Give a line of the table; all figures are milliseconds."""
    return f"| {name} | {spread(raw)} ms | {spread(ours)} ms | +{added:.1f} ms | {limit:g} ms |"


async def measure(ports: Sequence[int], rounds: int) -> tuple[list[str], bool]:
    """Give the table's rows and whether every limit holds."""
    await whole_session(ports[0])  # imports, and the way out of the routers' boot message
    await asyncio.gather(*(whole_session(port) for port in ports))
    fast, raw_fast = await commands(ports[0], FAST, rounds * 5)
    slow, raw_slow = await commands(ports[0], SLOW, rounds)
    ours = [await timed(lambda: whole_session(ports[0])) for _ in range(rounds)]
    raw = [await timed(lambda: raw_session(ports[0])) for _ in range(rounds)]
    many = [await timed(lambda: asyncio.gather(*map(whole_session, ports))) for _ in range(rounds)]
    median = statistics.median
    added_fast, added_slow = median(fast) - median(raw_fast), median(slow) - median(raw_slow)
    added_session, ratio = median(ours) - median(raw), median(many) / median(ours)
    rows = [
        row(f"`{FAST}`", raw_fast, fast, added_fast, LIMIT_COMMAND_MS),
        row(f"`{SLOW}` (0.2 s)", raw_slow, slow, added_slow, LIMIT_COMMAND_MS),
        row("session with both", raw, ours, added_session, LIMIT_SESSION_MS),
        f"| {len(ports)} sessions at once | | {spread(many)} ms | {ratio:.2f} × one | {LIMIT_MANY:g} × |",
    ]
    holds = [
        max(added_fast, added_slow) < LIMIT_COMMAND_MS,
        added_session < LIMIT_SESSION_MS,
        ratio <= LIMIT_MANY,
    ]
    if importlib.util.find_spec("netmiko") is not None:
        theirs = [await timed(lambda: asyncio.to_thread(netmiko_session, ports[0])) for _ in range(3)]
        times = median(theirs) / median(ours)
        rows.append(
            f"| session with both, netmiko | | {spread(theirs)} ms | {times:.1f} × ours | ≥ {LIMIT_NETMIKO:g} × |"
        )
        holds.append(times >= LIMIT_NETMIKO)
    return rows, all(holds)


def main() -> int:
    """Measure, print, and give the exit status."""
    parser = argparse.ArgumentParser(description="Measure what the copilot adds to the time that devices take.")
    parser.add_argument("--rounds", type=int, default=9, help="rounds of each variant (default: 9)")
    parser.add_argument("--write", action="store_true", help="put the figures into docs/benchmarks.md")
    options = parser.parse_args()
    with farm(DEVICES) as ports:
        rows, within = asyncio.run(measure(ports, options.rounds))
    head = ["| | raw socket | copilot | added | limit |", "|---|--:|--:|--:|--:|"]
    table = "\n".join([*head, *rows])
    text = f"{options.rounds} rounds; medians (least–most).\n{page.machine()}.\n\n{table}"
    print(text)
    if options.write:
        page.write("consoles", text)
    if not within:
        print("a limit is passed", file=sys.stderr)
    return 0 if within else 1


if __name__ == "__main__":
    sys.exit(main())
