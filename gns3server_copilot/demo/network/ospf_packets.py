"""OSPF version 2 packets (RFC 2328, appendix A): Hello, Link State Request, Update and Acknowledgment.

Database Description is not among them: the scripted routers ask for the whole, small database when an adjacency
comes up.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, replace
from ipaddress import IPv4Address, IPv4Network, NetmaskValueError

from gns3server_copilot.demo.network.frames import FrameError, checksum

ALL_OSPF_ROUTERS = IPv4Address("224.0.0.5")
NO_ADDRESS = IPv4Address(0)

TYPE_HELLO = 1
TYPE_REQUEST = 3
TYPE_UPDATE = 4
TYPE_ACKNOWLEDGMENT = 5

ROUTER_LSA = 1
NETWORK_LSA = 2

LINK_TRANSIT = 2
LINK_STUB = 3

FIRST_SEQUENCE = 0x80000001
MAX_AGE = 3600

OPTION_EXTERNAL = 0x02

_HEADER = struct.Struct("!BBH4s4sHH8s")
_HELLO = struct.Struct("!4sHBBI4s4s")
_LSA_HEADER = struct.Struct("!HBB4s4sIHH")
_ROUTER_LINK = struct.Struct("!4s4sBBH")


def _network(address: IPv4Address, mask: IPv4Address) -> IPv4Network:
    try:
        return IPv4Network((address, str(mask)), strict=False)
    except NetmaskValueError:
        raise FrameError("a network's mask is none") from None


def _addresses(data: bytes) -> tuple[IPv4Address, ...]:
    return tuple(IPv4Address(data[i : i + 4]) for i in range(0, len(data) - 3, 4))


@dataclass(frozen=True, slots=True)
class OspfPacket:
    """The common header and the undecoded rest."""

    type: int
    router_id: IPv4Address
    area: IPv4Address
    body: bytes
    authentication_type: int = 0

    @classmethod
    def parse(cls, data: bytes) -> OspfPacket:
        if len(data) < _HEADER.size:
            raise FrameError("shorter than an OSPF header")
        version, type_, length, router_id, area, _, authentication, _ = _HEADER.unpack_from(data)
        if version != 2 or not _HEADER.size <= length <= len(data):
            raise FrameError("not a whole OSPF version 2 packet")
        # The authentication field is left out of the checksum (RFC 2328, D.4).
        if authentication == 0 and checksum(data[:16] + data[24:length]):
            raise FrameError("wrong OSPF checksum")
        return cls(type_, IPv4Address(router_id), IPv4Address(area), data[24:length], authentication)

    def pack(self) -> bytes:
        def header(packet_checksum: int) -> bytes:
            length = _HEADER.size + len(self.body)
            return _HEADER.pack(2, self.type, length, self.router_id.packed, self.area.packed, packet_checksum, 0, b"")

        return header(checksum(header(0)[:16] + self.body)) + self.body


@dataclass(frozen=True, slots=True)
class Hello:
    mask: IPv4Address
    hello_interval: int
    dead_interval: int
    priority: int
    designated_router: IPv4Address = NO_ADDRESS
    backup_router: IPv4Address = NO_ADDRESS
    neighbors: tuple[IPv4Address, ...] = ()

    @classmethod
    def parse(cls, body: bytes) -> Hello:
        if len(body) < _HELLO.size:
            raise FrameError("shorter than an OSPF hello")
        mask, hello, _, priority, dead, designated, backup = _HELLO.unpack_from(body)
        return cls(
            IPv4Address(mask),
            hello,
            dead,
            priority,
            IPv4Address(designated),
            IPv4Address(backup),
            _addresses(body[_HELLO.size :]),
        )

    def pack(self) -> bytes:
        fixed = _HELLO.pack(
            self.mask.packed,
            self.hello_interval,
            OPTION_EXTERNAL,
            self.priority,
            self.dead_interval,
            self.designated_router.packed,
            self.backup_router.packed,
        )
        return fixed + b"".join(neighbor.packed for neighbor in self.neighbors)


@dataclass(frozen=True, slots=True)
class RouterLink:
    """One link of a router LSA. `id` and `data` by type (RFC 2328, A.4.2): transit: the designated router's
    address and the own one; stub: the network and its mask."""

    type: int
    id: IPv4Address
    data: IPv4Address
    metric: int


@dataclass(frozen=True, slots=True)
class LsaKey:
    type: int
    id: IPv4Address
    advertising_router: IPv4Address


@dataclass(frozen=True, slots=True)
class Lsa:
    key: LsaKey
    sequence: int
    body: bytes
    age: int = 0

    @classmethod
    def parse_all(cls, body: bytes) -> list[Lsa]:
        """The LSAs of a Link State Update's body. What they say can be read, or FrameError is raised."""
        if len(body) < 4:
            raise FrameError("shorter than a Link State Update")
        lsas = []
        offset = 4
        for _ in range(int.from_bytes(body[:4], "big")):
            lsa = cls._parse_header(body[offset:])
            length = int.from_bytes(body[offset + 18 : offset + 20], "big")
            if not _LSA_HEADER.size <= length <= len(body) - offset:
                raise FrameError("an LSA is cut short")
            lsa = replace(lsa, body=body[offset + _LSA_HEADER.size : offset + length])
            lsa.networks()
            lsas.append(lsa)
            offset += length
        return lsas

    @classmethod
    def parse_headers(cls, body: bytes) -> list[Lsa]:
        """The LSA headers of a Link State Acknowledgment's body, as LSAs without a body."""
        return [cls._parse_header(body[i:]) for i in range(0, len(body) - 19, _LSA_HEADER.size)]

    @classmethod
    def _parse_header(cls, data: bytes) -> Lsa:
        if len(data) < _LSA_HEADER.size:
            raise FrameError("shorter than an LSA header")
        age, _, type_, id_, advertising_router, sequence, _, _ = _LSA_HEADER.unpack_from(data)
        key = LsaKey(type_, IPv4Address(id_), IPv4Address(advertising_router))
        return cls(key, sequence, b"", age)

    def pack(self) -> bytes:
        def header(lsa_checksum: int) -> bytes:
            length = _LSA_HEADER.size + len(self.body)
            return _LSA_HEADER.pack(
                self.age,
                OPTION_EXTERNAL,
                self.key.type,
                self.key.id.packed,
                self.key.advertising_router.packed,
                self.sequence,
                lsa_checksum,
                length,
            )

        return header(_fletcher((header(0) + self.body)[2:])) + self.body

    def pack_header(self) -> bytes:
        return self.pack()[: _LSA_HEADER.size]

    def checksum(self) -> int:
        return int.from_bytes(self.pack()[16:18], "big")

    def networks(self) -> list[tuple[IPv4Network, int]]:
        """The networks that the LSA brings, each with its metric."""
        if self.key.type == NETWORK_LSA:
            return [(_network(self.key.id, self.network_mask()), 0)]
        if self.key.type == ROUTER_LSA:
            stubs = [link for link in self.router_links() if link.type == LINK_STUB]
            return [(_network(link.id, link.data), link.metric) for link in stubs]
        return []

    def router_links(self) -> list[RouterLink]:
        """The links of a router LSA."""
        links = []
        offset = 4
        for _ in range(int.from_bytes(self.body[2:4], "big")):
            if len(self.body) - offset < _ROUTER_LINK.size:
                raise FrameError("a router LSA is cut short")
            id_, data, type_, tos_count, metric = _ROUTER_LINK.unpack_from(self.body, offset)
            links.append(RouterLink(type_, IPv4Address(id_), IPv4Address(data), metric))
            offset += _ROUTER_LINK.size + 4 * tos_count
        return links

    def network_mask(self) -> IPv4Address:
        if len(self.body) < 4:
            raise FrameError("a network LSA is cut short")
        return IPv4Address(self.body[:4])

    def attached_routers(self) -> tuple[IPv4Address, ...]:
        return _addresses(self.body[4:])


