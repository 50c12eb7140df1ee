"""EIGRP for both IP versions, with scapy's layers."""

from __future__ import annotations

from scapy.contrib import eigrp as layers

from gns3server_copilot.packets.dissect.base import Context, Fields, dissects, named, prefix4, prefix6, u16

OPCODES = {1: "Update", 2: "Request", 3: "Query", 4: "Reply", 5: "Hello", 10: "SIAQuery", 11: "SIAReply"}
HELLO = 5
#: The delay that says a route is unreachable.
INFINITY = 0xFFFFFFFF
#: Routes with wide metrics (RFC 7868, 6.8), which scapy does not know.
WIDE_INTERNAL, WIDE_EXTERNAL = 0x0602, 0x0603
WIDE_INFINITY = b"\xff" * 6
EXTERNAL_SECTION = 20


@dissects(
    "eigrp",
    "opcode is_ack as_number src dst k1 k2 k3 k4 k5 k_values hold_time routes unreachable seq ack auth ios_version "
    "eigrp_version stub goodbye",
    repeats=True,
)
def eigrp(data: bytes, context: Context) -> list[Fields]:
    """The header and what its parameters and routes say."""
    packet = layers.EIGRP(data)
    # the virtual router's number is in the upper half
    found: Fields = {
        "opcode": named(OPCODES, packet.opcode),
        # an acknowledgement is a hello with nothing in it
        "is_ack": packet.opcode == HELLO and packet.ack != 0,
        "as_number": packet.asn & 0xFFFF,
        "seq": packet.seq,
        "ack": packet.ack,
        "src": context.source,
        "dst": context.destination,
    }
    routes: list[str] = []
    unreachable: list[str] = []
    for tlv in packet.tlvlist:
        if isinstance(tlv, layers.EIGRPParam):
            values = [tlv.k1, tlv.k2, tlv.k3, tlv.k4, tlv.k5]
            found |= dict(zip(("k1", "k2", "k3", "k4", "k5"), values, strict=True))
            found |= {"k_values": values, "hold_time": tlv.holdtime, "goodbye": values == [255] * 5}
        elif isinstance(tlv, layers.EIGRPAuthData):
            found["auth"] = "MD5"
        elif isinstance(tlv, layers.EIGRPSwVer):
            found |= {"ios_version": str(tlv.ios), "eigrp_version": str(tlv.eigrp)}
        elif isinstance(tlv, layers.EIGRPStub):
            found["stub"] = True
        elif hasattr(tlv, "dst"):
            route = f"{tlv.dst}/{tlv.prefixlen}"
            (unreachable if tlv.delay == INFINITY else routes).append(route)
        elif tlv.type in (WIDE_INTERNAL, WIDE_EXTERNAL):
            route, reachable = _wide_route(tlv.type, tlv.value)
            (routes if reachable else unreachable).append(route)
    if routes:
        found["routes"] = routes
    if unreachable:
        found["unreachable"] = unreachable
    return [found]


def _wide_route(kind: int, value: bytes) -> tuple[str, bool]:
    """Give the prefix of a route with a wide metric, and whether it can be reached."""
    ipv4 = u16(value) == 1
    delay = value[16:22]
    # family, topology, router id, metric with its attributes, next hop
    at = 8 + 24 + value[8] * 2 + (4 if ipv4 else 16) + (EXTERNAL_SECTION if kind == WIDE_EXTERNAL else 0)
    length = value[at]
    write = prefix4 if ipv4 else prefix6
    return write(value[at + 1 : at + 1 + (length + 7) // 8], length), delay != WIDE_INFINITY
