"""A real gns3-server in a home of its own."""

from __future__ import annotations

import configparser
import ctypes
import importlib.metadata
import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import httpx
import psutil

from tests.ground import server_log
from tests.ground.lab_tools import compute_settings
from tests.ground.ports import PortBlock, reserve_ports

ADMIN = "admin"
START_SECONDS = 60.0
STOP_SECONDS = 10.0
#: Marks everything that one of our servers has started, so that what outlives it can be found and ended.
MARK = "GNS3_COPILOT_TEST_SERVER"

Sections = Mapping[str, Mapping[str, object]]


class GNS3Server:
    """The stock `gns3server` command with private ports, projects, images and database, started and stopped at will.

    `copilot` is the `[Copilot]` section, or False for `GNS3_COPILOT=0`. `conf` adds to or overrides sections of
    gns3_server.conf; a value of None removes a setting. `env` does the same for the environment. `debug` has everything
    logged. `host` is the address of loopback that it listens on.
    A stopped or killed server may be started again, also with another value of `copilot`: home, ports and logins stay.
    `leftovers` are the command lines of what the last one had left running when it ended; it has been ended too.
    """

    def __init__(
        self,
        home: Path,
        *,
        copilot: Mapping[str, object] | bool = True,
        conf: Sections | None = None,
        env: Mapping[str, str | None] | None = None,
        debug: bool = False,
        host: str = "127.0.0.1",
    ) -> None:
        self.home = home
        self.host = host
        self.ports: PortBlock = reserve_ports()
        self.url = f"http://{host}:{self.ports.http}"
        self.admin_password = secrets.token_urlsafe(12)
        self.config_path = home / ".config" / "GNS3" / "3.0" / "gns3_server.conf"
        self.log_path = home / "gns3server.log"
        self.process: subprocess.Popen[bytes] | None = None
        self.leftovers: list[str] = []
        self.copilot = copilot
        self._conf = conf or {}
        self._env = env or {}
        self._arguments = ["--debug"] if debug else []
        self._final_log = b""
        self._mark = secrets.token_hex(8)
        self._admin_token: str | None = None
        self._expected: list[tuple[int, int | None, re.Pattern[str]]] = []

    # --- life ------------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Start the server and wait until it answers and can run nodes. Raises RuntimeError with the log's end."""
        if self.copilot is not False:
            require_installed_package()
        write_config(self.config_path, self._sections())
        with self.log_path.open("ab") as log:
            self.process = subprocess.Popen(
                [gns3server_command(), "--config", str(self.config_path), *self._arguments],
                cwd=self.home,
                env=self.environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C in a terminal is for pytest, which then stops the server
                preexec_fn=_die_with_parent,
            )
        self._wait_until_ready()

    def stop(self) -> float:
        """Stop the server with SIGTERM and give the seconds that it took. Raises RuntimeError if it does not end."""
        process = self.process
        if process is None:
            return 0.0
        begun = time.monotonic()
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
            raise RuntimeError(
                f"gns3server was still there {STOP_SECONDS:.0f} s after SIGTERM; its log ends with:\n{self.log_tail()}"
            ) from None
        self.process = None
        self._end_leftovers()
        return time.monotonic() - begun

    def kill(self) -> None:
        """End the server and everything that it has started with SIGKILL, as a crash of the machine would."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None
        self._end_leftovers()

    def discard(self) -> None:
        """End the server for good, give the ports back and remove the home. The log can still be read."""
        self.kill()
        self.ports.release()
        self._final_log = self.log_path.read_bytes() if self.log_path.exists() else b""
        shutil.rmtree(self.home, ignore_errors=True)

    # --- what tests ask of it --------------------------------------------------------------------------------------

    @property
    def pid(self) -> int:
        """The process id of the running server."""
        if self.process is None:
            raise RuntimeError("the server is not running")
        return self.process.pid

    @property
    def admin_token(self) -> str:
        """A token of the superadmin (one for the server's life: they hold for a day)."""
        if self._admin_token is None:
            self._admin_token = self.log_in(ADMIN, self.admin_password)
        return self._admin_token

    def log_in(self, username: str, password: str) -> str:
        """Give a new token of the user."""
        credentials = {"username": username, "password": password}
        answer = httpx.post(f"{self.url}/v3/access/users/authenticate", json=credentials, timeout=30, trust_env=False)
        answer.raise_for_status()
        token = answer.json()["access_token"]
        assert isinstance(token, str)
        return token

    def environment(self) -> dict[str, str]:
        """Give the environment of the server, and of commands beside it."""
        environment = dict(os.environ)
        # Switches and keys are for tests to set, not for the shell that runs them; everything they call is on loopback.
        for name in [name for name in environment if name.startswith("GNS3_") or name.lower().endswith("_proxy")]:
            del environment[name]
        environment |= {"HOME": str(self.home), MARK: self._mark, "PYTHONUNBUFFERED": "1"}
        if self.copilot is False:
            environment["GNS3_COPILOT"] = "0"
        for name, value in self._env.items():
            if value is None:
                environment.pop(name, None)
            else:
                environment[name] = value
        return environment

    @property
    def database_path(self) -> Path:
        """The controller's SQLite file."""
        return self.config_path.parent / "gns3_controller.db"

    @property
    def projects_path(self) -> Path:
        """The folder of all projects."""
        return self.home / "GNS3" / "projects"

    def log(self, since: int = 0) -> str:
        """Give what the server has printed, from the given position on."""
        whole = self.log_path.read_bytes() if self.log_path.exists() else self._final_log
        return whole[since:].decode("utf-8", "replace")

    def log_tail(self, since: int = 0) -> str:
        """Give the last lines of the log."""
        return server_log.tail(self.log(since))

    def log_position(self) -> int:
        """Give the present end of the log, for `log`."""
        return self.log_path.stat().st_size if self.log_path.exists() else 0

    @contextmanager
    def expected_traceback(self, pattern: str) -> Iterator[None]:
        """Excuse tracebacks of ours that match the regular expression and come while the block runs."""
        begun = self.log_position()
        try:
            yield
        finally:
            self._expected.append((begun, self.log_position(), re.compile(pattern, re.DOTALL)))

    def expect_traceback(self, pattern: str) -> None:
        """Excuse tracebacks of ours that match, for the server's whole life (a server started broken, say)."""
        self._expected.append((0, None, re.compile(pattern, re.DOTALL)))

    def unexpected_tracebacks(self, since: int = 0) -> list[str]:
        """Give the tracebacks through our package that no test has excused."""
        return [
            record
            for position, record in self._tracebacks(since)
            if not any(
                start <= position and (end is None or position < end) and pattern.search(record)
                for start, end, pattern in self._expected
            )
        ]

    # --- inside ----------------------------------------------------------------------------------------------------

    def _tracebacks(self, since: int) -> Iterator[tuple[int, str]]:
        text = self.log(since)
        position = 0
        for record in server_log.tracebacks_of_ours(text):
            position = text.index(record, position)
            yield since + len(text[:position].encode()), record
            position += len(record)

    def _sections(self) -> dict[str, dict[str, object]]:
        sections: dict[str, dict[str, object]] = {
            "Server": {
                "host": self.host,
                "port": self.ports.http,
                "report_errors": False,
                "install_builtin_appliances": False,
                "auto_discover_images": False,
                "images_path": self.home / "GNS3" / "images",
                "projects_path": self.projects_path,
                "appliances_path": self.home / "GNS3" / "appliances",
                "symbols_path": self.home / "GNS3" / "symbols",
                "configs_path": self.home / "GNS3" / "configs",
                "console_start_port_range": self.ports.consoles[0],
                "console_end_port_range": self.ports.consoles[1],
                "udp_start_port_range": self.ports.udp[0],
                "udp_end_port_range": self.ports.udp[1],
            },
            "Controller": {"default_admin_username": ADMIN, "default_admin_password": self.admin_password},
            "Qemu": {"enable_hardware_acceleration": False},
        }
        merge(sections, compute_settings(self.home / "lab-tools"))
        if isinstance(self.copilot, Mapping):
            sections["Copilot"] = dict(self.copilot)
        merge(sections, self._conf)
        return sections

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        with httpx.Client(base_url=self.url, timeout=30, trust_env=False) as client:
            while True:
                if self.process is None or self.process.poll() is not None:
                    raise RuntimeError(f"gns3server ended while starting; its log ends with:\n{self.log_tail()}")
                try:
                    if client.get("/v3/version").status_code == 200:
                        break
                except httpx.TransportError:
                    pass
                if time.monotonic() > deadline:
                    self.kill()
                    raise RuntimeError(
                        f"gns3server did not answer in {START_SECONDS:.0f} s; its log ends with:\n{self.log_tail()}"
                    )
                time.sleep(0.05)
            # The controller connects to its own compute a second later; this call makes it do so and waits for it.
            headers = {"Authorization": f"Bearer {self.admin_token}"}
            client.post("/v3/computes/local/connect", headers=headers).raise_for_status()

    def _end_leftovers(self) -> None:
        """Kill, by process id, what the ended server has left running."""
        left = []
        self.leftovers = []
        for process in psutil.process_iter():
            try:
                if process.environ().get(MARK) == self._mark:
                    self.leftovers.append(" ".join(process.cmdline()))
                    process.kill()
                    left.append(process)
            except psutil.Error:
                continue
        psutil.wait_procs(left, timeout=5)


def gns3server_command() -> str:
    """Give the console script beside this interpreter: the one that users start."""
    command = Path(sys.executable).with_name("gns3server")
    if not command.exists():
        raise RuntimeError(f"there is no gns3server beside {sys.executable}: install gns3-server there")
    return str(command)


def require_installed_package() -> None:
    """Raise RuntimeError when the package is not installed: nothing would get it into the server then."""
    try:
        importlib.metadata.distribution("gns3server-copilot")
    except importlib.metadata.PackageNotFoundError:
        raise RuntimeError(f"the copilot is not installed: run {sys.executable} -m pip install -e .") from None


def merge(sections: dict[str, dict[str, object]], more: Sections) -> None:
    """Put settings over those of `sections`; None removes one."""
    for section, settings in more.items():
        target = sections.setdefault(section, {})
        for name, value in settings.items():
            if value is None:
                target.pop(name, None)
            else:
                target[name] = value


def write_config(path: Path, sections: Sections) -> None:
    """Write a gns3_server.conf that only its owner can read: it holds the admin's password."""
    parser = configparser.ConfigParser(interpolation=None)
    parser.read_dict({section: {k: str(v) for k, v in settings.items()} for section, settings in sections.items()})
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        parser.write(file)


if sys.platform == "linux":
    _libc = ctypes.CDLL(None)
    PR_SET_PDEATHSIG = 1

    def _die_with_parent() -> None:
        """Have the server end when the test run is killed; runs between fork and exec."""
        _libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)

else:
    _die_with_parent = None
