"""TCP and UDP."""

from __future__ import annotations

import struct

from gns3server_copilot.packets.dissect.base import Context, Fields, dissects, u16, u32

FLAGS = ((0x02, "SYN"), (0x10, "ACK"), (0x01, "FIN"), (0x04, "RST"), (0x08, "PSH"), (0x20, "URG"))


@dissects("tcp", "sport dport seq ack flags window payload mss window_scale sack_permitted timestamps md5 syn fin rst")
def tcp(data: bytes, context: Context) -> list[Fields]:
    """The header; `flags` as SYN,ACK. Sequence numbers are as on the wire."""
    sport, dport, seq, ack, offset, flags, window = struct.unpack_from("!HHIIBBH", data)
    header = (offset >> 4) * 4
    found: Fields = {
        "sport": sport,
        "dport": dport,
        "seq": seq,
        "ack": ack,
        "flags": ",".join(name for bit, name in FLAGS if flags & bit),
        "window": window,
        "payload": max(0, len(data) - header),
        "syn": bool(flags & 2),
        "fin": bool(flags & 1),
        "rst": bool(flags & 4),
    }
    for kind, value in _options(data[20:header]):
        if kind == 2 and len(value) == 2:
            found["mss"] = u16(value)
        elif kind == 3 and value:
            found["window_scale"] = value[0]
        elif kind == 4:
            found["sack_permitted"] = True
        elif kind == 8 and len(value) == 8:
            found["timestamps"] = [u32(value), u32(value, 4)]
        elif kind == 19:
            found["md5"] = True
    return [found]


def _options(raw: bytes) -> list[tuple[int, bytes]]:
    found = []
    at = 0
    while at < len(raw) and raw[at]:
        if raw[at] == 1:
            at += 1
            continue
        length = raw[at + 1] if at + 1 < len(raw) else 0
        if length < 2:
            break
        found.append((raw[at], raw[at + 2 : at + length]))
        at += length
    return found


@dissects("udp", "sport dport length payload")
def udp(data: bytes, context: Context) -> list[Fields]:
    """The header."""
    sport, dport, length = struct.unpack_from("!HHH", data)
    return [{"sport": sport, "dport": dport, "length": length, "payload": max(0, len(data) - 8)}]
