"""Network adapters whose wire is a UDP tunnel: one Ethernet frame a datagram, as QEMU and VPCS do it for GNS3."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Callable

Address = tuple[str, int]

_LARGEST_FRAME = 65535
_FRAMES_AT_ONCE = 64


class UdpWire:
    """Binds `local`, sends to `remote`; `receive` gets each frame once `attach` was called in a running loop."""

    def __init__(self, local: Address, remote: Address) -> None:
        self._remote = remote
        self._receive: Callable[[bytes], None] = lambda frame: None
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.setblocking(False)
        self._socket.bind(local)

    def attach(self, receive: Callable[[bytes], None]) -> None:
        self._receive = receive
        asyncio.get_running_loop().add_reader(self._socket, self._readable)

    def send(self, frame: bytes) -> None:
        # Nobody at the other end yet, or its buffer is full: a wire loses frames, it reports nothing.
        with contextlib.suppress(OSError):
            self._socket.sendto(frame, self._remote)

    def _readable(self) -> None:
        for _ in range(_FRAMES_AT_ONCE):
            try:
                frame = self._socket.recv(_LARGEST_FRAME)
            except BlockingIOError:
                return
            except OSError:
                continue
            self._receive(frame)

    def close(self) -> None:
        asyncio.get_running_loop().remove_reader(self._socket)
        self._socket.close()
