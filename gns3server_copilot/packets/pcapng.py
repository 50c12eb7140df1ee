"""The pcapng format: blocks in sections, each with its own byte order and interfaces (draft-ietf-opsawg-pcapng)."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import BinaryIO

from gns3server_copilot.packets.pcap import CUT, LONGEST_FRAME
from gns3server_copilot.packets.records import SECOND, Record

SECTION_MAGIC = b"\x0a\x0d\x0d\x0a"
SECTION = 0x0A0D0D0A
INTERFACE = 1
OLD_PACKET = 2
SIMPLE_PACKET = 3
ENHANCED_PACKET = 6

#: Blocks that are longer hold no frame.
LONGEST_BLOCK = 16 << 20
RESOLUTION, OFFSET = 9, 14
#: The end of the year 9999, in seconds since 1970.
LAST_SECOND = 253_402_300_799

Note = Callable[[str], None]


@dataclass(frozen=True)
class Interface:
    """Where frames come from. `ticks` is the number of time units in a second, `offset` is in seconds."""

    link_type: int
    snap_length: int
    ticks: int = 1_000_000
    offset: int = 0

    def time(self, high: int, low: int) -> int:
        """Nanoseconds since 1970; 0, as for a frame without a time, where no calendar has it."""
        found = ((high << 32) | low) * SECOND // self.ticks + self.offset * SECOND
        return found if 0 <= found <= LAST_SECOND * SECOND else 0


@dataclass
class Section:
    """The byte order and the interfaces that packets of a section refer to."""

    order: str
    interfaces: list[Interface] = field(default_factory=list)


def read(file: BinaryIO, size: int, note: Note) -> Iterator[Record]:
    """Give the packet records of a file whose first `size` bytes count."""
    section = Section("<")
    at = 0
    while size - at >= 12:
        head = file.read(12)
        if len(head) < 12:
            break
        if head[:4] == SECTION_MAGIC:
            order = {b"\x4d\x3c\x2b\x1a": "<", b"\x1a\x2b\x3c\x4d": ">"}.get(head[8:12])
            if order is None:
                note(f"The file is damaged after {at} bytes: a section without byte order.")
                return
            section = Section(order)
        kind, length = struct.unpack_from(f"{section.order}II", head)
        if length < 12 or length % 4 or length > LONGEST_BLOCK:
            note(f"The file is damaged after {at} bytes: a block of {length} bytes cannot be.")
            return
        if at + length > size:
            break
        body = head[8:] + file.read(length - 12)
        if len(body) < length - 8:
            break
        at += length
        try:
            record = _read_block(kind, body[:-4], section)
        except (struct.error, IndexError, ValueError):
            note("Damaged blocks of the file were left out.")
            continue
        if record is not None:
            yield record
    if at < size:
        note(CUT)


def _read_block(kind: int, body: bytes, section: Section) -> Record | None:
    """Give the packet in a block, or keep the interface it describes; raises ValueError for one that cannot be."""
    order = section.order
    if kind == ENHANCED_PACKET:
        number, high, low, captured, length = struct.unpack_from(f"{order}IIIII", body)
        return _record(section.interfaces[number], high, low, captured, length, body[20:])
    if kind == INTERFACE:
        link_type, _, snap_length = struct.unpack_from(f"{order}HHI", body)
        section.interfaces.append(Interface(link_type, snap_length, **_interface_options(body[8:], order)))
    elif kind == SIMPLE_PACKET:
        (length,) = struct.unpack_from(f"{order}I", body)
        interface = section.interfaces[0]
        captured = min(length, interface.snap_length or length, len(body) - 4)
        return Record(0, length, body[4 : 4 + captured], interface.link_type)
    elif kind == OLD_PACKET:
        number, _drops, high, low, captured, length = struct.unpack_from(f"{order}HHIIII", body)
        return _record(section.interfaces[number], high, low, captured, length, body[20:])
    return None


def _record(interface: Interface, high: int, low: int, captured: int, length: int, rest: bytes) -> Record:
    if captured > len(rest) or captured > LONGEST_FRAME:
        raise ValueError("a packet longer than its block")
    return Record(interface.time(high, low), length, rest[:captured], interface.link_type)


def _interface_options(raw: bytes, order: str) -> dict[str, int]:
    found: dict[str, int] = {}
    at = 0
    while at + 4 <= len(raw):
        code, length = struct.unpack_from(f"{order}HH", raw, at)
        value = raw[at + 4 : at + 4 + length]
        at += 4 + (length + 3) // 4 * 4
        if code == 0:
            break
        if code == RESOLUTION and length == 1:
            exponent = value[0] & 0x7F
            found["ticks"] = 2**exponent if value[0] & 0x80 else 10**exponent
        elif code == OFFSET and length == 8:
            (found["offset"],) = struct.unpack(f"{order}q", value)
    return found
