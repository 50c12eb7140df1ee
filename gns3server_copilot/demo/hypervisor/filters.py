"""The five packet filters. Each acts on both directions of a bridge with one shared state, before the capture."""

from __future__ import annotations

import random
import re
import time
from typing import Protocol

from gns3server_copilot.demo.hypervisor.bpf import BpfFilter


class Filter(Protocol):
    """`set_up` says whether the arguments are right; `drops` whether this frame goes no further (it may change it)."""

    def set_up(self, arguments: list[str]) -> bool: ...

    def drops(self, frame: bytearray) -> bool: ...


def _number(text: str) -> int:
    """As C's atoi: what is no number counts as 0."""
    found = re.match(r"\s*([+-]?\d+)", text)
    return int(found[1]) if found else 0


class FrequencyDrop:
    """Every n-th frame; -1: all of them."""

    def __init__(self) -> None:
        self._frequency = 0
        self._count = 0

    def set_up(self, arguments: list[str]) -> bool:
        if len(arguments) != 1:
            return False
        self._frequency = _number(arguments[0])
        return True

    def drops(self, frame: bytearray) -> bool:
        if self._frequency == -1:
            return True
        if self._frequency == 0:
            return False
        self._count = (self._count + 1) % self._frequency
        return self._count == 0


class PacketLoss:
    def __init__(self) -> None:
        self._percent = 0

    def set_up(self, arguments: list[str]) -> bool:
        if len(arguments) != 1:
            return False
        self._percent = _number(arguments[0])
        return 0 <= self._percent <= 100

    def drops(self, frame: bytearray) -> bool:
        # `<=` as in ubridge: 50 loses 51 % of the frames, and 0 still 1 %.
        return random.randrange(100) <= self._percent


class Delay:
    """Sleeps in the thread of the direction, as ubridge does: a delay also limits the rate."""

    def __init__(self) -> None:
        self._latency = 0
        self._jitter = 0

    def set_up(self, arguments: list[str]) -> bool:
        if len(arguments) not in (1, 2):
            return False
        self._latency = _number(arguments[0])
        self._jitter = _number(arguments[1]) if len(arguments) == 2 else 0
        return self._latency > 0 and self._jitter >= 0

    def drops(self, frame: bytearray) -> bool:
        delay = self._latency
        if self._jitter:
            delay += random.randrange(2 * self._jitter + 1) - self._jitter
        time.sleep(max(0, delay) / 1000)
        return False


class Corrupt:
    """Changes the middle quarter of a frame."""

    _PATTERN = bytes((0x64, 0x13, 0x88, 0x40, 0x1F, 0xA0, 0xAA, 0x55))

    def __init__(self) -> None:
        self._percent = 0
        self._position = 0

    def set_up(self, arguments: list[str]) -> bool:
        if len(arguments) != 1:
            return False
        self._percent = _number(arguments[0])
        return 0 <= self._percent <= 100

    def drops(self, frame: bytearray) -> bool:
        if random.randrange(100) <= self._percent:
            length = len(frame) // 4
            begin = len(frame) // 2 - length // 2 + 1
            for index in range(begin, min(begin + length, len(frame))):
                frame[index] ^= self._PATTERN[self._position % len(self._PATTERN)]
                self._position += 1
        return False


FILTERS: dict[str, type[Filter]] = {
    "frequency_drop": FrequencyDrop,
    "packet_loss": PacketLoss,
    "delay": Delay,
    "corrupt": Corrupt,
    "bpf": BpfFilter,
}
