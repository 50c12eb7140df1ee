"""DNS, over UDP and TCP, and by multicast on the local link."""

from __future__ import annotations

import struct

from gns3server_copilot.packets.dissect.base import Context, Fields, dissects, ip, ip6, named, u16

TYPES = {
    1: "A",
    2: "NS",
    5: "CNAME",
    6: "SOA",
    12: "PTR",
    15: "MX",
    16: "TXT",
    28: "AAAA",
    33: "SRV",
    35: "NAPTR",
    41: "OPT",
    43: "DS",
    46: "RRSIG",
    47: "NSEC",
    48: "DNSKEY",
    50: "NSEC3",
    64: "SVCB",
    65: "HTTPS",
    251: "IXFR",
    252: "AXFR",
    255: "ANY",
}
RCODES = {
    0: "NOERROR",
    1: "FORMERR",
    2: "SERVFAIL",
    3: "NXDOMAIN",
    4: "NOTIMP",
    5: "REFUSED",
    9: "NOTAUTH",
}
OPCODES = {0: "query", 4: "notify", 5: "update"}
#: A name has at most 127 labels; pointers that run in circles end there.
MOST_LABELS = 127
FIELDS = (
    "id response opcode rcode query_names query_types answers a_answers aaaa_answers cname_answers authoritative "
    "truncated recursion_desired recursion_available src dst"
)


@dissects("mdns", FIELDS)
@dissects("dns", FIELDS)
def dns(data: bytes, context: Context) -> list[Fields]:
    """One message; over TCP every whole message of the segment."""
    if context.below("tcp", "udp", "ipv4", "ipv6") is None or context.frame.layers[context.index - 1].protocol != "tcp":
        return [_message(data, context)]
    found = []
    at = 0
    while at + 2 < len(data):
        length = u16(data, at)
        whole = at + 2 + length <= len(data)
        if length < 12 or (not whole and at):
            break
        found.append(_message(data[at + 2 : at + 2 + length], context))
        at += 2 + length
    return found


def _message(data: bytes, context: Context) -> Fields:
    number, flags, questions, *counts = struct.unpack_from("!HHHHHH", data)
    found: Fields = {
        "id": number,
        "response": bool(flags & 0x8000),
        "opcode": named(OPCODES, flags >> 11 & 15),
        "authoritative": bool(flags & 0x0400),
        "truncated": bool(flags & 0x0200),
        "recursion_desired": bool(flags & 0x0100),
        "recursion_available": bool(flags & 0x0080),
        "src": context.source,
        "dst": context.destination,
    }
    if found["response"]:
        found["rcode"] = named(RCODES, flags & 15)
    names, kinds = [], []
    at = 12
    try:
        for _ in range(questions):
            name, at = _name(data, at)
            names.append(name)
            kinds.append(named(TYPES, u16(data, at)))
            at += 4
        if names:
            found |= {"query_names": names, "query_types": kinds}
        if any(counts):
            found |= _answers(data, at, counts[0], sum(counts))
    except (struct.error, ValueError, IndexError):
        found["truncated"] = True
    return found


def _answers(data: bytes, at: int, answers: int, records: int) -> Fields:
    """Give the records that can be read; a broken one ends them.

    Addresses are also of the additional records, `answers` only of the answer itself.
    """
    shown: list[str] = []
    by_kind: dict[str, list[str]] = {"A": [], "AAAA": [], "CNAME": []}
    try:
        for number in range(records):
            name, at = _name(data, at)
            kind, _class, _ttl, length = struct.unpack_from("!HHIH", data, at)
            at += 10
            value = _value(data, kind, at, length)
            if kind in (1, 28, 5):
                by_kind[TYPES[kind]].append(value)
            if number < answers:
                shown.append(f"{name} {named(TYPES, kind)} {value}".rstrip())
            at += length
    except (struct.error, ValueError, IndexError):
        pass
    found: Fields = {"answers": shown} if shown else {}
    for kind_name, values in by_kind.items():
        if values:
            found[f"{kind_name.lower()}_answers"] = values
    return found


def _value(data: bytes, kind: int, at: int, length: int) -> str:
    if kind == 1 and length == 4:
        return ip(data, at)
    if kind == 28 and length == 16:
        return ip6(data, at)
    if kind in (2, 5, 12):
        return _name(data, at)[0]
    if kind == 15:
        return f"{u16(data, at)} {_name(data, at + 2)[0]}"
    if kind == 33:
        return f"{_name(data, at + 6)[0]}:{u16(data, at + 4)}"
    if kind == 16 and length:
        return data[at + 1 : at + 1 + data[at]].decode("utf-8", "replace")
    return ""


def _name(data: bytes, at: int) -> tuple[str, int]:
    """Read a name that may point elsewhere; give it and where it ends."""
    labels: list[str] = []
    end = 0
    jumps = 0
    while True:
        length = data[at]
        if length >= 0xC0:
            end = end or at + 2
            at = u16(data, at) & 0x3FFF
            jumps += 1
        elif length:
            if at + 1 + length > len(data):
                raise ValueError("a name is cut")
            labels.append(data[at + 1 : at + 1 + length].decode("utf-8", "replace"))
            at += 1 + length
        else:
            return ".".join(labels) or "<Root>", end or at + 1
        if len(labels) + jumps > MOST_LABELS:
            raise ValueError("a name without end")
