"""The classic pcap format, with microseconds or nanoseconds, in either byte order."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import BinaryIO

from gns3server_copilot.packets.records import SECOND, CaptureError, Record

#: Byte order, nanoseconds of the time's fraction, length of a record's header, by the file's first bytes.
MAGICS = {
    b"\xd4\xc3\xb2\xa1": ("<", 1000, 16),
    b"\xa1\xb2\xc3\xd4": (">", 1000, 16),
    b"\x4d\x3c\xb2\xa1": ("<", 1, 16),
    b"\xa1\xb2\x3c\x4d": (">", 1, 16),
    # written by an old patched libpcap: the same with 8 more bytes in each record's header
    b"\x34\xcd\xb2\xa1": ("<", 1000, 24),
    b"\xa1\xb2\xcd\x34": (">", 1000, 24),
}
FILE_HEADER = 24
#: No link has longer frames; a length above it is damage (libpcap's limit for D-Bus, its largest one, is 128 MB).
LONGEST_FRAME = 262_144
CHUNK = 1 << 20

Note = Callable[[str], None]

CUT = "The last packet is incomplete: the capture is still being written, or was cut."


def read(file: BinaryIO, size: int, note: Note) -> Iterator[Record]:
    """Give the records of a file whose first `size` bytes count. Raises CaptureError for an unknown version."""
    header = file.read(min(FILE_HEADER, size))
    if len(header) < FILE_HEADER:
        note("The file's header is not complete yet.")
        return
    order, unit, head_size = MAGICS[header[:4]]
    major, _minor, _zone, _accuracy, _snap, network = struct.unpack_from(f"{order}HHiIII", header, 4)
    if major != 2:
        raise CaptureError(f"This pcap file is of version {major}, which is not known.")
    # the upper bits say whether frames end with a checksum
    link_type = network & 0x03FFFFFF
    head = struct.Struct(f"{order}IIII")
    left = size - FILE_HEADER
    buffer, at = b"", 0
    while True:
        if len(buffer) - at < head_size:
            buffer, at = buffer[at:] + file.read(min(CHUNK, left - (len(buffer) - at))), 0
            if len(buffer) < head_size:
                break
        seconds, fraction, captured, length = head.unpack_from(buffer, at)
        if captured > LONGEST_FRAME:
            note(f"The file is damaged after {size - left} bytes: a packet of {captured} bytes cannot be.")
            return
        end = at + head_size + captured
        if end > len(buffer):
            buffer, at = buffer[at:] + file.read(min(max(CHUNK, captured), left - (len(buffer) - at))), 0
            end = head_size + captured
            if end > len(buffer):
                break
        yield Record(seconds * SECOND + fraction * unit, length, buffer[at + head_size : end], link_type)
        left -= end - at
        at = end
    if left:
        note(CUT)
