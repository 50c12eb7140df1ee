"""The ends of a bridge: a UDP tunnel, a TAP device, a raw interface."""

from __future__ import annotations

import errno
import fcntl
import os
import socket
import struct
from typing import Protocol

_LARGEST_FRAME = 65535

_TUNSETIFF = 0x400454CA
_IFF_TAP = 0x0002
_IFF_NO_PI = 0x1000

_ETH_P_ALL = 3
_SOL_PACKET = 263
_PACKET_ADD_MEMBERSHIP = 1
_PACKET_IGNORE_OUTGOING = 23
_PACKET_MR_PROMISC = 1
_PACKET_OUTGOING = 4


class Nio(Protocol):
    """Raises OSError where the kernel refuses."""

    def fileno(self) -> int: ...

    def receive(self) -> bytes: ...

    def send(self, frame: bytes) -> None: ...

    def close(self) -> None: ...


class UdpNio:
    def __init__(self, local_port: int, remote_host: str, remote_port: int) -> None:
        self.key = (local_port, remote_host, remote_port)
        family, _, _, _, remote = socket.getaddrinfo(remote_host, remote_port, type=socket.SOCK_DGRAM)[0]
        self._socket = socket.socket(family, socket.SOCK_DGRAM)
        try:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self._socket.bind(("", local_port))
            self._socket.connect(remote)
        except OSError:
            self._socket.close()
            raise

    def fileno(self) -> int:
        return self._socket.fileno()

    def receive(self) -> bytes:
        return self._socket.recv(_LARGEST_FRAME)

    def send(self, frame: bytes) -> None:
        self._socket.send(frame)

    def close(self) -> None:
        self._socket.close()


class TapNio:
    def __init__(self, name: str) -> None:
        self._fd = os.open("/dev/net/tun", os.O_RDWR)
        try:
            fcntl.ioctl(self._fd, _TUNSETIFF, struct.pack("16sH22x", name.encode(), _IFF_TAP | _IFF_NO_PI))
        except OSError:
            os.close(self._fd)
            raise

    def fileno(self) -> int:
        return self._fd

    def receive(self) -> bytes:
        return os.read(self._fd, _LARGEST_FRAME)

    def send(self, frame: bytes) -> None:
        try:
            os.write(self._fd, frame)
        except OSError as error:
            if error.errno != errno.EIO:  # the device is not up
                raise

    def close(self) -> None:
        os.close(self._fd)


class RawNio:
    """Needs root or CAP_NET_RAW."""

    def __init__(self, name: str) -> None:
        self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_ETH_P_ALL))
        try:
            self._socket.bind((name, _ETH_P_ALL))
            membership = struct.pack("iHH8s", socket.if_nametoindex(name), _PACKET_MR_PROMISC, 0, b"")
            self._socket.setsockopt(_SOL_PACKET, _PACKET_ADD_MEMBERSHIP, membership)
        except OSError:
            self._socket.close()
            raise
        try:
            self._socket.setsockopt(_SOL_PACKET, _PACKET_IGNORE_OUTGOING, 1)
        except OSError:  # Linux before 4.20: `receive` sorts them out
            return

    def fileno(self) -> int:
        return self._socket.fileno()

    def receive(self) -> bytes:
        while True:
            frame, address = self._socket.recvfrom(_LARGEST_FRAME)
            if address[2] != _PACKET_OUTGOING:
                return frame

    def send(self, frame: bytes) -> None:
        self._socket.send(frame)

    def close(self) -> None:
        self._socket.close()
