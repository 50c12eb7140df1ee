"""BGP-4: messages, capabilities, path attributes, notifications with their meaning.

scapy has to be told once for all packets whether AS numbers have two or four bytes, which differs from session to
session; so messages are read here.
"""

from __future__ import annotations

import struct

from gns3server_copilot.packets.dissect.base import (
    Context,
    Fields,
    dissects,
    ip,
    ip6,
    named,
    prefix4,
    prefix6,
    tlvs,
    u16,
    u32,
)

TYPES = {1: "OPEN", 2: "UPDATE", 3: "NOTIFICATION", 4: "KEEPALIVE", 5: "ROUTE-REFRESH"}
ORIGINS = {0: "IGP", 1: "EGP", 2: "incomplete"}
CAPABILITIES = {
    1: "multiprotocol",
    2: "route refresh",
    5: "extended next hop",
    6: "extended messages",
    9: "role",
    64: "graceful restart",
    65: "four-byte AS",
    69: "add path",
    70: "enhanced route refresh",
    71: "long-lived graceful restart",
    73: "FQDN",
    128: "route refresh (Cisco)",
}
ERRORS = {
    1: ("message header error", {1: "connection not synchronised", 2: "bad message length", 3: "bad message type"}),
    2: (
        "OPEN error",
        {
            1: "unsupported version",
            2: "bad peer AS",
            3: "bad BGP identifier",
            4: "unsupported optional parameter",
            5: "authentication failure",
            6: "unacceptable hold time",
            7: "unsupported capability",
            11: "role mismatch",
        },
    ),
    3: (
        "UPDATE error",
        {
            1: "malformed attribute list",
            2: "unrecognised well-known attribute",
            3: "missing well-known attribute",
            4: "attribute flags error",
            5: "attribute length error",
            6: "invalid origin",
            8: "invalid next hop",
            9: "optional attribute error",
            10: "invalid network field",
            11: "malformed AS path",
        },
    ),
    4: ("hold timer expired", {}),
    5: ("finite state machine error", {1: "in OpenSent", 2: "in OpenConfirm", 3: "in Established"}),
    6: (
        "cease",
        {
            1: "maximum number of prefixes reached",
            2: "administrative shutdown",
            3: "peer removed",
            4: "administrative reset",
            5: "connection rejected",
            6: "other configuration change",
            7: "connection collision",
            8: "out of resources",
            9: "hard reset",
            10: "BFD down",
        },
    ),
    7: ("ROUTE-REFRESH error", {1: "invalid message length"}),
}
HEADER = 19
IPV4, IPV6, UNICAST, LABELLED = 1, 2, 1, 4


@dissects(
    "bgp",
    "type src dst my_as as4 hold_time identifier version capabilities origin as_path as4_path next_hops nlri withdrawn "
    "med local_pref communities mp_reach mp_unreach error_code error_subcode error meaning as_size",
)
def bgp(data: bytes, context: Context) -> list[Fields]:
    """Each whole message of a segment."""
    found = []
    at = 0
    while at + HEADER <= len(data):
        length, kind = struct.unpack_from("!HB", data, at + 16)
        if length < HEADER or at + length > len(data):
            break
        body = data[at + HEADER : at + length]
        message: Fields = {"type": named(TYPES, kind), "src": context.source, "dst": context.destination}
        if kind == 1:
            message |= _open(body)
        elif kind == 2:
            message |= _update(body)
        elif kind == 3 and len(body) >= 2:
            message |= notification(body[0], body[1])
        found.append(message)
        at += length
    return found


def notification(code: int, subcode: int) -> Fields:
    """A notification's codes with their meaning in words."""
    error, subcodes = ERRORS.get(code, (f"error {code}", {}))
    meaning = f"{error}: {subcodes[subcode]}" if subcode in subcodes else error
    return {"error_code": code, "error_subcode": subcode, "error": error, "meaning": meaning}


def _open(body: bytes) -> Fields:
    version, my_as, hold_time = struct.unpack_from("!BHH", body)
    found: Fields = {"version": version, "my_as": my_as, "hold_time": hold_time, "identifier": ip(body, 5)}
    capabilities = []
    for kind, value in tlvs(body[10:]):
        if kind != 2:
            continue
        for code, capability in tlvs(value):
            capabilities.append(named(CAPABILITIES, code))
            if code == 65 and len(capability) == 4:
                found["as4"] = u32(capability)
    return found | {"capabilities": capabilities}


