"""Ethernet, VLAN tags, ARP."""

from __future__ import annotations

from gns3server_copilot.packets.dissect.base import Context, Fields, dissects, ip, mac, named, u16

ARP_OPERATIONS = {1: "request", 2: "reply", 3: "rarp-request", 4: "rarp-reply", 8: "inarp-request", 9: "inarp-reply"}


@dissects("ethernet", "src dst type length multicast")
def ethernet(data: bytes, context: Context) -> list[Fields]:
    """Addresses, and the EtherType as four hexadecimal digits."""
    return [
        {
            "dst": mac(data),
            "src": mac(data, 6),
            "type": f"0x{u16(data, 12):04x}",
            "length": context.frame.record.length,
            "multicast": bool(data[0] & 1),
        }
    ]


@dissects("vlan", "id priority dei type s_vlan depth")
def vlan(data: bytes, context: Context) -> list[Fields]:
    """One tag; `depth` counts tags from the outside."""
    layer = context.layer
    tag = u16(data)
    outer = sum(one.protocol == "vlan" for one in context.frame.layers[: context.index])
    announced = u16(context.frame.data, layer.start - 2)
    return [
        {
            "id": tag & 0xFFF,
            "priority": tag >> 13,
            "dei": bool(tag & 0x1000),
            "type": f"0x{u16(data, 2):04x}",
            "s_vlan": announced in (0x88A8, 0x9100),
            "depth": outer + 1,
        }
    ]


@dissects("arp", "operation sender_mac sender_ip target_mac target_ip gratuitous probe")
def arp(data: bytes, context: Context) -> list[Fields]:
    """ARP for IPv4; for other networks only the operation. MAC addresses may have any length."""
    operation = named(ARP_OPERATIONS, u16(data, 6))
    size = data[4]
    if data[5] != 4:
        return [{"operation": operation}]
    sender, target = ip(data, 8 + size), ip(data, 12 + 2 * size)
    return [
        {
            "operation": operation,
            "sender_mac": data[8 : 8 + size].hex(":"),
            "sender_ip": sender,
            "target_mac": data[12 + size : 12 + 2 * size].hex(":"),
            "target_ip": target,
            "gratuitous": sender == target,
            "probe": sender == "0.0.0.0",
        }
    ]
