"""Ethernet, ARP, IPv4, ICMP and UDP as they are on the wire.

Every class has `parse(data)`, which raises FrameError for what is cut short or malformed, and `pack()`.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from ipaddress import IPv4Address

BROADCAST = b"\xff" * 6
NO_MAC = b"\x00" * 6

ETHERTYPE_IPV4 = 0x0800
ETHERTYPE_ARP = 0x0806

PROTOCOL_ICMP = 1
PROTOCOL_UDP = 17
PROTOCOL_OSPF = 89

ARP_REQUEST = 1
ARP_REPLY = 2

ICMP_ECHO_REPLY = 0
ICMP_UNREACHABLE = 3
ICMP_ECHO_REQUEST = 8
ICMP_TIME_EXCEEDED = 11

UNREACHABLE_NETWORK = 0
UNREACHABLE_HOST = 1
UNREACHABLE_PORT = 3

_SHORTEST_FRAME = 60


class FrameError(ValueError):
    """The bytes are not what they should be."""


def checksum(data: bytes) -> int:
    """The Internet checksum (RFC 1071) of `data`."""
    if len(data) % 2:
        data += b"\x00"
    total: int = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def mac_text(mac: bytes) -> str:
    """`0c:7c:4f:80:00:00`"""
    return mac.hex(":")


def multicast_mac(group: IPv4Address) -> bytes:
    """The Ethernet address of an IPv4 multicast group (RFC 1112)."""
    return (0x01005E000000 | int(group) & 0x7FFFFF).to_bytes(6, "big")


@dataclass(frozen=True, slots=True)
class Ethernet:
    destination: bytes
    source: bytes
    ethertype: int
    payload: bytes

    @classmethod
    def parse(cls, data: bytes) -> Ethernet:
        if len(data) < 14:
            raise FrameError("shorter than an Ethernet header")
        return cls(data[:6], data[6:12], int.from_bytes(data[12:14], "big"), data[14:])

    def pack(self) -> bytes:
        frame = self.destination + self.source + self.ethertype.to_bytes(2, "big") + self.payload
        return frame.ljust(_SHORTEST_FRAME, b"\x00")


@dataclass(frozen=True, slots=True)
class Arp:
    operation: int
    sender_mac: bytes
    sender_ip: IPv4Address
    target_mac: bytes
    target_ip: IPv4Address

    FORMAT = struct.Struct("!HHBBH6s4s6s4s")

    @classmethod
    def parse(cls, data: bytes) -> Arp:
        if len(data) < cls.FORMAT.size:
            raise FrameError("shorter than an ARP packet")
        hardware, protocol, hardware_size, protocol_size, operation, *addresses = cls.FORMAT.unpack_from(data)
        if (hardware, protocol, hardware_size, protocol_size) != (1, ETHERTYPE_IPV4, 6, 4):
            raise FrameError("not ARP for IPv4 over Ethernet")
        sender_mac, sender_ip, target_mac, target_ip = addresses
        return cls(operation, sender_mac, IPv4Address(sender_ip), target_mac, IPv4Address(target_ip))

    def pack(self) -> bytes:
        return self.FORMAT.pack(
            1,
            ETHERTYPE_IPV4,
            6,
            4,
            self.operation,
            self.sender_mac,
            self.sender_ip.packed,
            self.target_mac,
            self.target_ip.packed,
        )


@dataclass(frozen=True, slots=True)
class IPv4Packet:
    source: IPv4Address
    destination: IPv4Address
    protocol: int
    payload: bytes
    ttl: int = 255
    identification: int = 0
    tos: int = 0

    FORMAT = struct.Struct("!BBHHHBBH4s4s")

    @classmethod
    def parse(cls, data: bytes) -> IPv4Packet:
        """Raises FrameError for a wrong checksum too, as a router would drop it."""
        if len(data) < 20:
            raise FrameError("shorter than an IPv4 header")
        version_ihl, tos, length, identification, _, ttl, protocol, _, source, destination = cls.FORMAT.unpack_from(
            data
        )
        header = (version_ihl & 0x0F) * 4
        if version_ihl >> 4 != 4 or header < 20 or not header <= length <= len(data):
            raise FrameError("not a whole IPv4 packet")
        if checksum(data[:header]):
            raise FrameError("wrong IPv4 header checksum")
        return cls(
            IPv4Address(source), IPv4Address(destination), protocol, data[header:length], ttl, identification, tos
        )

    def pack(self) -> bytes:
        def header(header_checksum: int) -> bytes:
            return self.FORMAT.pack(
                0x45,
                self.tos,
                20 + len(self.payload),
                self.identification,
                0,
                self.ttl,
                self.protocol,
                header_checksum,
                self.source.packed,
                self.destination.packed,
            )

        return header(checksum(header(0))) + self.payload


@dataclass(frozen=True, slots=True)
class Icmp:
    type: int
    code: int
    identifier: int = 0
    sequence: int = 0
    payload: bytes = b""
    """The echo's data; for errors the IPv4 header and the first bytes of the packet they are about."""

    FORMAT = struct.Struct("!BBHHH")

    @classmethod
    def parse(cls, data: bytes) -> Icmp:
        if len(data) < 8:
            raise FrameError("shorter than an ICMP header")
        if checksum(data):
            raise FrameError("wrong ICMP checksum")
        type_, code, _, identifier, sequence = cls.FORMAT.unpack_from(data)
        return cls(type_, code, identifier, sequence, data[8:])

    def quoted(self) -> IPv4Packet:
        """The packet that an error is about, as far as it is quoted."""
        if len(self.payload) < 28:
            raise FrameError("quotes less than a header and 8 bytes")
        fields = IPv4Packet.FORMAT.unpack_from(self.payload)
        _, tos, _, identification, _, ttl, protocol, _, source, destination = fields
        rest = self.payload[20:]
        return IPv4Packet(IPv4Address(source), IPv4Address(destination), protocol, rest, ttl, identification, tos)

    def pack(self) -> bytes:
        fields = (self.type, self.code, 0, self.identifier, self.sequence)
        body = self.FORMAT.pack(*fields) + self.payload
        return body[:2] + checksum(body).to_bytes(2, "big") + body[4:]


@dataclass(frozen=True, slots=True)
class Udp:
    source_port: int
    destination_port: int
    payload: bytes = b""

    FORMAT = struct.Struct("!HHHH")

    @classmethod
    def parse(cls, data: bytes) -> Udp:
        """Takes what an ICMP error quotes of a datagram as well: the header is enough."""
        if len(data) < 8:
            raise FrameError("shorter than a UDP header")
        source_port, destination_port, length, _ = cls.FORMAT.unpack_from(data)
        return cls(source_port, destination_port, data[8:length])

    def pack(self) -> bytes:
        # A checksum of 0 says that there is none (RFC 768).
        return self.FORMAT.pack(self.source_port, self.destination_port, 8 + len(self.payload), 0) + self.payload
