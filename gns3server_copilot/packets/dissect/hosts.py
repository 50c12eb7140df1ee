"""DHCP and DHCPv6."""

from __future__ import annotations

from gns3server_copilot.packets.dissect.base import Context, Fields, dissects, ip, ip6, mac, named, text, tlvs, u16, u32

DHCP_TYPES = {
    1: "Discover",
    2: "Offer",
    3: "Request",
    4: "Decline",
    5: "ACK",
    6: "NAK",
    7: "Release",
    8: "Inform",
    9: "Forcerenew",
    10: "LeaseQuery",
    11: "LeaseUnassigned",
    12: "LeaseUnknown",
    13: "LeaseActive",
}
COOKIE = b"\x63\x82\x53\x63"
END, PAD = 255, 0

DHCPV6_TYPES = {
    1: "Solicit",
    2: "Advertise",
    3: "Request",
    4: "Confirm",
    5: "Renew",
    6: "Rebind",
    7: "Reply",
    8: "Release",
    9: "Decline",
    10: "Reconfigure",
    11: "Information-request",
    12: "Relay-forw",
    13: "Relay-reply",
}
STATUS = {
    0: "success",
    1: "unspecified failure",
    2: "no addresses available",
    3: "no binding",
    4: "not on link",
    5: "use multicast",
    6: "no prefix available",
}
RELAYED = (12, 13)
RELAY_MESSAGE = 9


@dissects(
    "dhcp",
    "message transaction_id client_mac client_ip your_ip server_ip relay_ip requested_ip server_id lease_time "
    "subnet_mask routers dns_servers domain host_name broadcast message_text src dst from_client",
)
def dhcp(data: bytes, context: Context) -> list[Fields]:
    """One message. Addresses that are 0.0.0.0 are given too, as they are on the wire."""
    found: Fields = {
        "from_client": data[0] == 1,
        "transaction_id": u32(data, 4),
        "broadcast": bool(u16(data, 10) & 0x8000),
        "client_ip": ip(data, 12),
        "your_ip": ip(data, 16),
        "server_ip": ip(data, 20),
        "relay_ip": ip(data, 24),
        "client_mac": mac(data, 28),
        "src": context.source,
        "dst": context.destination,
    }
    if data[236:240] == COOKIE:
        for kind, value in _options(data[240:]):
            found |= _dhcp_option(kind, value)
    return [found]


def _options(raw: bytes) -> list[tuple[int, bytes]]:
    found = []
    at = 0
    while at + 1 < len(raw) and raw[at] != END:
        if raw[at] == PAD:
            at += 1
            continue
        found.append((raw[at], raw[at + 2 : at + 2 + raw[at + 1]]))
        at += 2 + raw[at + 1]
    return found


def _dhcp_option(kind: int, value: bytes) -> Fields:
    if kind == 53 and value:
        return {"message": named(DHCP_TYPES, value[0])}
    if kind in (12, 15, 56):
        return {{12: "host_name", 15: "domain", 56: "message_text"}[kind]: text(value)}
    if kind == 51 and len(value) == 4:
        return {"lease_time": u32(value)}
    if len(value) < 4:
        return {}
    if kind in (1, 50, 54):
        return {{1: "subnet_mask", 50: "requested_ip", 54: "server_id"}[kind]: ip(value)}
    if kind in (3, 6):
        return {{3: "routers", 6: "dns_servers"}[kind]: [ip(value, at) for at in range(0, len(value) - 3, 4)]}
    return {}


@dissects(
    "dhcpv6",
    "message transaction_id client_id server_id addresses prefixes dns_servers status relayed hop_count src dst",
)
def dhcpv6(data: bytes, context: Context) -> list[Fields]:
    """One message; what a relay carries is in `relayed`."""
    kind = data[0]
    found: Fields = {"message": named(DHCPV6_TYPES, kind), "src": context.source, "dst": context.destination}
    if kind in RELAYED:
        found["hop_count"] = data[1]
        options = data[34:]
    else:
        found["transaction_id"] = int.from_bytes(data[1:4])
        options = data[4:]
    _add_options(found, options)
    inner = [value for option, value in tlvs(options, "!HH") if kind in RELAYED and option == RELAY_MESSAGE]
    return [found, *(message for value in inner if value for message in dhcpv6(value, context))]


def _add_options(found: Fields, raw: bytes) -> None:
    for kind, value in tlvs(raw, "!HH"):
        if kind in (1, 2):
            found["client_id" if kind == 1 else "server_id"] = value.hex(":")
        elif kind == 3:
            _add_options(found, value[12:])
        elif kind == 4:
            _add_options(found, value[4:])
        elif kind == 25:
            _add_options(found, value[12:])
        elif kind == 5 and len(value) >= 24:
            found.setdefault("addresses", []).append(ip6(value))
            _add_options(found, value[24:])
        elif kind == 26 and len(value) >= 25:
            found.setdefault("prefixes", []).append(f"{ip6(value, 9)}/{value[8]}")
        elif kind == 13 and len(value) >= 2:
            found["status"] = named(STATUS, u16(value))
        elif kind == 23:
            found["dns_servers"] = [ip6(value, at) for at in range(0, len(value) - 15, 16)]
        elif kind == RELAY_MESSAGE and value:
            found["relayed"] = named(DHCPV6_TYPES, value[0])
