"""A bridge between two NIOs: one thread a direction, filters, capture."""

from __future__ import annotations

import errno
import os
import select
import struct
import threading
import time

from gns3server_copilot.demo.hypervisor.filters import Filter
from gns3server_copilot.demo.hypervisor.nio import Nio

_ETHERNET = 1
_SNAPLEN = 65535
_JOIN_SECONDS = 2.0


class Capture:
    """A pcap file. As with libpcap its header stays in the buffer, and the file empty, until the first packet."""

    def __init__(self, path: str) -> None:
        self._file = open(path, "wb")  # noqa: SIM115 - closed by close()
        self._lock = threading.Lock()
        self._file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, _SNAPLEN, _ETHERNET))

    def write(self, frame: bytes) -> None:
        now = time.time_ns() // 1000
        record = struct.pack("<IIII", now // 1_000_000, now % 1_000_000, len(frame), len(frame)) + frame
        with self._lock:
            if not self._file.closed:
                self._file.write(record)
                self._file.flush()

    def close(self) -> None:
        with self._lock:
            self._file.close()


class Bridge:
    """Filters and capture may be changed while it runs."""

    def __init__(self) -> None:
        self.nios: list[Nio] = []
        self.filters: dict[str, Filter] = {}
        self.capture: Capture | None = None
        self.running = False
        self._threads: list[threading.Thread] = []
        self._stop_pipe = (-1, -1)

    def start(self) -> None:
        """Needs exactly two NIOs."""
        one, other = self.nios
        self._stop_pipe = os.pipe()
        self.running = True
        self._threads = [
            threading.Thread(target=self._pump, args=ends, daemon=True) for ends in ((one, other), (other, one))
        ]
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        if not self.running:
            return
        self.running = False
        os.write(self._stop_pipe[1], b"x")
        for thread in self._threads:
            thread.join(_JOIN_SECONDS)
        for end in self._stop_pipe:
            os.close(end)

    def close(self) -> None:
        self.stop()
        for nio in self.nios:
            nio.close()
        if self.capture:
            self.capture.close()

    def _pump(self, source: Nio, destination: Nio) -> None:
        stop = self._stop_pipe[0]
        poll = select.poll()
        poll.register(source.fileno(), select.POLLIN)
        poll.register(stop, select.POLLIN)
        while self.running:
            if any(fd == stop for fd, _ in poll.poll()):
                return
            try:
                frame = source.receive()
            except OSError as error:
                # Nobody at the other end of the tunnel yet, or the interface is down: it may come.
                if error.errno not in (errno.ECONNREFUSED, errno.ENETDOWN, errno.EIO):
                    return
                if error.errno != errno.ECONNREFUSED:
                    time.sleep(0.05)
                continue
            if frame:
                self._forward(bytearray(frame), destination)

    def _forward(self, frame: bytearray, destination: Nio) -> None:
        # A copy: the hypervisor replaces filters while frames pass.
        if any(packet_filter.drops(frame) for packet_filter in list(self.filters.values())):
            return
        # A delay may have outlasted the bridge.
        if not self.running:
            return
        if self.capture:
            self.capture.write(bytes(frame))
        try:
            destination.send(bytes(frame))
        except OSError:
            return
