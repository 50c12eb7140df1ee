"""gns3-server's real application inside the test process, for tests of what is called in process.

It is started as `gns3server` starts it: configuration, database, controller, computes, and a real port, since the
controller speaks HTTP to its own compute.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import uvicorn

from gns3server_copilot.agent.server import Server
from gns3server_copilot.gns3.client import GNS3Client
from gns3server_copilot.knowledge.base import KnowledgeBase
from gns3server_copilot.llm.audit import AuditLog
from gns3server_copilot.llm.usage import UsageStore
from gns3server_copilot.settings import Settings
from tests.ground.lab_tools import compute_settings
from tests.ground.ports import PortBlock, reserve_ports
from tests.ground.server import ADMIN, Sections, merge, write_config

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send


class InProcessServer:
    """The running application. Has what `tests.ground.users` asks of a server."""

    def __init__(self, app: ASGIApp, url: str, admin_password: str) -> None:
        self.app = app
        self.url = url
        self.admin_password = admin_password

    def log_in(self, username: str, password: str) -> str:
        """Give a new token of the user."""
        credentials = {"username": username, "password": password}
        answer = httpx.post(f"{self.url}/v3/access/users/authenticate", json=credentials, timeout=30, trust_env=False)
        return str(answer.raise_for_status().json()["access_token"])

    @property
    def admin_token(self) -> str:
        """A new token of the superadmin."""
        return self.log_in(ADMIN, self.admin_password)


@contextlib.asynccontextmanager
async def running_app(home: Path, conf: Sections | None = None) -> AsyncIterator[InProcessServer]:
    """Run the application in this event loop. Only once in a process: gns3-server keeps its state in singletons.

    `conf` overrides settings of gns3_server.conf.
    """
    from gns3server.config import Config

    ports = reserve_ports()
    password = secrets.token_urlsafe(12)
    # Config notes its file's path and takes everything else from there
    Config.reset()
    Config.instance(files=[str(_configuration(home, ports, password, conf or {}))])
    from gns3server.api.server import app
    from gns3server.compute.port_manager import PortManager

    PortManager.instance().console_host = "127.0.0.1"
    server = _Server(uvicorn.Config(app, host="127.0.0.1", port=ports.http, log_config=None, lifespan="on"))
    serving = asyncio.create_task(server.serve())
    try:
        while not server.started:
            await asyncio.wait([serving], timeout=0.02)
            if serving.done():
                raise RuntimeError("gns3-server's application did not start") from serving.exception()
        running = InProcessServer(app, f"http://127.0.0.1:{ports.http}", password)
        token = await asyncio.to_thread(lambda: running.admin_token)
        # The controller connects to its own compute a second later; this makes it do so now.
        await GNS3Client(app, token).post("/computes/local/connect")
        yield running
    finally:
        app.state.exiting = True
        server.should_exit = True
        await serving
        ports.release()


def agent_server(app: ASGIApp, settings: Settings, folder: Path) -> Server:
    """Give what the plugin sets up for agents, with `folder` for an admin's knowledge."""
    engine = app.state._db_engine  # type: ignore[attr-defined]
    audit = AuditLog(engine, settings.audit_days)
    return Server(app, settings, UsageStore(engine), KnowledgeBase(folder, settings), audit)


class Meddler:
    """The real application behind a door where a test can stop requests, or lose answers after the work is done.

    `lose_answers` and `refuse` count down: that many requests that begin with `method` and hold `part` of a path get
    status 500, after or instead of what they asked for. `hold` makes them wait before their answer until it is set.
    """

    def __init__(self, app: ASGIApp, method: str, part: str) -> None:
        self._app = app
        #: what reads the server's state directly finds it behind the door too
        self.state = app.state  # type: ignore[attr-defined]
        self._method = method
        self._part = part
        self.lose_answers = 0
        self.refuse = 0
        self.hold: asyncio.Event | None = None
        self.begun = asyncio.Event()
        self.idle = asyncio.Event()
        self.running = 0
        self.most_running = 0
        self.seen: list[str] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] != self._method or self._part not in scope["path"]:
            await self._app(scope, receive, send)
            return
        self.seen.append(scope["path"])
        self.running += 1
        self.idle.clear()
        self.most_running = max(self.running, self.most_running)
        try:
            await self._meddle(scope, receive, send)
        finally:
            self.running -= 1
            if not self.running:
                self.idle.set()

    async def _meddle(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self.refuse:
            self.refuse -= 1
            raise IndexError("Cannot choose from an empty sequence")
        answer: list[Any] = []

        async def keep(message: Any) -> None:
            answer.append(message)

        await self._app(scope, receive, keep)
        self.begun.set()
        if self.hold is not None:
            await self.hold.wait()
        if self.lose_answers:
            self.lose_answers -= 1
            raise RuntimeError("the answer is lost")
        for message in answer:
            await send(message)


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to pytest."""
        yield


def _configuration(home: Path, ports: PortBlock, password: str, conf: Sections) -> Path:
    folder = home / "GNS3"
    secrets_dir = home / "secrets"
    secrets_dir.mkdir(parents=True)
    path = home / "config" / "gns3_server.conf"
    sections: dict[str, dict[str, object]] = {
        "Server": {
            "host": "127.0.0.1",
            "port": ports.http,
            "secrets_dir": secrets_dir,
            "report_errors": False,
            "install_builtin_appliances": False,
            "auto_discover_images": False,
            "resources_path": folder / "resources",
            **{f"{kind}_path": folder / kind for kind in ("images", "projects", "appliances", "symbols", "configs")},
            "console_start_port_range": ports.consoles[0],
            "console_end_port_range": ports.consoles[1],
            "udp_start_port_range": ports.udp[0],
            "udp_end_port_range": ports.udp[1],
        },
        "Controller": {"default_admin_username": ADMIN, "default_admin_password": password},
        "Qemu": {"enable_hardware_acceleration": False},
    }
    merge(sections, compute_settings(home / "lab-tools"))
    merge(sections, conf)
    write_config(path, sections)
    return path
