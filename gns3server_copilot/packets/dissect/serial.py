"""Serial lines: Cisco's HDLC with its keepalives, Frame Relay, PPP with its control protocols, PPPoE."""

from __future__ import annotations

from gns3server_copilot.packets.dissect.base import Context, Fields, dissects, ip, named, text, tlvs, u16, u32
from gns3server_copilot.packets.layers.serial import SLARP, SLARP_TYPES, CiscoHDLC, FrameRelay

PPP_PROTOCOLS = {
    0x0021: "IPv4",
    0x0023: "OSI",
    0x002D: "VJcomp",
    0x002F: "VJuncomp",
    0x003D: "multilink",
    0x0057: "IPv6",
    0x0207: "CDP",
    0x0281: "MPLS",
    0x8021: "IPCP",
    0x8057: "IPV6CP",
    0x80FD: "CCP",
    0x8207: "CDPCP",
    0x8281: "MPLSCP",
    0xC021: "LCP",
    0xC023: "PAP",
    0xC025: "LQR",
    0xC223: "CHAP",
    0xC227: "EAP",
}
CONTROL = {0x8021, 0x8057, 0x80FD, 0x8207, 0x8281, 0xC021}
CODES = {
    1: "Conf-Req",
    2: "Conf-Ack",
    3: "Conf-Nak",
    4: "Conf-Rej",
    5: "Term-Req",
    6: "Term-Ack",
    7: "Code-Rej",
    8: "Proto-Rej",
    9: "Echo-Req",
    10: "Echo-Reply",
    11: "Discard-Req",
}
PAP_CODES = {1: "Auth-Req", 2: "Auth-Ack", 3: "Auth-Nak"}
CHAP_CODES = {1: "Challenge", 2: "Response", 3: "Success", 4: "Failure"}
LCP, IPCP, PAP, CHAP = 0xC021, 0x8021, 0xC023, 0xC223
PPPOE_CODES = {0x00: "Session", 0x07: "PADO", 0x09: "PADI", 0x19: "PADR", 0x65: "PADS", 0xA7: "PADT"}


@dissects("hdlc", "address protocol slarp_type slarp_my_sequence slarp_your_sequence slarp_address slarp_mask")
def hdlc(data: bytes, context: Context) -> list[Fields]:
    """The header, and SLARP behind it."""
    packet = CiscoHDLC(data)
    found: Fields = {"address": "multicast" if packet.address == 0x8F else "unicast", "protocol": packet.proto}
    slarp = packet.getlayer(SLARP)
    if slarp is not None:
        found["slarp_type"] = named(SLARP_TYPES, slarp.type)
        if slarp.type == 2:
            found |= {"slarp_my_sequence": slarp.mysequence, "slarp_your_sequence": slarp.yoursequence}
        else:
            found |= {"slarp_address": slarp.address, "slarp_mask": slarp.mask}
    return [found]


@dissects("frame_relay", "dlci fecn becn discard_eligible protocol nlpid")
def frame_relay(data: bytes, context: Context) -> list[Fields]:
    """Circuit, congestion marks, and what is carried."""
    packet = FrameRelay(data)
    found: Fields = {
        "dlci": packet.dlci,
        "fecn": bool(packet.fecn),
        "becn": bool(packet.becn),
        "discard_eligible": bool(packet.discard_eligible),
    }
    if data[2] == 3:
        found["nlpid"] = data[4] if data[3] == 0 else data[3]
    else:
        found["protocol"] = packet.proto
    return [found]


@dissects(
    "ppp",
    "protocol code identifier mru auth_protocol auth_name magic ip_address dns_servers user message rejected",
)
def ppp(data: bytes, context: Context) -> list[Fields]:
    """The protocol, and what LCP, IPCP, PAP and CHAP say."""
    at = 2 if data[:2] == b"\xff\x03" else 0
    number, at = (data[at], at + 1) if data[at] & 1 else (u16(data, at), at + 2)
    found: Fields = {"protocol": PPP_PROTOCOLS.get(number, f"0x{number:04x}")}
    body = data[at:]
    if number in CONTROL:
        found |= _control(number, body)
    elif number == PAP:
        found |= {"code": named(PAP_CODES, body[0]), "identifier": body[1]}
        if body[0] == 1:
            found["user"] = text(body[5 : 5 + body[4]])
    elif number == CHAP:
        found |= {"code": named(CHAP_CODES, body[0]), "identifier": body[1]}
        if body[0] in (1, 2):
            found["user"] = text(body[5 + body[4] : u16(body, 2)])
        else:
            found["message"] = text(body[4 : u16(body, 2)])
    return [found]


def _control(number: int, body: bytes) -> Fields:
    code = body[0]
    found: Fields = {"code": named(CODES, code), "identifier": body[1]}
    if code == 8:
        found["rejected"] = PPP_PROTOCOLS.get(u16(body, 4), f"0x{u16(body, 4):04x}")
    if code not in (1, 2, 3, 4):
        return found
    for kind, value in tlvs(body[4 : u16(body, 2)], inclusive=True):
        if number == LCP:
            found |= _lcp_option(kind, value)
        elif number == IPCP and len(value) == 4:
            if kind == 3:
                found["ip_address"] = ip(value)
            elif kind in (129, 131):
                found.setdefault("dns_servers", []).append(ip(value))
    return found


def _lcp_option(kind: int, value: bytes) -> Fields:
    if kind == 1 and len(value) == 2:
        return {"mru": u16(value)}
    if kind == 3 and len(value) >= 2:
        return {"auth_protocol": u16(value), "auth_name": named(PPP_PROTOCOLS, u16(value))}
    if kind == 5 and len(value) == 4:
        return {"magic": f"0x{u32(value):08x}"}
    return {}


@dissects("pppoe", "code session_id service_name access_concentrator error")
def pppoe(data: bytes, context: Context) -> list[Fields]:
    """Session packets and the discovery before them."""
    found: Fields = {"code": named(PPPOE_CODES, data[1]), "session_id": u16(data, 2)}
    if data[1]:
        for kind, value in tlvs(data[6 : 6 + u16(data, 4)], "!HH"):
            name = {0x0101: "service_name", 0x0102: "access_concentrator"}.get(kind)
            if name:
                found[name] = text(value)
            elif kind in (0x0201, 0x0202, 0x0203):
                found["error"] = text(value) or "refused"
    return [found]
