"""Reads capture files record by record: pcap and pcapng of any byte order, whole, cut or still growing.

A capture is often read while ubridge writes it, so its last record may be half there, and a file of ubridge stays
empty until the first packet. Neither is an error.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from gns3server_copilot.packets import pcap, pcapng
from gns3server_copilot.packets.records import CaptureError, Record

NO_PACKETS = "There are no packets in it yet."


class Capture:
    """A capture file, read as far as it went when it was opened.

    `notes` say what is missing or odd; they are complete once the records have been read. `records` may be asked for
    again and gives the same frames. Raises CaptureError for a file that is no capture.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.size = file.seek(0, 2)
        self.notes: list[str] = []
        self.kind = self._kind()

    def _kind(self) -> str:
        self._file.seek(0)
        magic = self._file.read(min(4, self.size))
        if not magic:
            self.note(NO_PACKETS)
            return "empty"
        if magic == pcapng.SECTION_MAGIC:
            return "pcapng"
        if magic in pcap.MAGICS:
            return "pcap"
        if any(known.startswith(magic) for known in (*pcap.MAGICS, pcapng.SECTION_MAGIC)):
            self.note("The file's header is not complete yet.")
            return "empty"
        raise CaptureError("This is not a packet capture: it begins neither as a pcap nor as a pcapng file.")

    def records(self) -> Iterator[Record]:
        """Give the frames in the order of the file."""
        self._file.seek(0)
        reader = {"pcap": pcap.read, "pcapng": pcapng.read, "empty": _nothing}[self.kind]
        seen = False
        for record in reader(self._file, self.size, self.note):
            seen = True
            yield record
        if not seen:
            self.note(NO_PACKETS)

    def note(self, remark: str) -> None:
        """Keep a remark, each once."""
        if remark not in self.notes:
            self.notes.append(remark)


def _nothing(file: BinaryIO, size: int, note: object) -> Iterator[Record]:
    return iter(())
