"""The process that owns the demo's server: however the demo ends, it ends the server and removes the home.

It runs in a session of its own, so that Ctrl-C in the terminal reaches the demo only, and watches its standard input:
that ends when the demo closes it or dies, by SIGKILL too. Its standard output says `started PID` once.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import psutil  # type: ignore[import-untyped]

from gns3server_copilot.demo.home import PREFIX, Home

TERM_SECONDS = 10.0
KILL_SECONDS = 5.0

_PR_SET_PDEATHSIG = 1
_SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


def keep(home: Home) -> None:
    """Run gns3-server until the standard input ends, then leave nothing of it."""
    server = None
    try:
        server = _start(home)
        print(f"started {server.pid}", flush=True)
        _wait_for_end_of_input(server)
    finally:
        for number in _SIGNALS:
            signal.signal(number, signal.SIG_IGN)
        if server:
            _stop(server)
        clear(home)


def clear(home: Home) -> None:
    """Kill what still runs there, and remove the folder. Never a folder that the demo has not made."""
    if not home.path.name.startswith(PREFIX):
        raise ValueError(f"{home.path} is no home of a demo")
    end_processes_at_home(home.path)
    shutil.rmtree(home.path, ignore_errors=True)


def _start(home: Home) -> subprocess.Popen[bytes]:
    with home.log.open("wb") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "gns3server", "--config", str(home.config)],
            cwd=home.path,
            env=home.environment(),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            preexec_fn=_end_with_parent(),
        )


def _end_with_parent() -> Callable[[], object] | None:
    """Have the kernel end the server when this process is killed; where it cannot, the demo must not be killed so."""
    if sys.platform != "linux":
        return None
    libc = ctypes.CDLL(None)
    return lambda: libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def _wait_for_end_of_input(server: subprocess.Popen[bytes]) -> None:
    while True:
        readable, _, _ = select.select([sys.stdin.fileno()], [], [], 1.0)
        if readable and not os.read(sys.stdin.fileno(), 1024):
            return
        # Reaps a server that has ended by itself, so that the demo can see it.
        server.poll()


def _stop(server: subprocess.Popen[bytes]) -> None:
    server.terminate()
    try:
        server.wait(TERM_SECONDS)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()


def end_processes_at_home(home: Path) -> None:
    """Kill, one by one, every process whose HOME is `home`: only what the demo's server has started has it."""
    left = processes_at_home(home)
    for process in left:
        with contextlib.suppress(psutil.Error):
            process.kill()
    psutil.wait_procs(left, timeout=KILL_SECONDS)


def processes_at_home(home: Path) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.environ().get("HOME") == str(home):
                found.append(process)
    return found


if __name__ == "__main__":
    for number in _SIGNALS:
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    keep(Home(Path(sys.argv[1])))
