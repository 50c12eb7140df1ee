"""Port ranges that no other test run on this machine uses at the same time."""

from __future__ import annotations

import random
import socket
from dataclasses import dataclass, field
from pathlib import Path

BLOCK_SIZE = 500
FIRST_PORT = 12_000
#: Where outgoing connections get their ports from on a machine that does not say.
USUAL_EPHEMERAL_START = 32_768


@dataclass
class PortBlock:
    """Consecutive ports for one gns3-server: its HTTP port, consoles and UDP tunnels.

    gns3-server wants its ranges in its configuration, so the kernel cannot choose them one by one. A block is ours as
    long as we keep its first port bound: that holds against every process on the machine and ends with this one.
    """

    start: int
    _guard: socket.socket = field(repr=False)

    @property
    def http(self) -> int:
        """The port of the API."""
        return self.start + 1

    @property
    def consoles(self) -> tuple[int, int]:
        """First and last port for consoles; a node needs two."""
        return self.start + 2, self.start + 259

    @property
    def udp(self) -> tuple[int, int]:
        """First and last port for the UDP tunnels of links."""
        return self.start + 260, self.start + BLOCK_SIZE - 1

    def release(self) -> None:
        """Give the block back."""
        self._guard.close()


def reserve_ports() -> PortBlock:
    """Take a free block, below the ports that the kernel hands out to outgoing connections.

    Raises RuntimeError when there is none.
    """
    starts = list(range(FIRST_PORT, _ephemeral_start() - BLOCK_SIZE, BLOCK_SIZE))
    random.shuffle(starts)
    for start in starts:
        guard = socket.socket()
        try:
            guard.bind(("127.0.0.1", start))
            block = PortBlock(start, guard)
            _check_free(block.http)
        except OSError:
            guard.close()
            continue
        return block
    raise RuntimeError(f"every block of {BLOCK_SIZE} ports from {FIRST_PORT} on is in use")


def _ephemeral_start() -> int:
    try:
        low = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    except (OSError, ValueError, IndexError):
        low = USUAL_EPHEMERAL_START
    # Machines that hand out nearly every port leave no room below: collisions are then possible but rare.
    return low if low > FIRST_PORT + 10 * BLOCK_SIZE else USUAL_EPHEMERAL_START


def _check_free(port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind(("127.0.0.1", port))
