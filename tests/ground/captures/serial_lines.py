"""Frames of every link type that is read, and of some that are only named."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import Any

from scapy.layers.inet import ICMP, IP
from scapy.layers.inet6 import IPv6

from gns3server_copilot.packets.layers.serial import SLARP, CiscoHDLC, FrameRelay
from tests.ground.captures.build import A, B

ECHO = bytes(IP(src=A, dst=B) / ICMP(id=1, seq=1))
ECHO6 = bytes(IPv6(src="fe80::1", dst="fe80::2", nh=59))


@dataclass(frozen=True)
class Line:
    """Frames of one link type, the protocols in them, and what is told when one is asked about."""

    name: str
    link_type: int
    frames: list[Any]
    protocols: dict[str, int]
    asked: str = ""
    values: dict[str, Any] = field(default_factory=dict)


PPP_FRAME = b"\xff\x03\x00\x21" + ECHO
LINES = [
    Line(
        "BSD loopback",
        0,
        [struct.pack("<I", 2) + ECHO, struct.pack(">I", 30) + ECHO6],
        {"null": 2, "ipv4": 1, "icmp": 1, "ipv6": 1},
    ),
    Line("PPP", 9, [PPP_FRAME, b"\x21" + ECHO], {"ppp": 2, "ipv4": 2, "icmp": 2}, "ppp", {"protocol": "IPv4"}),
    Line(
        "PPP in HDLC-like framing",
        50,
        [PPP_FRAME, bytes(CiscoHDLC()) + ECHO],
        {"ppp": 2, "ipv4": 2, "icmp": 2},
        "icmp",
        {"type": "echo-request"},
    ),
    Line("raw IP", 101, [ECHO, ECHO6], {"raw_ip": 2, "ipv4": 1, "icmp": 1, "ipv6": 1}),
    Line(
        "Cisco HDLC",
        104,
        [bytes(CiscoHDLC(address=0x8F, proto=0x8035) / SLARP(mysequence=5, yoursequence=4)), bytes(CiscoHDLC()) + ECHO],
        {"hdlc": 2, "slarp": 1, "ipv4": 1, "icmp": 1},
        "hdlc",
        {"slarp_type": "Keepalive", "slarp_my_sequence": 5, "address": "multicast"},
    ),
    Line(
        "Frame Relay",
        107,
        [
            bytes(FrameRelay(dlci_high=102 >> 4, dlci_low=102 & 15, fecn=1)) + ECHO,
            bytes(FrameRelay())[:2] + b"\x03\xcc" + ECHO,
        ],
        {"frame_relay": 2, "ipv4": 2, "icmp": 2},
        "frame_relay",
        {"dlci": 102, "protocol": 0x0800, "fecn": True},
    ),
    Line(
        "Linux cooked capture v1",
        113,
        [struct.pack("!HHH8sH", 0, 1, 6, bytes(8), 0x0800) + ECHO],
        {"linux_sll": 1, "ipv4": 1, "icmp": 1},
    ),
    Line(
        "Linux cooked capture v2",
        276,
        [struct.pack("!HHIHBB8s", 0x0800, 0, 1, 1, 0, 6, bytes(8)) + ECHO],
        {"linux_sll2": 1, "ipv4": 1, "icmp": 1},
    ),
    Line("raw IPv4", 228, [ECHO], {"ipv4": 1, "icmp": 1}),
    Line("raw IPv6", 229, [ECHO6], {"ipv6": 1}),
    Line("IEEE 802.15.4", 195, [b"abc", b"def"], {}),
    Line("link type 299", 299, [b"abc"], {}),
]
