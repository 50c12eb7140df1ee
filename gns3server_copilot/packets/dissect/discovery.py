"""CDP and LLDP."""

from __future__ import annotations

from gns3server_copilot.packets.dissect.base import Context, Fields, dissects, ip, ip6, mac, named, text, tlvs, u16

DUPLEX = {0: "half", 1: "full"}
CDP_TEXTS = {1: "device_id", 3: "port_id", 5: "software", 6: "platform", 9: "vtp_domain"}
IEEE_8021, IEEE_8023 = b"\x00\x80\xc2", b"\x00\x12\x0f"


@dissects(
    "cdp",
    "version ttl device_id port_id platform software capabilities native_vlan duplex duplex_name vtp_domain addresses "
    "management_addresses voice_vlan mtu src",
)
def cdp(data: bytes, context: Context) -> list[Fields]:
    """What a Cisco device says of itself and its port."""
    found: Fields = {"version": data[0], "ttl": data[1], "src": context.source}
    for kind, value in tlvs(data[4:], "!HH", inclusive=True):
        if kind in CDP_TEXTS:
            found[CDP_TEXTS[kind]] = text(value)
        elif kind == 4:
            found["capabilities"] = int.from_bytes(value)
        elif kind == 10 and len(value) == 2:
            found["native_vlan"] = u16(value)
        elif kind == 11 and value:
            found |= {"duplex": value[0], "duplex_name": named(DUPLEX, value[0])}
        elif kind == 14 and len(value) >= 3:
            found["voice_vlan"] = u16(value, 1)
        elif kind == 17 and len(value) == 4:
            found["mtu"] = int.from_bytes(value)
        elif kind in (2, 22):
            found["addresses" if kind == 2 else "management_addresses"] = _cdp_addresses(value)
    return [found]


def _cdp_addresses(value: bytes) -> list[str]:
    found = []
    at = 4
    for _ in range(int.from_bytes(value[:4])):
        at += 2 + value[at + 1]
        length = u16(value, at)
        raw = value[at + 2 : at + 2 + length]
        at += 2 + length
        if length in (4, 16):
            found.append(ip(raw) if length == 4 else ip6(raw))
    return found


@dissects(
    "lldp",
    "chassis_id chassis_mac port_id port_description system_name system_description ttl capabilities management_ipv4 "
    "management_ipv6 pvid vlan_names max_frame_size autonegotiation src",
)
def lldp(data: bytes, context: Context) -> list[Fields]:
    """What a device says of itself and its port."""
    found: Fields = {"src": context.source}
    at = 0
    while at + 2 <= len(data):
        head = u16(data, at)
        kind, length = head >> 9, head & 0x1FF
        value = data[at + 2 : at + 2 + length]
        at += 2 + length
        if kind == 0 or len(value) < length:
            break
        found |= _lldp_tlv(kind, value, found)
    return [found]


def _lldp_tlv(kind: int, value: bytes, found: Fields) -> Fields:
    if kind == 1 and value:
        if value[0] == 4 and len(value) == 7:
            return {"chassis_id": mac(value, 1), "chassis_mac": mac(value, 1)}
        return {"chassis_id": _identifier(value, 5)}
    if kind == 2 and value:
        return {"port_id": mac(value, 1) if value[0] == 3 and len(value) == 7 else _identifier(value, 4)}
    if kind == 3:
        return {"ttl": u16(value)}
    if kind in (4, 5, 6):
        return {{4: "port_description", 5: "system_name", 6: "system_description"}[kind]: text(value)}
    if kind == 7 and len(value) >= 4:
        return {"capabilities": u16(value, 2)}
    if kind == 8 and len(value) > 5:
        address = value[2 : 1 + value[0]]
        if value[1] == 1 and len(address) == 4:
            return {"management_ipv4": [*found.get("management_ipv4", []), ip(address)]}
        if value[1] == 2 and len(address) == 16:
            return {"management_ipv6": [*found.get("management_ipv6", []), ip6(address)]}
    if kind == 127 and len(value) >= 4:
        return _organisation_tlv(value[:3], value[3], value[4:], found)
    return {}


def _organisation_tlv(organisation: bytes, subtype: int, value: bytes, found: Fields) -> Fields:
    if organisation == IEEE_8021:
        if subtype == 1 and len(value) == 2:
            return {"pvid": u16(value)}
        if subtype == 3 and len(value) >= 3:
            name = f"{u16(value)} {text(value[3 : 3 + value[2]])}"
            return {"vlan_names": [*found.get("vlan_names", []), name]}
    elif organisation == IEEE_8023:
        if subtype == 1 and value:
            return {"autonegotiation": bool(value[0] & 2)}
        if subtype == 4 and len(value) == 2:
            return {"max_frame_size": u16(value)}
    return {}


def _identifier(value: bytes, network: int) -> str:
    """An identifier after its subtype; `network` is the subtype of addresses."""
    if value[0] == network and len(value) == 6 and value[1] == 1:
        return ip(value, 2)
    return text(value[1:])
