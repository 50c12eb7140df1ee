"""Hands the TCP segments of frames to a tracker."""

from __future__ import annotations

import struct
from typing import Any

from gns3server_copilot.packets.addresses import endpoint_text, ip_text
from gns3server_copilot.packets.tcp import HALF, MASK, Counts, TcpTracker
from gns3server_copilot.packets.walk.frame import Frame
from gns3server_copilot.packets.walk.steps import u16, u32

SEGMENT = struct.Struct("!HHIIBBH")


def feed(tracker: TcpTracker, frame: Frame) -> None:
    """Show a frame's segments to the tracker; those of quoted packets and cut headers are none."""
    data = frame.data
    addresses = b"", b""
    for layer in frame.own_layers:
        at = layer.start
        if layer.protocol == "ipv4":
            addresses = data[at + 12 : at + 16], data[at + 16 : at + 20]
        elif layer.protocol == "ipv6":
            addresses = data[at + 8 : at + 24], data[at + 24 : at + 40]
        elif layer.protocol == "vj_uncompressed":
            addresses = data[at + 12 : at + 16], data[at + 16 : at + 20]
        elif layer.protocol == "tcp" and layer.end >= at + 20:
            _, _, seq, ack, offset, flags, window = SEGMENT.unpack_from(data, at)
            # what was cut by the capture was on the wire all the same
            end = layer.end + (frame.record.length - len(data) if layer.end == len(data) else 0)
            tracker.segment(
                frame.number,
                frame.record.time,
                addresses[0] + data[at : at + 2],
                addresses[1] + data[at + 2 : at + 4],
                seq,
                ack,
                flags,
                window,
                max(0, end - at - (offset >> 4) * 4),
            )


class Repetitions:
    """Knows which segments bring data that an earlier one has brought already."""

    def __init__(self) -> None:
        self._seen: dict[tuple[bytes, bytes], int] = {}

    def is_repetition(self, frame: Frame, protocol: str) -> bool:
        """Whether the frame carries `protocol` over TCP, and nothing new of it."""
        layers = frame.own_layers
        for index, layer in enumerate(layers[:-1]):
            if layer.protocol == "tcp" and layers[index + 1].protocol == protocol and index:
                data, at = frame.data, layer.start
                below = layers[index - 1].start
                ends = data[below + 12 : below + 20] if layers[index - 1].protocol == "ipv4" else data[below + 8 : at]
                key = (ends, data[at : at + 4])
                seq = u32(data, at + 4)
                end = (seq + layer.end - layers[index + 1].start) & MASK
                highest = self._seen.get(key)
                if highest is not None and not 0 < ((end - highest) & MASK) < HALF:
                    return True
                self._seen[key] = end
        return False


def end_text(end: bytes) -> str:
    """An end of a connection as address and port."""
    return endpoint_text(ip_text(end[:-2]), u16(end, len(end) - 2))


def facts_of(counts: Counts) -> dict[str, Any]:
    """Give the counts that are not zero by name."""
    named = {
        "frames": counts.frames,
        "streams": counts.streams,
        "streams_with_full_handshake": counts.full_handshakes,
        "syn_frames": counts.syn,
        "synack_frames": counts.syn_ack,
        "fin_frames": counts.fin,
        "rst_frames": counts.rst,
        "retransmissions": counts.retransmissions,
        "fast_retransmissions": counts.fast_retransmissions,
        "spurious_retransmissions": counts.spurious_retransmissions,
        "out_of_order": counts.out_of_order,
        "lost_segment": counts.lost_segments,
        "dup_acks": counts.duplicate_acks,
        "zero_windows": counts.zero_windows,
        "keepalives": counts.keepalives,
        "server_ports": sorted(counts.server_ports)[:40],
    }
    return {name: value for name, value in named.items() if value}
