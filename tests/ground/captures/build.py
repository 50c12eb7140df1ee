"""What captures are made with: capture files, frames around a payload, cases."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import LLC, SNAP, Dot1Q, Dot3, Ether
from scapy.packet import Packet, Raw

#: A frame, or its time in seconds with it.
Timed = tuple[float, bytes]
START = 1_700_000_000

MAC_A, MAC_B = "02:00:00:00:00:0a", "02:00:00:00:00:0b"
A, B, C = "10.0.0.1", "10.0.0.2", "10.0.0.3"


@dataclass(frozen=True)
class Case:
    """A finding, with a capture that has it and one that has not. Frames without a time are one second apart."""

    finding: str
    protocol: str
    bad: list[bytes | Timed]
    good: list[bytes | Timed]
    link_type: int = 1
    #: whether it shows in a summary only
    summary: bool = False
    tshark: str = field(default="")


def pcap(frames: Iterable[bytes | Timed], link_type: int = 1, order: str = "<", nanoseconds: bool = False) -> bytes:
    """Give a capture file with these frames."""
    magic = 0xA1B23C4D if nanoseconds else 0xA1B2C3D4
    unit = 1_000_000_000 if nanoseconds else 1_000_000
    parts = [struct.pack(f"{order}IHHiIII", magic, 2, 4, 0, 0, 262144, link_type)]
    for number, frame in enumerate(frames):
        time, data = frame if isinstance(frame, tuple) else (float(number), frame)
        ticks = round(time * unit)
        parts.append(struct.pack(f"{order}IIII", START + ticks // unit, ticks % unit, len(data), len(data)) + data)
    return b"".join(parts)


def write(path: Path, frames: Iterable[bytes | Timed], link_type: int = 1) -> Path:
    """Write a capture file and give its path."""
    path.write_bytes(pcap(frames, link_type))
    return path


def ether(payload: Packet | bytes, kind: int = 0x0800, src: str = MAC_A, dst: str = MAC_B, vlan: int = 0) -> bytes:
    """Give an Ethernet frame with an EtherType, tagged when a VLAN is given."""
    inner = payload if isinstance(payload, Packet) else Raw(payload)
    if vlan:
        return bytes(Ether(src=src, dst=dst) / Dot1Q(vlan=vlan, type=kind) / inner)
    return bytes(Ether(src=src, dst=dst, type=kind) / inner)


def ip(src: str, dst: str, protocol: int, payload: Packet | bytes, ttl: int = 64, mac: str = MAC_A) -> bytes:
    """Give an Ethernet frame with an IP packet of either version."""
    inner = payload if isinstance(payload, Packet) else Raw(payload)
    if ":" in src:
        return ether(IPv6(src=src, dst=dst, nh=protocol, hlim=ttl) / inner, 0x86DD, mac)
    return ether(IP(src=src, dst=dst, proto=protocol, ttl=ttl) / inner, 0x0800, mac)


def udp(src: str, dst: str, port: int, payload: Packet | bytes, sport: int = 0) -> bytes:
    """Give a frame with a UDP datagram to a port, from the same port unless another is given."""
    inner = payload if isinstance(payload, Packet) else Raw(payload)
    header = IPv6(src=src, dst=dst) if ":" in src else IP(src=src, dst=dst)
    return ether(header / UDP(sport=sport or port, dport=port) / inner, 0x86DD if ":" in src else 0x0800)


def tcp(
    src: str,
    dst: str,
    sport: int,
    dport: int,
    flags: str,
    seq: int,
    ack: int = 0,
    payload: bytes = b"",
    window: int = 8192,
) -> bytes:
    """Give a frame with a TCP segment."""
    segment = TCP(sport=sport, dport=dport, flags=flags, seq=seq, ack=ack, window=window)
    return ether(IP(src=src, dst=dst) / segment / Raw(payload))


def llc(payload: Packet | bytes, service: int = 0x42, src: str = MAC_A, dst: str = "01:80:c2:00:00:00") -> bytes:
    """Give an IEEE 802.3 frame with LLC."""
    inner = payload if isinstance(payload, Packet) else Raw(payload)
    return bytes(Dot3(src=src, dst=dst) / LLC(dsap=service, ssap=service, ctrl=3) / inner)


def cisco(payload: Packet | bytes, code: int, src: str = MAC_A, dst: str = "01:00:0c:cc:cc:cc") -> bytes:
    """Give a frame with one of Cisco's protocols on SNAP."""
    inner = payload if isinstance(payload, Packet) else Raw(payload)
    return bytes(Dot3(src=src, dst=dst) / LLC(dsap=0xAA, ssap=0xAA, ctrl=3) / SNAP(OUI=0x00000C, code=code) / inner)


def tlv(kind: int, value: bytes, head: str = "!HH", inclusive: bool = True) -> bytes:
    """Give a TLV; most of Cisco's count their own heads."""
    return struct.pack(head, kind, len(value) + (struct.calcsize(head) if inclusive else 0)) + value


def address(text: str) -> bytes:
    """Give an IPv4 address as bytes."""
    return bytes(map(int, text.split(".")))


def mac(text: str) -> bytes:
    """Give a MAC address as bytes."""
    return bytes.fromhex(text.replace(":", ""))
