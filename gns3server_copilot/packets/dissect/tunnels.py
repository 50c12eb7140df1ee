"""GRE, MPLS labels, VXLAN, NHRP."""

from __future__ import annotations

from gns3server_copilot.packets.dissect.base import Context, Fields, dissects, ip, named, u16, u32
from gns3server_copilot.packets.layers.nhrp import NHRP, OPERATIONS


@dissects("gre", "protocol version key sequence checksum src dst")
def gre(data: bytes, context: Context) -> list[Fields]:
    """Flags, protocol, key."""
    flags = u16(data)
    found: Fields = {
        "protocol": u16(data, 2),
        "version": flags & 7,
        "checksum": bool(flags & 0x8000),
        "src": context.source,
        "dst": context.destination,
    }
    at = 4 + (4 if flags & 0xC000 else 0)
    if flags & 0x2000:
        found["key"] = u32(data, at)
        at += 4
    if flags & 0x1000:
        found["sequence"] = u32(data, at)
    return [found]


@dissects("mpls", "label traffic_class bottom ttl depth")
def mpls(data: bytes, context: Context) -> list[Fields]:
    """One label; `depth` counts labels from the outside."""
    word = u32(data)
    depth = 1
    index = context.index
    while index and context.frame.layers[index - 1].protocol == "mpls":
        depth, index = depth + 1, index - 1
    return [
        {
            "label": word >> 12,
            "traffic_class": word >> 9 & 7,
            "bottom": bool(word & 0x100),
            "ttl": word & 0xFF,
            "depth": depth,
        }
    ]


@dissects("vxlan", "vni src dst")
def vxlan(data: bytes, context: Context) -> list[Fields]:
    """The network identifier, and the tunnel's ends."""
    return [{"vni": u32(data, 4) >> 8, "src": context.source, "dst": context.destination}]


@dissects("nhrp", "operation request_id source_nbma source destination src dst")
def nhrp(data: bytes, context: Context) -> list[Fields]:
    """Who registers or asks for whom."""
    packet = NHRP(data)
    found: Fields = {
        "operation": named(OPERATIONS, packet.operation),
        "src": context.source,
        "dst": context.destination,
    }
    if packet.operation in (1, 2, 3, 4, 5, 6):
        found["request_id"] = packet.request_id
        for name in ("source_nbma", "source", "destination"):
            value = getattr(packet, name)
            if len(value) == 4:
                found[name] = ip(value)
    return [found]
