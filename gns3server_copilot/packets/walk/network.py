"""Network layer and tunnels: IP with its extension headers, GRE, MPLS, ERSPAN."""

from __future__ import annotations

from gns3server_copilot.packets.walk.links import by_ethertype
from gns3server_copilot.packets.walk.steps import Layer, MalformedError, State, handles, u16

PROTOCOLS = {
    1: "icmp",
    2: "igmp",
    4: "ipv4",
    6: "tcp",
    17: "udp",
    41: "ipv6",
    46: "rsvp",
    47: "gre",
    50: "esp",
    51: "ah",
    58: "icmpv6",
    88: "eigrp",
    89: "ospf",
    97: "ethernet_over_ip",
    103: "pim",
    108: "ipcomp",
    112: "vrrp",
    113: "pgm",
    115: "l2tp",
    124: "isis_over_ip",
    132: "sctp",
    137: "mpls",
}
#: IPv6 headers that another header follows.
EXTENSIONS = {0: "ipv6_hop_by_hop", 43: "ipv6_routing", 60: "ipv6_destination", 135: "ipv6_mobility"}
FRAGMENT = 44
IPV6_HEADER = 40


def by_protocol(number: int, at: int, end: int) -> Layer | None:
    """Give the layer that an IP protocol number announces."""
    name = PROTOCOLS.get(number)
    return None if name is None else Layer(name, at, end)


@handles("ipv4")
def ipv4(data: bytes, at: int, end: int, state: State) -> Layer | None:
    """A fragment that is not the first has no header behind it."""
    if data[at] >> 4 != 4:
        raise MalformedError
    header = (data[at] & 15) * 4
    total = u16(data, at + 2)
    # network cards that cut segments themselves leave the length at 0
    if header < 20 or 0 < total < header:
        raise MalformedError
    stop = min(end, at + total) if total else end
    state.source, state.destination = data[at + 12 : at + 16], data[at + 16 : at + 20]
    fragment = u16(data, at + 6)
    if fragment & 0x3FFF:
        state.fragment = True
        if fragment & 0x1FFF:
            return None
    number = data[at + 9]
    return by_protocol(number, at + header, stop)


@handles("vj_uncompressed")
def vj_uncompressed(data: bytes, at: int, end: int, state: State) -> Layer | None:
    """An IPv4 packet that carries TCP, its protocol replaced by the number of a slot."""
    state.source, state.destination = data[at + 12 : at + 16], data[at + 16 : at + 20]
    return Layer("tcp", at + (data[at] & 15) * 4, min(end, at + u16(data, at + 2)))


@handles("ipv6")
def ipv6(data: bytes, at: int, end: int, state: State) -> Layer | None:
    """Extension headers are layers of their own."""
    if data[at] >> 4 != 6:
        raise MalformedError
    length = u16(data, at + 4)
    stop = min(end, at + IPV6_HEADER + length) if length else end
    state.source, state.destination = data[at + 8 : at + 24], data[at + 24 : at + 40]
    return _after_ipv6(data[at + 6], at + IPV6_HEADER, stop)


@handles(*EXTENSIONS.values())
def ipv6_extension(data: bytes, at: int, end: int, state: State) -> Layer | None:
    """Next header, length in units of eight bytes."""
    state.peeked = True
    return _after_ipv6(data[at], at + 8 * (data[at + 1] + 1), end)


@handles("ipv6_fragment")
def ipv6_fragment(data: bytes, at: int, end: int, state: State) -> Layer | None:
    """Eight bytes; what is not the first fragment has no header behind it."""
    state.peeked = True
    offset = u16(data, at + 2)
    # a fragment that is the whole packet is none
    state.fragment = state.fragment or bool(offset & 0xFFF9)
    return None if offset & 0xFFF8 else _after_ipv6(data[at], at + 8, end)


def _after_ipv6(number: int, at: int, end: int) -> Layer | None:
    name = "ipv6_fragment" if number == FRAGMENT else EXTENSIONS.get(number)
    if name is None:
        name = "ospfv3" if number == 89 else PROTOCOLS.get(number)
    return None if name is None else Layer(name, at, end)


@handles("ah")
def ah(data: bytes, at: int, end: int, state: State) -> Layer | None:
    """An authentication header; what follows is in the clear."""
    state.peeked = True
    return by_protocol(data[at], at + 4 * (data[at + 1] + 2), end)


@handles("igmp")
def igmp(data: bytes, at: int, end: int, state: State) -> Layer | None:
    """Two old protocols are IGMP types."""
    state.peeked = True
    if data[at] == 0x13:
        return Layer("dvmrp", at, end)
    return Layer("rgmp", at, end) if data[at] >= 0xFC else None


@handles("icmp")
def icmp(data: bytes, at: int, end: int, state: State) -> Layer | None:
    """Errors quote the packet that they are about."""
    if data[at] not in (3, 4, 5, 11, 12):
        return None
    state.peeked = True
    return Layer("ipv4", at + 8, end) if at + 28 <= end else None


@handles("icmpv6")
def icmpv6(data: bytes, at: int, end: int, state: State) -> Layer | None:
    """As in IPv4; errors are the types below 128."""
    if data[at] not in (1, 2, 3, 4):
        return None
    state.peeked = True
    return Layer("ipv6", at + 8, end) if at + 48 <= end else None


@handles("gre")
def gre(data: bytes, at: int, end: int, state: State) -> Layer | None:
    """Optional checksum, key and sequence number; version 1 is PPTP's and carries PPP."""
    state.peeked = True
    flags, number = u16(data, at), u16(data, at + 2)
    body = at + 4
    if flags & 0xC000:
        body += 4
    if flags & 0x2000:
        body += 4
    sequence = bool(flags & 0x1000)
    if sequence:
        body += 4
    state.erspan_type = 3
    if flags & 7 == 1:
        body += 4 if flags & 0x80 else 0
        return Layer("ppp", body, end) if body < end else None
    if body >= end:
        return None
    if number == 0x88BE:
        # without a sequence number it is type I, which has no header of its own
        state.erspan_type = 2 if sequence else 1
    name = {0x88BE: "erspan", 0x22EB: "erspan", 0x2001: "nhrp", 0x6558: "ethernet", 0xFEFE: "osi", 0x880B: "ppp"}.get(
        number
    )
    return Layer(name, body, end) if name else by_ethertype(number, body, end)


@handles("erspan")
def erspan(data: bytes, at: int, end: int, state: State) -> Layer | None:
    """Type II has eight bytes, type III twelve, and eight more when the last bit says so."""
    if state.erspan_type == 3:
        frame_type = data[at + 10] >> 2 & 0x1F
        body = at + 12 + (8 if data[at + 11] & 1 else 0)
        return Layer("ethernet", body, end) if frame_type == 0 else None
    return Layer("ethernet", at + (8 if state.erspan_type == 2 else 0), end)


@handles("mpls")
def mpls(data: bytes, at: int, end: int, state: State) -> Layer | None:
    """One label; behind the last one only the first half byte says what is carried."""
    state.peeked = True
    if not data[at + 2] & 1:
        return Layer("mpls", at + 4, end)
    body = at + 4
    half = data[body] >> 4
    if half in (4, 6):
        return Layer("ipv4" if half == 4 else "ipv6", body, end)
    if half == 0:
        return Layer("pseudowire", body, end)
    return None


@handles("pseudowire")
def pseudowire(data: bytes, at: int, end: int, state: State) -> Layer | None:
    """The control word; most pseudowires carry Ethernet."""
    return Layer("ethernet", at + 4, end) if end - at >= 18 else None
