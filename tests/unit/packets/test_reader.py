"""Capture files of every kind, whole and broken."""

from __future__ import annotations

import io
import struct

import pytest

from gns3server_copilot.packets.reader import Capture
from gns3server_copilot.packets.records import CaptureError
from tests.ground.captures.build import START, pcap
from tests.ground.captures.pcapng import block, interface, packet, section

FRAMES = [b"a" * 60, b"b" * 61, b"c" * 1500]
CUT = "The last packet is incomplete: the capture is still being written, or was cut."
NOTHING = "There are no packets in it yet."


def read(raw: bytes) -> tuple[list[bytes], list[str]]:
    """Give the frames and the remarks."""
    capture = Capture(io.BytesIO(raw))
    return [record.data for record in capture.records()], capture.notes


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("nanoseconds", [False, True])
def test_pcap_of_both_byte_orders_and_units(order: str, nanoseconds: bool) -> None:
    raw = pcap([(0.25, FRAMES[0]), (1.5, FRAMES[1])], order=order, nanoseconds=nanoseconds)
    records = list(Capture(io.BytesIO(raw)).records())
    assert [record.data for record in records] == FRAMES[:2]
    assert [record.time for record in records] == [START * 10**9 + 250_000_000, START * 10**9 + 1_500_000_000]
    assert {record.link_type for record in records} == {1}


def test_an_empty_file_and_one_with_a_header_alone_have_no_packets_yet() -> None:
    assert read(b"") == ([], [NOTHING])
    assert read(pcap([])) == ([], [NOTHING])
    assert read(pcap([])[:10]) == ([], ["The file's header is not complete yet.", NOTHING])
    assert read(pcap([])[:2])[0] == []


def test_every_cut_gives_the_packets_before_it_and_says_so() -> None:
    whole = pcap(FRAMES)
    ends = [24]
    for frame in FRAMES:
        ends.append(ends[-1] + 16 + len(frame))
    for length in range(24, len(whole) + 1):
        frames, notes = read(whole[:length])
        complete = sum(end <= length for end in ends) - 1
        assert frames == FRAMES[:complete]
        assert (CUT in notes) == (length not in ends)


def test_what_is_no_capture_is_refused_in_words() -> None:
    with pytest.raises(CaptureError, match="not a packet capture"):
        read(b"GIF89a" + bytes(100))
    with pytest.raises(CaptureError, match="version 9"):
        read(pcap([])[:4] + b"\x09\x00" + pcap([])[6:])


def test_damage_ends_the_reading_and_is_told() -> None:
    raw = bytearray(pcap(FRAMES))
    raw[24 + 16 + 60 + 8 : 24 + 16 + 60 + 12] = b"\xff\xff\xff\x7f"
    frames, notes = read(bytes(raw))
    assert frames == FRAMES[:1]
    assert "The file is damaged after 100 bytes" in notes[0]


def test_large_files_are_read_in_pieces() -> None:
    frames = [bytes([number % 251]) * (1400 + number % 100) for number in range(2000)]
    assert read(pcap(frames)) == (frames, [])


def test_pcapng_with_several_sections_and_interfaces() -> None:
    raw = section("<") + interface("<", 1) + interface("<", 101, 9)
    raw += packet("<", 0, 5_000_000, b"one") + packet("<", 1, 7_000_000_000, b"two")
    raw += section(">") + interface(">", 9, 0x8A) + packet(">", 0, 3 * 1024, b"three") + block(">", 5, bytes(8))
    raw += block(">", 3, struct.pack(">I", 4) + b"four")
    records = list(Capture(io.BytesIO(raw)).records())
    assert [(record.data, record.link_type, record.time // 10**9) for record in records] == [
        (b"one", 1, 5),
        (b"two", 101, 7),
        (b"three", 9, 3),
        (b"four", 9, 0),
    ]
    for length in range(len(raw)):
        capture = Capture(io.BytesIO(raw[:length]))
        assert [record.data for record in capture.records()] == [r.data for r in records][
            : len(list(capture.records()))
        ]


def test_a_frame_whose_time_no_calendar_has_is_one_without_time() -> None:
    raw = section("<") + interface("<", 1, 0) + packet("<", 0, 2**64 - 1, b"one") + packet("<", 0, 5, b"two")
    shift = struct.pack("<HHqHH", 14, 8, -(2**62), 0, 0)
    raw += block("<", 1, struct.pack("<HHI", 1, 0, 0) + shift) + packet("<", 1, 5, b"three")
    assert [record.time for record in Capture(io.BytesIO(raw)).records()] == [0, 5 * 10**9, 0]


def test_broken_pcapng_blocks_are_left_out_or_end_the_file() -> None:
    good = section("<") + interface("<", 1) + packet("<", 0, 1, b"one")
    assert read(good + packet("<", 7, 1, b"two") + packet("<", 0, 1, b"three")) == (
        [b"one", b"three"],
        ["Damaged blocks of the file were left out."],
    )
    frames, notes = read(good + struct.pack("<II", 6, 7))
    assert frames == [b"one"]
    assert notes == [CUT]
    frames, notes = read(good + struct.pack("<III", 6, 9, 9))
    assert "cannot be" in notes[0]
