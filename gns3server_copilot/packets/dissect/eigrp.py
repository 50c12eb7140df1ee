"""EIGRP for both IP versions, with scapy's layers."""

from __future__ import annotations

from scapy.contrib import eigrp as layers

from gns3server_copilot.packets.dissect.base import Context, Fields, dissects, named

OPCODES = {1: "Update", 2: "Request", 3: "Query", 4: "Reply", 5: "Hello", 10: "SIAQuery", 11: "SIAReply"}
#: The delay that says a route is unreachable.
INFINITY = 0xFFFFFFFF


@dissects(
    "eigrp",
    "opcode as_number src dst k1 k2 k3 k4 k5 k_values hold_time routes unreachable seq ack auth ios_version "
    "eigrp_version stub goodbye",
)
def eigrp(data: bytes, context: Context) -> list[Fields]:
    """The header and what its parameters and routes say."""
    packet = layers.EIGRP(data)
    # the virtual router's number is in the upper half
    opcode = "Ack" if packet.opcode == 5 and packet.ack else named(OPCODES, packet.opcode)
    found: Fields = {
        "opcode": opcode,
        "as_number": packet.asn & 0xFFFF,
        "seq": packet.seq,
        "ack": packet.ack,
        "src": context.source,
        "dst": context.destination,
    }
    routes, unreachable = [], []
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
    if routes:
        found["routes"] = routes
    if unreachable:
        found["unreachable"] = unreachable
    return [found]
