"""Lets gns3-server 3.0 run Debian's vpcs 0.5b2.

The server wants 0.6.1 or newer and passes -F and -R, which 0.5b2 does not know. 0.5b2 also always goes into the
background; as a child subreaper this wrapper stays its parent, waits for it and passes SIGTERM on.
It also takes the UDP port 9 above its own, which may be another node's: so it gets private ports, and its frames are
relayed between those and the server's.
VPCS_REAL names the real program. Standard library only: it runs under `python -IS`.
"""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import subprocess
import sys
import threading

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
REPORTED_VERSION = "0.6.1"
UNKNOWN_OPTIONS = ("-F", "-R")
STARTUP_FILE = "startup.vpc"
LOCAL_PORT, REMOTE_PORT = "-s", "-c"
LOOPBACK = "127.0.0.1"
SECOND_PORT = 9
LARGEST_FRAME = 65_535


def main(arguments: list[str]) -> int:
    """Answer for the version, else run vpcs until it ends."""
    if arguments == ["-v"]:
        print(f"Welcome to Virtual PC Simulator, version {REPORTED_VERSION}")
        return 0
    libc = ctypes.CDLL(None)
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)  # a killed server leaves no virtual PC behind
    signal.signal(signal.SIGTERM, end_children)
    signal.signal(signal.SIGINT, end_children)
    # 0.5b2 does not start when the file that it is given is not there.
    known = [a for a in arguments if a not in UNKNOWN_OPTIONS and (a != STARTUP_FILE or os.path.exists(a))]
    if LOCAL_PORT in known and REMOTE_PORT in known:
        known = with_private_ports(known)
    subprocess.call([os.environ.get("VPCS_REAL", "/usr/bin/vpcs"), *known])
    while True:
        try:
            os.wait()
        except ChildProcessError:
            return 0


def with_private_ports(arguments: list[str]) -> list[str]:
    """Relay frames between the ports that are asked for and private ones, and give the arguments with those."""
    local, remote = (arguments.index(option) + 1 for option in (LOCAL_PORT, REMOTE_PORT))
    servers, own = udp_socket(int(arguments[local])), udp_socket(0)
    private = two_free_ports()
    for source, sink, port in ((servers, own, private), (own, servers, int(arguments[remote]))):
        threading.Thread(target=relay, args=(source, sink, port), daemon=True).start()
    arguments = list(arguments)
    arguments[local], arguments[remote] = str(private), str(own.getsockname()[1])
    return arguments


def udp_socket(port: int) -> socket.socket:
    """Give a UDP socket on loopback; 0 takes any port."""
    bound = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    bound.bind((LOOPBACK, port))
    return bound


def two_free_ports() -> int:
    """Give a port that is free now together with the one 9 above it."""
    while True:
        with udp_socket(0) as first:
            port: int = first.getsockname()[1]
            try:
                udp_socket(port + SECOND_PORT).close()
            except OSError:
                continue
            return port


def relay(source: socket.socket, sink: socket.socket, port: int) -> None:
    """Send everything that comes in at `source` from `sink` to a port on loopback."""
    while True:
        try:
            sink.sendto(source.recv(LARGEST_FRAME), (LOOPBACK, port))
        except OSError:  # nobody is there yet, or any more
            continue


def end_children(*_: object) -> None:
    """Kill vpcs and what it has forked, then leave."""
    for pid in descendants(os.getpid()):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
    os._exit(0)


def descendants(pid: int) -> list[int]:
    """Give the process ids below `pid`."""
    found: list[int] = []
    for entry in os.listdir("/proc"):
        if entry.isdigit() and parent(entry) == pid:
            found += [int(entry), *descendants(int(entry))]
    return found


def parent(entry: str) -> int | None:
    """Give the parent of a process, None when it has ended."""
    try:
        with open(f"/proc/{entry}/stat", encoding="utf-8", errors="replace") as file:
            return int(file.read().rsplit(")", 1)[1].split()[1])
    except (OSError, IndexError):
        return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
