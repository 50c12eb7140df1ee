"""IEEE 802.2 and what speaks it: spanning tree, IS-IS, Cisco's protocols on SNAP; and slow protocols."""

from __future__ import annotations

from gns3server_copilot.packets.walk.links import by_ethertype
from gns3server_copilot.packets.walk.steps import Layer, State, handles, u16

CISCO = b"\x00\x00\x0c"
#: EtherTypes are carried under these organisations.
PLAIN = (b"\x00\x00\x00", b"\x00\x00\xf8", b"\x00\x80\xc2")
CISCO_PROTOCOLS = {
    0x0104: "pagp",
    0x010B: "pvst",
    0x010C: "vlan_bridge",
    0x0111: "udld",
    0x2000: "cdp",
    0x2001: "cgmp",
    0x2003: "vtp",
    0x2004: "dtp",
}
OSI = {0x81: "clnp", 0x82: "esis", 0x83: "isis"}
GARP_ADDRESSES = {b"\x01\x80\xc2\x00\x00\x21": "gvrp", b"\x01\x80\xc2\x00\x00\x20": "gmrp"}


@handles("llc")
def llc(data: bytes, at: int, end: int, state: State) -> Layer | None:
    """Two service access points, a control field of one or two bytes."""
    state.peeked = True
    service, control = data[at], data[at + 2]
    body = at + (3 if control & 3 == 3 else 4)
    if service == 0xAA:
        organisation, number = data[body : body + 3], u16(data, body + 3)
        if organisation == CISCO:
            name = CISCO_PROTOCOLS.get(number)
            return None if name is None else Layer(name, body + 5, end)
        if organisation in PLAIN:
            return by_ethertype(number, body + 5, end)
        return None
    if service == 0x42:
        garp = GARP_ADDRESSES.get(data[at - 14 : at - 8])
        return Layer(garp or "stp", body, end)
    name = {0xFE: "osi", 0xE0: "ipx", 0xF0: "netbios", 0x06: "ipv4"}.get(service)
    return None if name is None else Layer(name, body, end)


@handles("osi")
def osi(data: bytes, at: int, end: int, state: State) -> Layer | None:
    """The first byte says which protocol."""
    state.peeked = True
    name = OSI.get(data[at])
    return None if name is None else Layer(name, at, end)


@handles("pvst")
def pvst(data: bytes, at: int, end: int, state: State) -> Layer | None:
    """Cisco's spanning tree for each VLAN is a BPDU with a TLV behind."""
    return Layer("stp", at, end)


@handles("slow")
def slow(data: bytes, at: int, end: int, state: State) -> Layer | None:
    """The subtype."""
    state.peeked = True
    name = {1: "lacp", 2: "lacp_marker", 3: "oam", 10: "esmc"}.get(data[at])
    return None if name is None else Layer(name, at, end)


@handles("eapol")
def eapol(data: bytes, at: int, end: int, state: State) -> Layer | None:
    """Version, type, length; type 0 carries EAP."""
    state.peeked = True
    if data[at + 1] or at + 4 >= end:
        return None
    return Layer("eap", at + 4, min(end, at + 4 + u16(data, at + 2)))
