"""What a capture file holds: packet records, and remarks on what is missing or odd."""

from __future__ import annotations

from typing import NamedTuple

#: Nanoseconds of a second.
SECOND = 1_000_000_000


class Record(NamedTuple):
    """One captured frame. `time` is in nanoseconds since 1970, 0 where the capture has none; `data` may be cut."""

    time: int
    #: length on the wire, in bytes
    length: int
    data: bytes
    #: LINKTYPE number of the interface that it was captured on
    link_type: int


class CaptureError(Exception):
    """The file is not a capture that can be read; the message is for people."""
