"""IPv4, IPv6, ICMP, ICMPv6."""

from __future__ import annotations

from gns3server_copilot.packets.dissect.base import Context, Fields, dissects, ip, ip6, mac, named, u16, u32
from gns3server_copilot.packets.walk.network import PROTOCOLS

ICMP_TYPES = {
    0: "echo-reply",
    4: "source-quench",
    5: "redirect",
    8: "echo-request",
    9: "router-advert",
    10: "router-solicit",
    12: "parameter-problem",
    13: "timestamp-request",
    14: "timestamp-reply",
}
TIME_EXCEEDED = {0: "ttl-exceeded", 1: "reassembly-exceeded"}
UNREACHABLE_TYPES = {
    0: "net-unreachable",
    1: "host-unreachable",
    2: "protocol-unreachable",
    3: "port-unreachable",
    4: "fragmentation-needed",
}
UNREACHABLE = {
    0: "network",
    1: "host",
    2: "protocol",
    3: "port",
    4: "fragmentation needed",
    5: "source route failed",
    6: "network unknown",
    7: "host unknown",
    9: "network prohibited",
    10: "host prohibited",
    11: "network for this service",
    12: "host for this service",
    13: "administratively prohibited",
}
ICMPV6_TYPES = {
    1: "unreachable",
    2: "packet-too-big",
    3: "time-exceeded",
    4: "parameter-problem",
    128: "echo-request",
    129: "echo-reply",
    130: "mld-query",
    131: "mld-report",
    132: "mld-done",
    133: "router-solicit",
    134: "router-advert",
    135: "neighbor-solicit",
    136: "neighbor-advert",
    137: "redirect",
    143: "mldv2-report",
}
UNREACHABLE6 = {0: "no route", 1: "administratively prohibited", 2: "beyond scope", 3: "address", 4: "port"}


@dissects(
    "ipv4",
    "src dst ttl protocol id length header_length dscp ecn dont_fragment more_fragments fragment_offset fragment "
    "options",
)
def ipv4(data: bytes, context: Context) -> list[Fields]:
    """The header."""
    flags = u16(data, 6)
    return [
        {
            "src": ip(data, 12),
            "dst": ip(data, 16),
            "ttl": data[8],
            "protocol": PROTOCOLS.get(data[9], str(data[9])),
            "id": u16(data, 4),
            "length": u16(data, 2),
            "header_length": (data[0] & 15) * 4,
            "dscp": data[1] >> 2,
            "ecn": data[1] & 3,
            "dont_fragment": bool(flags & 0x4000),
            "more_fragments": bool(flags & 0x2000),
            "fragment_offset": (flags & 0x1FFF) * 8,
            "fragment": bool(flags & 0x3FFF),
            "options": bool(data[0] & 15 > 5),
        }
    ]


@dissects("ipv6", "src dst hop_limit next_header length traffic_class flow_label")
def ipv6(data: bytes, context: Context) -> list[Fields]:
    """The fixed header."""
    first = u32(data)
    return [
        {
            "src": ip6(data, 8),
            "dst": ip6(data, 24),
            "hop_limit": data[7],
            "next_header": PROTOCOLS.get(data[6], str(data[6])),
            "length": u16(data, 4),
            "traffic_class": first >> 20 & 0xFF,
            "flow_label": first & 0xFFFFF,
        }
    ]


@dissects("icmp", "type code reason id seq sender src dst mtu gateway about_src about_dst about_protocol")
def icmp(data: bytes, context: Context) -> list[Fields]:
    """Type and code; for errors also the packet that they are about."""
    kind, code = data[0], data[1]
    found: Fields = {"type": named(ICMP_TYPES, kind), "code": code, "sender": context.source}
    found |= {"src": context.source, "dst": context.destination}
    if kind == 3:
        found["type"] = UNREACHABLE_TYPES.get(code, "unreachable")
        found["reason"] = named(UNREACHABLE, code)
        if code == 4:
            found["mtu"] = u16(data, 6)
    elif kind == 11:
        found["type"] = TIME_EXCEEDED.get(code, "time-exceeded")
        found["reason"] = "reassembly" if code else "TTL in transit"
    elif kind not in ICMP_TYPES:
        found["type"] = f"type{kind}/code{code}"
    elif kind == 5:
        found["gateway"] = ip(data, 4)
    elif kind in (0, 8):
        found |= {"id": u16(data, 4), "seq": u16(data, 6)}
    if kind in (3, 4, 5, 11, 12) and len(data) >= 28:
        found |= {
            "about_src": ip(data, 20),
            "about_dst": ip(data, 24),
            "about_protocol": PROTOCOLS.get(data[17], str(data[17])),
        }
    return [found]


@dissects(
    "icmpv6",
    "type code reason id seq sender src dst mtu target prefixes router_lifetime link_address about_src about_dst "
    "groups",
)
def icmpv6(data: bytes, context: Context) -> list[Fields]:
    """Type and code, neighbour discovery, multicast listeners."""
    kind, code = data[0], data[1]
    found: Fields = {"type": named(ICMPV6_TYPES, kind), "code": code, "sender": context.source}
    found |= {"src": context.source, "dst": context.destination}
    options = b""
    if kind == 1:
        found["reason"] = named(UNREACHABLE6, code)
    elif kind == 2:
        found["mtu"] = u32(data, 4)
    elif kind == 3:
        found["reason"] = "reassembly" if code else "hop limit in transit"
    elif kind in (128, 129):
        found |= {"id": u16(data, 4), "seq": u16(data, 6)}
    elif kind == 134:
        found["router_lifetime"] = u16(data, 6)
        options = data[16:]
    elif kind in (135, 136):
        found["target"] = ip6(data, 8)
        options = data[24:]
    elif kind == 137:
        found["target"] = ip6(data, 8)
        options = data[40:]
    elif kind in (130, 131, 132):
        found["groups"] = [ip6(data, 8)]
    if kind in (1, 2, 3, 4) and len(data) >= 48:
        found |= {"about_src": ip6(data, 16), "about_dst": ip6(data, 32)}
    prefixes = []
    while len(options) >= 8 and options[1]:
        option, options = options[: options[1] * 8], options[options[1] * 8 :]
        if option[0] == 3:
            prefixes.append(f"{ip6(option, 16)}/{option[2]}")
        elif option[0] in (1, 2):
            found["link_address"] = mac(option, 2)
    if prefixes:
        found["prefixes"] = prefixes
    return [found]
