"""IS-IS. scapy's layer gives up on the whole PDU at the first TLV that it cannot take apart, so it is read here."""

from __future__ import annotations

import struct

from gns3server_copilot.packets.dissect.base import (
    Context,
    Fields,
    dissects,
    ip,
    ip6,
    mac,
    named,
    prefix4,
    prefix6,
    text,
    tlvs,
    u16,
)

TYPES = {
    15: "L1-LAN-Hello",
    16: "L2-LAN-Hello",
    17: "P2P-Hello",
    18: "L1-LSP",
    20: "L2-LSP",
    24: "L1-CSNP",
    25: "L2-CSNP",
    26: "L1-PSNP",
    27: "L2-PSNP",
}
STATES = {0: "Up", 1: "Initializing", 2: "Down"}
AUTHENTICATION = {1: "clear text", 3: "generic", 54: "MD5"}
LEVELS = {1: "L1", 2: "L2", 3: "L1L2"}
#: Where the variable part begins, by the kind of PDU.
TLVS_AT = {15: 27, 16: 27, 17: 20, 18: 27, 20: 27, 24: 33, 25: 33, 26: 17, 27: 17}


@dissects(
    "isis",
    "type system_id circuit_type circuit_type_name holding_time priority lan_id local_circuit_id areas neighbors "
    "adjacency_state lsp_id lsp_ids sequence lifetime overload hostname ip_addresses ipv6_addresses protocols "
    "reachable is_neighbors auth_type src",
)
def isis(data: bytes, context: Context) -> list[Fields]:
    """Hellos, link state PDUs and sequence number PDUs."""
    kind = data[4] & 0x1F
    found: Fields = {"type": named(TYPES, kind), "src": context.source}
    if kind in (15, 16, 17):
        found |= {
            "circuit_type": data[8] & 3,
            "circuit_type_name": named(LEVELS, data[8] & 3),
            "system_id": system_id(data[9:15]),
            "holding_time": u16(data, 15),
        }
        if kind == 17:
            found["local_circuit_id"] = data[19]
        else:
            found |= {"priority": data[19] & 0x7F, "lan_id": f"{system_id(data[20:26])}.{data[26]:02x}"}
    elif kind in (18, 20):
        lifetime = u16(data, 10)
        (sequence,) = struct.unpack_from("!I", data, 20)
        found |= {
            "lifetime": lifetime,
            "lsp_id": lsp_id(data[12:20]),
            "sequence": sequence,
            "overload": bool(data[26] & 4),
        }
        found["system_id"] = system_id(data[12:18])
    elif kind in (24, 25, 26, 27):
        found["system_id"] = system_id(data[10:16])
    found |= _variable(data[TLVS_AT.get(kind, len(data)) :])
    return [found]


def system_id(raw: bytes) -> str:
    """Six bytes as `0192.0168.0001`."""
    return ".".join(raw[at : at + 2].hex() for at in (0, 2, 4))


def lsp_id(raw: bytes) -> str:
    """Eight bytes as `0192.0168.0001.00-00`."""
    return f"{system_id(raw[:6])}.{raw[6]:02x}-{raw[7]:02x}"


def _area(raw: bytes) -> str:
    """An area as `49.0001`."""
    return ".".join([raw[:1].hex(), *(raw[at : at + 2].hex() for at in range(1, len(raw), 2))])


def _variable(raw: bytes) -> Fields:
    found: Fields = {}

    def add(name: str, values: list[str]) -> None:
        if values:
            found.setdefault(name, []).extend(values)

    for kind, value in tlvs(raw):
        if kind == 1:
            add("areas", [_area(area) for area in _counted(value)])
        elif kind == 6:
            add("neighbors", [mac(value, at) for at in range(0, len(value) - 5, 6)])
        elif kind == 2:
            entries = range(1, len(value) - 10, 11)
            add("is_neighbors", [f"{system_id(value[at + 4 : at + 10])}.{value[at + 10]:02x}" for at in entries])
        elif kind == 22:
            add("is_neighbors", _extended_neighbors(value))
        elif kind == 9:
            add("lsp_ids", [lsp_id(value[at + 2 : at + 10]) for at in range(0, len(value) - 15, 16)])
        elif kind == 10 and value:
            found["auth_type"] = named(AUTHENTICATION, value[0])
        elif kind in (128, 130):
            entries = range(0, len(value) - 11, 12)
            add("reachable", [prefix4(value[at + 4 : at + 8], _ones(value[at + 8 : at + 12])) for at in entries])
        elif kind == 135:
            add("reachable", _extended_prefixes(value))
        elif kind == 236:
            add("reachable", _ipv6_prefixes(value))
        elif kind == 129:
            add("protocols", [named({0xCC: "IPv4", 0x8E: "IPv6", 0x81: "CLNP"}, one) for one in value])
        elif kind == 132:
            add("ip_addresses", [ip(value, at) for at in range(0, len(value) - 3, 4)])
        elif kind == 232:
            add("ipv6_addresses", [ip6(value, at) for at in range(0, len(value) - 15, 16)])
        elif kind == 137:
            found["hostname"] = text(value)
        elif kind == 240 and value:
            found["adjacency_state"] = named(STATES, value[0])
            if len(value) >= 11:
                add("neighbors", [system_id(value[5:11])])
    return found


def _counted(value: bytes) -> list[bytes]:
    """Split values that each begin with their length."""
    found = []
    at = 0
    while at < len(value):
        found.append(value[at + 1 : at + 1 + value[at]])
        at += 1 + value[at]
    return found


def _ones(mask: bytes) -> int:
    return int.from_bytes(mask).bit_count()


def _extended_neighbors(value: bytes) -> list[str]:
    found = []
    at = 0
    while at + 11 <= len(value):
        found.append(f"{system_id(value[at : at + 6])}.{value[at + 6]:02x}")
        at += 11 + value[at + 10]
    return found


def _extended_prefixes(value: bytes) -> list[str]:
    found = []
    at = 0
    while at + 5 <= len(value):
        control = value[at + 4]
        length = control & 0x3F
        size = (length + 7) // 8
        found.append(prefix4(value[at + 5 : at + 5 + size], length))
        at += 5 + size
        if control & 0x40 and at < len(value):
            at += 1 + value[at]
    return found


def _ipv6_prefixes(value: bytes) -> list[str]:
    found = []
    at = 0
    while at + 6 <= len(value):
        control, length = value[at + 4], value[at + 5]
        size = (length + 7) // 8
        found.append(prefix6(value[at + 6 : at + 6 + size], length))
        at += 6 + size
        if control & 0x20 and at < len(value):
            at += 1 + value[at]
    return found
