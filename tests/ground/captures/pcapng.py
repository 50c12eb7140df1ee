"""The blocks of pcapng files (draft-ietf-opsawg-pcapng). `order` is that of the bytes, as `struct` writes it."""

from __future__ import annotations

import struct
from collections.abc import Iterable


def block(order: str, kind: int, body: bytes) -> bytes:
    """A pcapng block."""
    body += bytes(-len(body) % 4)
    length = 12 + len(body)
    return struct.pack(f"{order}II", kind, length) + body + struct.pack(f"{order}I", length)


def section(order: str) -> bytes:
    """A section header."""
    return block(order, 0x0A0D0D0A, struct.pack(f"{order}IHHq", 0x1A2B3C4D, 1, 0, -1))


def interface(order: str, link_type: int, resolution: int | None = None) -> bytes:
    """An interface description; `resolution` is the exponent of ten, or of two with the upper bit."""
    options = b"" if resolution is None else struct.pack(f"{order}HHB3xHH", 9, 1, resolution, 0, 0)
    return block(order, 1, struct.pack(f"{order}HHI", link_type, 0, 0) + options)


def packet(order: str, number: int, ticks: int, data: bytes) -> bytes:
    """An enhanced packet block."""
    head = struct.pack(f"{order}IIIII", number, ticks >> 32, ticks & 0xFFFFFFFF, len(data), len(data))
    return block(order, 6, head + data)


def pcapng(frames: Iterable[bytes], link_type: int = 1) -> bytes:
    """Give a capture file with these frames, one second apart."""
    packets = (packet("<", 0, number * 1_000_000, frame) for number, frame in enumerate(frames))
    return section("<") + interface("<", link_type) + b"".join(packets)
