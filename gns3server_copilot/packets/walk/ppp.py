"""PPP, on serial lines, over Ethernet and inside tunnels."""

from __future__ import annotations

from gns3server_copilot.packets.walk.links import CISCO_MULTICAST, CISCO_UNICAST, hdlc
from gns3server_copilot.packets.walk.steps import Layer, State, handles, u16

PROTOCOLS = {
    0x0021: "ipv4",
    0x0023: "osi",
    0x002D: "vj_compressed",
    0x002F: "vj_uncompressed",
    0x003D: "multilink",
    0x0057: "ipv6",
    0x0207: "cdp",
    0x0281: "mpls",
    0x0283: "mpls",
    0x8021: "ipcp",
    0x8057: "ipv6cp",
    0x80FD: "ccp",
    0x8207: "cdpcp",
    0x8281: "mplscp",
    0xC021: "lcp",
    0xC023: "pap",
    0xC025: "lqr",
    0xC223: "chap",
    0xC227: "eap",
}


@handles("ppp")
def ppp(data: bytes, at: int, end: int, state: State) -> Layer | None:
    """Address and control may be left out, and so may the protocol's first byte when it is zero."""
    state.peeked = True
    if data[at] in (CISCO_UNICAST, CISCO_MULTICAST) and data[at + 1] == 0:
        return hdlc(data, at, end, state)
    if data[at] == 0xFF and data[at + 1] == 0x03:
        at += 2
    if data[at] & 1:
        number, at = data[at], at + 1
    else:
        number, at = u16(data, at), at + 2
    name = PROTOCOLS.get(number)
    return None if name is None else Layer(name, at, end)


@handles("pppoe")
def pppoe(data: bytes, at: int, end: int, state: State) -> Layer | None:
    """Version and type, code, session, length."""
    state.peeked = True
    return Layer("ppp", at + 6, min(end, at + 6 + u16(data, at + 4))) if data[at + 1] == 0 else None
