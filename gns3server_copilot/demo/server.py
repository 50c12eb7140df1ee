"""The demo's gns3-server, from its start to the removal of its home."""

from __future__ import annotations

import asyncio
import secrets
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil  # type: ignore[import-untyped]

from gns3server_copilot.commands.server import Server
from gns3server_copilot.demo.home import ADMIN, PREFIX, Home
from gns3server_copilot.demo.keeper import KILL_SECONDS, TERM_SECONDS, clear
from gns3server_copilot.demo.ports import reserve_ports
from gns3server_copilot.errors import CopilotError, UnavailableError

START_SECONDS = 60.0

_LOG_LINES = 25
_POLL_SECONDS = 0.1


class StartError(UnavailableError):
    """The server did not come up; `log` has the last lines that it printed."""

    def __init__(self, message: str, home: Home) -> None:
        super().__init__(message)
        try:
            lines = home.log.read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            lines = []
        self.log = "\n".join(lines[-_LOG_LINES:])


@dataclass(frozen=True, slots=True)
class DemoServer:
    """A running server; `api` is logged in as `user`, who is its superadmin."""

    home: Home
    url: str
    pid: int
    api: Server
    token: str = field(repr=False)
    password: str = field(repr=False)
    user: str = ADMIN


@asynccontextmanager
async def run_server(*, copilot: bool = True) -> AsyncIterator[DemoServer]:
    """Start a gns3-server of its own; leaves nothing of it behind. Without `copilot` it is the stock server.

    Raises StartError.
    """
    password = secrets.token_urlsafe(9)
    with reserve_ports() as ports:
        home = Home(Path(tempfile.mkdtemp(prefix=PREFIX)))
        home.furnish(ports, password, copilot=copilot)
        url = f"http://127.0.0.1:{ports.http}"
        async with _kept(home) as pid, Server(url) as api:
            await _wait_until_it_answers(api, pid, home)
            token = await api.login(ADMIN, password)
            # The controller reaches its own compute a second later by itself; nodes need it.
            await api.post("/computes/local/connect")
            yield DemoServer(home, url, pid, api, token, password)


@asynccontextmanager
async def _kept(home: Home) -> AsyncIterator[int]:
    """The server's process id. At the end the keeper ends everything and removes the home; if it was killed, we do."""
    keeper = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "gns3server_copilot.demo.keeper",
        str(home.path),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert keeper.stdin and keeper.stdout
    try:
        word, _, pid = (await keeper.stdout.readline()).partition(b" ")
        if word != b"started":
            raise StartError("gns3-server could not be started.", home)
        yield int(pid)
    finally:
        keeper.stdin.close()
        with suppress(TimeoutError):
            async with asyncio.timeout(TERM_SECONDS + 2 * KILL_SECONDS):
                await keeper.wait()
        if home.path.exists():
            await asyncio.to_thread(clear, home)


async def _wait_until_it_answers(api: Server, pid: int, home: Home) -> None:
    deadline = time.monotonic() + START_SECONDS
    while True:
        if not psutil.pid_exists(pid):
            raise StartError("gns3-server ended while it was starting.", home)
        try:
            await api.get("/version")
            return
        except CopilotError:
            if time.monotonic() > deadline:
                raise StartError(f"gns3-server did not answer in {START_SECONDS:.0f} s.", home) from None
        await asyncio.sleep(_POLL_SECONDS)
