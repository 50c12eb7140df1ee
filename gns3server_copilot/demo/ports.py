"""Ports for a server of its own, which gns3-server wants in its configuration before it starts."""

from __future__ import annotations

import random
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from gns3server_copilot.errors import UnavailableError

BLOCK_SIZE = 500

_FIRST = 12_000
#: Below the ports that the kernel gives to outgoing connections.
_LAST = 32_000


@dataclass(frozen=True, slots=True)
class PortBlock:
    """Consecutive ports: a guard, the API's, those of consoles (a node needs two), those of the links' UDP tunnels."""

    start: int

    @property
    def http(self) -> int:
        return self.start + 1

    @property
    def consoles(self) -> range:
        return range(self.start + 2, self.start + 200)

    @property
    def udp(self) -> range:
        return range(self.start + 200, self.start + BLOCK_SIZE)


@contextmanager
def reserve_ports() -> Iterator[PortBlock]:
    """A block whose ports are all free, and which no other demo takes meanwhile. Raises UnavailableError."""
    block, guard = _find_block()
    with guard:
        yield block


def _find_block() -> tuple[PortBlock, socket.socket]:
    starts = list(range(_FIRST, _LAST - BLOCK_SIZE, BLOCK_SIZE))
    random.shuffle(starts)
    for start in starts:
        guard = socket.socket()
        try:
            guard.bind(("127.0.0.1", start))
            block = PortBlock(start)
            _check_free((block.http, *block.consoles), socket.SOCK_STREAM)
            _check_free(block.udp, socket.SOCK_DGRAM)
        except OSError:
            guard.close()
            continue
        return block, guard
    raise UnavailableError(f"No {BLOCK_SIZE} free ports in a row were found below {_LAST}. Try again later.")


def _check_free(ports: tuple[int, ...] | range, kind: socket.SocketKind) -> None:
    for port in ports:
        with socket.socket(type=kind) as probe:
            probe.bind(("127.0.0.1", port))