def router_lsa_body(links: list[RouterLink]) -> bytes:
    packed = [_ROUTER_LINK.pack(link.id.packed, link.data.packed, link.type, 0, link.metric) for link in links]
    return struct.pack("!BBH", 0, 0, len(links)) + b"".join(packed)


def network_lsa_body(mask: IPv4Address, routers: list[IPv4Address]) -> bytes:
    return mask.packed + b"".join(router.packed for router in routers)


def request_body(key: LsaKey) -> bytes:
    return key.type.to_bytes(4, "big") + key.id.packed + key.advertising_router.packed


def update_body(lsas: list[Lsa]) -> bytes:
    return len(lsas).to_bytes(4, "big") + b"".join(lsa.pack() for lsa in lsas)


def acknowledgment_body(lsas: list[Lsa]) -> bytes:
    return b"".join(lsa.pack_header() for lsa in lsas)


def _fletcher(data: bytes) -> int:
    """The LSA checksum (RFC 905, annex B) over an LSA without its age; its checksum field, at 14, must be zero."""
    c0 = c1 = 0
    for octet in data:
        c0 = (c0 + octet) % 255
        c1 = (c1 + c0) % 255
    behind = len(data) - 15
    x = (behind * c0 - c1) % 255 or 255
    y = (510 - c0 - x) % 255 or 255
    return x << 8 | y