def _update(body: bytes) -> Fields:
    withdrawn_length = u16(body)
    withdrawn = _prefixes(body[2 : 2 + withdrawn_length], IPV4)
    at = 2 + withdrawn_length
    attributes_length = u16(body, at)
    attributes = body[at + 2 : at + 2 + attributes_length]
    nlri = _prefixes(body[at + 2 + attributes_length :], IPV4)
    found: Fields = {}
    if withdrawn:
        found["withdrawn"] = withdrawn
    if nlri:
        found["nlri"] = nlri
    return found | _attributes(attributes)


def _attributes(raw: bytes) -> Fields:
    found: Fields = {}
    at = 0
    while at + 3 <= len(raw):
        flags, kind = raw[at], raw[at + 1]
        size = 2 if flags & 0x10 else 1
        length = int.from_bytes(raw[at + 2 : at + 2 + size])
        value = raw[at + 2 + size : at + 2 + size + length]
        at += 2 + size + length
        found |= _attribute(kind, value)
    return found


def _attribute(kind: int, value: bytes) -> Fields:
    if kind == 1 and value:
        return {"origin": named(ORIGINS, value[0])}
    if kind == 2:
        size, path = _as_path(value)
        return {"as_path": path, "as_size": size} if path else {}
    if kind == 3 and len(value) == 4:
        return {"next_hops": [ip(value)]}
    if kind == 4 and len(value) == 4:
        return {"med": u32(value)}
    if kind == 5 and len(value) == 4:
        return {"local_pref": u32(value)}
    if kind == 8:
        pairs = [value[at : at + 4] for at in range(0, len(value) - 3, 4)]
        return {"communities": [f"{u16(pair)}:{u16(pair, 2)}" for pair in pairs]}
    if kind == 14:
        return _mp_reach(value)
    if kind == 15 and len(value) >= 3:
        return {"mp_unreach": _mp_prefixes(u16(value), value[2], value[3:])}
    if kind == 17:
        return {"as4_path": _as_numbers(value, 4) or []}
    return {}


def _as_path(value: bytes) -> tuple[int, list[int]]:
    """Give the size of AS numbers in the path and the path: four bytes wherever that fits, as sessions mostly are."""
    for size in (4, 2):
        path = _as_numbers(value, size)
        if path is not None:
            return size, path
    return 2, []


def _as_numbers(value: bytes, size: int) -> list[int] | None:
    """Give the AS numbers of all segments, None when they do not have this size."""
    numbers: list[int] = []
    at = 0
    while at < len(value):
        if at + 2 > len(value) or value[at] not in (1, 2, 3, 4):
            return None
        count = value[at + 1]
        end = at + 2 + count * size
        if end > len(value):
            return None
        numbers += [int.from_bytes(value[one : one + size]) for one in range(at + 2, end, size)]
        at = end
    return numbers


def _mp_reach(value: bytes) -> Fields:
    family, service, length = struct.unpack_from("!HBB", value)
    hop = value[4 : 4 + length]
    hops = []
    if family == IPV6 and len(hop) >= 16:
        hops = [ip6(hop, at) for at in range(0, len(hop) - 15, 16)]
    elif family == IPV4 and len(hop) == 4:
        hops = [ip(hop)]
    found: Fields = {"mp_reach": _mp_prefixes(family, service, value[5 + length :])}
    return found | ({"next_hops": hops} if hops else {})


def _mp_prefixes(family: int, service: int, raw: bytes) -> list[str]:
    if family not in (IPV4, IPV6) or service not in (UNICAST, LABELLED):
        return []
    return _prefixes(raw, family, labelled=service == LABELLED)


def _prefixes(raw: bytes, family: int, *, labelled: bool = False) -> list[str]:
    """Give the prefixes; with the add path capability each has four bytes before it, which nothing else tells."""
    longest = 32 if family == IPV4 else 128
    size = 0 if _fits(raw, longest + (24 if labelled else 0)) else 4
    found = []
    at = 0
    while at + size < len(raw):
        at += size
        length = raw[at]
        value = raw[at + 1 : at + 1 + (length + 7) // 8]
        at += 1 + (length + 7) // 8
        while labelled and len(value) >= 3:
            last = value[2] & 1
            value, length = value[3:], length - 24
            if last:
                break
        found.append(prefix4(value, length) if family == IPV4 else prefix6(value, length))
    return found


def _fits(raw: bytes, longest: int) -> bool:
    """Whether these are prefixes of sensible lengths one after the other, without path identifiers between them."""
    at = defaults = 0
    while at < len(raw):
        length = raw[at]
        defaults += length == 0
        # path identifiers are mostly small, and their zeros look like default routes
        if length > longest or defaults > 1:
            return False
        at += 1 + (length + 7) // 8
    return at == len(raw)
