"""The stock `gns3server` command of any environment, with nothing but the standard library."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path
from types import TracebackType

START_SECONDS = 60.0
STOP_SECONDS = 15.0
POLL_SECONDS = 0.01

CONFIGURATION = """\
[Server]
host = 127.0.0.1
port = {port}
report_errors = False
install_builtin_appliances = False
[Qemu]
enable_hardware_acceleration = False
[Copilot]
{copilot}
"""


class StockServer:
    """Runs `gns3server` of the environment whose programs are in `programs`; a context manager.

    `home` is its home directory, made when absent; `copilot` are lines of that section. `seconds` is how long
    it took from the start of the process to the first answer, `processor_seconds` what it computed until then. Raises
    RuntimeError with the log when there is none.
    """

    def __init__(self, programs: Path, home: Path, *, copilot: str = "", **environment: str) -> None:
        self._programs = programs
        self._copilot = copilot
        self._home = home
        self._environment = environment
        self.log_path = home / "gns3server.log"
        self.seconds = 0.0
        self.processor_seconds = 0.0

    def __enter__(self) -> StockServer:
        self._home.mkdir(parents=True, exist_ok=True)
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        configuration = self._home / ".config" / "GNS3" / "3.0" / "gns3_server.conf"
        configuration.parent.mkdir(parents=True, exist_ok=True)
        configuration.write_text(CONFIGURATION.format(port=port, copilot=self._copilot))
        begun = time.perf_counter()
        with self.log_path.open("wb") as log:
            self._process = subprocess.Popen(
                [self._programs / "gns3server"],
                cwd=self._home,
                env=clean_environment(self._home) | self._environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        try:
            self._wait_for_answer(begun + START_SECONDS)
        except BaseException:
            self._stop()
            raise
        self.seconds = time.perf_counter() - begun
        self.processor_seconds = self._processor_seconds()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._stop()

    def get(self, path: str) -> tuple[int, object]:
        """Give the status and the JSON body of a GET without a token."""
        try:
            with urllib.request.urlopen(self.url + path, timeout=30) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)

    def resident_mb(self) -> float:
        """Give the memory that the server's process holds, in MB of a million bytes."""
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        match = re.search(r"^VmRSS:\s+(\d+) kB$", status, re.MULTILINE)
        assert match is not None
        return int(match[1]) * 1024 / 1e6

    def _processor_seconds(self) -> float:
        after_name = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        user, system = after_name[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def _wait_for_answer(self, deadline: float) -> None:
        while self._process.poll() is None and time.perf_counter() < deadline:
            try:
                if self.get("/v3/version")[0] == 200:
                    return
            except (urllib.error.URLError, ConnectionError, http.client.HTTPException):
                time.sleep(POLL_SECONDS)
        raise RuntimeError(f"gns3server did not come up; its log:\n{self.log_path.read_text()}")

    def _stop(self) -> None:
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def clean_environment(home: Path) -> dict[str, str]:
    """Give the environment variables for a program that must see neither our switches nor our source tree."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("GNS3_", "PYTHON")) and not name.lower().endswith("_proxy")
    }
    return kept | {"HOME": str(home)}


def free_port() -> int:
    """Give a port of loopback that is free now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
