"""Link layers: what capture files begin frames with, and what carries an EtherType."""

from __future__ import annotations

import sys

from gns3server_copilot.packets import link_types as link
from gns3server_copilot.packets.walk.steps import Layer, MalformedError, State, handles, u16

#: Lengths of IEEE 802.3 end here, EtherTypes begin at 0x600.
LARGEST_LENGTH = 1500
SMALLEST_ETHERTYPE = 0x600

ETHERTYPES = {
    0x0800: "ipv4",
    0x0806: "arp",
    0x22F3: "trill",
    0x6558: "ethernet",
    0x8035: "rarp",
    0x809B: "appletalk",
    0x80F3: "aarp",
    0x8100: "vlan",
    0x8137: "ipx",
    0x86DD: "ipv6",
    0x8808: "mac_control",
    0x8809: "slow",
    0x8847: "mpls",
    0x8848: "mpls",
    0x8863: "pppoe",
    0x8864: "pppoe",
    0x888E: "eapol",
    0x88A8: "vlan",
    0x88CC: "lldp",
    0x88E5: "macsec",
    0x88F7: "ptp",
    0x8902: "cfm",
    0x8909: "cisco_metadata",
    0x9000: "loop",
    0x9100: "vlan",
    0xD28B: "arista_timestamp",
    # Cisco's protocols keep their SNAP numbers on PPP, HDLC and GRE
    0x2000: "cdp",
    0x2001: "cgmp",
    0x2003: "vtp",
    0x2004: "dtp",
    0x010B: "pvst",
    0x0111: "udld",
}

#: First layer by link type; those with a header of their own have a handler of that name.
LINKS = {
    link.NULL: "null",
    link.LOOP: "null",
    link.ETHERNET: "ethernet",
    link.PPP: "ppp",
    link.PPP_HDLC: "ppp",
    link.PPPOE: "pppoe",
    link.CISCO_HDLC: "hdlc",
    link.FRAME_RELAY: "frame_relay",
    link.LINUX_SLL: "linux_sll",
    link.LINUX_SLL2: "linux_sll2",
    link.JUNIPER_ETHER: "juniper",
    link.RAW_IPV4: "ipv4",
    link.RAW_IPV6: "ipv6",
    123: "atm",
    231: "dbus",
    253: "netlink",
    link.SLIP: "slip",
    **dict.fromkeys(link.RAW_NUMBERS, "raw_ip"),
}

#: Address families of BSD systems, which differ for IPv6.
FAMILIES = {2: "ipv4", 10: "ipv6", 24: "ipv6", 28: "ipv6", 30: "ipv6", 7: "llc"}

MAC = 6
CISCO_UNICAST, CISCO_MULTICAST = 0x0F, 0x8F


def first_layer(link_type: int, length: int) -> Layer | None:
    """Give the frame's first layer, None for a link type that is not read."""
    name = LINKS.get(link_type)
    return None if name is None else Layer(name, 0, length)


def by_ethertype(number: int, at: int, end: int) -> Layer | None:
    """Give the layer that an EtherType announces."""
    name = ETHERTYPES.get(number)
    return None if name is None else Layer(name, at, end)


@handles("ethernet")
def ethernet(data: bytes, at: int, end: int, state: State) -> Layer | None:
    """EtherType, or a length and LLC."""
    return _type_or_length(data, at + 2 * MAC, end, state)


@handles("vlan")
def vlan(data: bytes, at: int, end: int, state: State) -> Layer | None:
    """The tag's identifier, then as Ethernet."""
    return _type_or_length(data, at + 2, end, state)


def _type_or_length(data: bytes, at: int, end: int, state: State) -> Layer | None:
    number = u16(data, at)
    if number >= SMALLEST_ETHERTYPE:
        return by_ethertype(number, at + 2, end)
    state.peeked = True
    if number > LARGEST_LENGTH:
        return None
    # frames without LLC begin with the checksum of Novell's IPX
    return Layer("llc", at + 2, min(end, at + 2 + number)) if u16(data, at + 2) != 0xFFFF else None


@handles("null")
def null(data: bytes, at: int, end: int, state: State) -> Layer | None:
    """The address family, in the byte order of the machine that captured."""
    state.peeked = True
    raw = data[at : at + 4]
    for order in (sys.byteorder, "big", "little"):
        name = FAMILIES.get(int.from_bytes(raw, order))
        if name:
            return Layer(name, at + 4, end)
    return None


@handles("raw_ip")
def raw_ip(data: bytes, at: int, end: int, state: State) -> Layer | None:
    """The version is in the first half byte."""
    state.peeked = True
    name = {4: "ipv4", 6: "ipv6"}.get(data[at] >> 4)
    return None if name is None else Layer(name, at, end)


@handles("hdlc")
def hdlc(data: bytes, at: int, end: int, state: State) -> Layer | None:
    """Cisco's HDLC: address, control, an EtherType; its own keepalives are SLARP."""
    state.peeked = True
    number = u16(data, at + 2)
    if number == 0x8035:
        return Layer("slarp", at + 4, end)
    if number == 0xFEFE:
        # a padding byte precedes the OSI packet
        return Layer("osi", at + 5, end)
    return by_ethertype(number, at + 4, end)


@handles("frame_relay")
def frame_relay(data: bytes, at: int, end: int, state: State) -> Layer | None:
    """Two to four address bytes, then Cisco's EtherType or the NLPID of RFC 2427."""
    state.peeked = True
    while not data[at] & 1:
        at += 1
    at += 1
    if data[at] == 0x03:
        at += 1
        if data[at] == 0:
            at += 1
        nlpid = data[at]
        if nlpid == 0x80:
            return by_ethertype(u16(data, at + 4), at + 6, end) if data[at + 1 : at + 4] == b"\0\0\0" else None
        name = {0xCC: "ipv4", 0x8E: "ipv6", 0x81: "osi", 0x82: "osi", 0x83: "osi", 0xCF: "ppp"}.get(nlpid)
        return None if name is None else Layer(name, at if name == "osi" else at + 1, end)
    return by_ethertype(u16(data, at), at + 2, end)


@handles("linux_sll")
def linux_sll(data: bytes, at: int, end: int, state: State) -> Layer | None:
    """Linux cooked capture: an EtherType after 14 bytes."""
    state.peeked = True
    number = u16(data, at + 14)
    if number == 4:
        return Layer("llc", at + 16, end)
    return by_ethertype(number, at + 16, end)


@handles("linux_sll2")
def linux_sll2(data: bytes, at: int, end: int, state: State) -> Layer | None:
    """Its second version begins with the EtherType."""
    state.peeked = True
    number = u16(data, at)
    if number == 4:
        return Layer("llc", at + 20, end)
    return by_ethertype(number, at + 20, end)


@handles("juniper")
def juniper(data: bytes, at: int, end: int, state: State) -> Layer | None:
    """A magic number, flags, extensions, then Ethernet."""
    state.peeked = True
    if data[at : at + 3] != b"MGC":
        raise MalformedError
    extensions = u16(data, at + 4) + 2 if data[at + 3] & 0x80 else 0
    start = at + 4 + extensions
    return Layer("ethernet", start, end) if start < end else None


@handles("cisco_metadata")
def cisco_metadata(data: bytes, at: int, end: int, state: State) -> Layer | None:
    """Six bytes of security group tag and an EtherType, which comes first in a GRE tunnel."""
    state.peeked = True
    first = u16(data, at)
    return by_ethertype(first if first in ETHERTYPES else u16(data, at + 6), at + 8, end)


@handles("arista_timestamp")
def arista_timestamp(data: bytes, at: int, end: int, state: State) -> Layer | None:
    """Subtype, version, a time of 64 or 48 bits."""
    state.peeked = True
    at += 4 + (8 if u16(data, at + 2) & 0xF0 == 0x10 else 6)
    return by_ethertype(u16(data, at), at + 2, end)
