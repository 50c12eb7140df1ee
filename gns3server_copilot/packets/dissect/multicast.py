"""IGMP and PIM."""

from __future__ import annotations

from gns3server_copilot.packets.dissect.base import Context, Fields, dissects, ip, ip6, named, tlvs, u16, u32

IGMP_TYPES = {
    0x11: "Query",
    0x12: "v1-Report",
    0x14: "PIMv1",
    0x16: "v2-Report",
    0x17: "Leave",
    0x22: "v3-Report",
}
#: Cisco's RGMP uses the types from here on.
FIRST_RGMP = 0xFC
RECORDS = {
    1: "include",
    2: "exclude",
    3: "change to include",
    4: "change to exclude",
    5: "allow new sources",
    6: "block old sources",
}
PIM_TYPES = {
    0: "Hello",
    1: "Register",
    2: "Register-Stop",
    3: "Join/Prune",
    4: "Bootstrap",
    5: "Assert",
    6: "Graft",
    7: "Graft-Ack",
    8: "C-RP-Adv",
    9: "State-Refresh",
}


@dissects("igmp", "type groups records sources max_response querier src dst general")
def igmp(data: bytes, context: Context) -> list[Fields]:
    """Queries, reports and leaves of all versions."""
    kind = data[0]
    if kind >= FIRST_RGMP:
        return []
    found: Fields = {"type": named(IGMP_TYPES, kind), "src": context.source, "dst": context.destination}
    if kind == 0x22:
        return [found | _report3(data)]
    found["groups"] = [ip(data, 4)]
    if kind == 0x11:
        found |= {"max_response": data[1] / 10, "querier": context.source, "general": not any(data[4:8])}
    return [found]


def _report3(data: bytes) -> Fields:
    groups, records, sources = [], [], []
    at = 8
    for _ in range(u16(data, 6)):
        if at + 8 > len(data):
            break
        count = u16(data, at + 2)
        groups.append(ip(data, at + 4))
        records.append(named(RECORDS, data[at]))
        sources += [ip(data, one) for one in range(at + 8, min(at + 8 + 4 * count, len(data) - 3), 4)]
        at += 8 + 4 * count + 4 * data[at + 1]
    found: Fields = {"groups": groups, "records": records}
    return found | ({"sources": sources} if sources else {})


@dissects(
    "pim",
    "type version src dst hold_time dr_priority generation_id upstream groups joined pruned rp_addresses register",
)
def pim(data: bytes, context: Context) -> list[Fields]:
    """Hellos and joins; of the other messages the kind."""
    kind = data[0] & 15
    found: Fields = {
        "type": named(PIM_TYPES, kind),
        "version": data[0] >> 4,
        "src": context.source,
        "dst": context.destination,
    }
    if kind == 0:
        for option, value in tlvs(data[4:], "!HH"):
            if option == 1 and len(value) == 2:
                found["hold_time"] = u16(value)
            elif option == 19 and len(value) == 4:
                found["dr_priority"] = u32(value)
            elif option == 20 and len(value) == 4:
                found["generation_id"] = u32(value)
    elif kind in (3, 6, 7):
        found |= _join_prune(data)
    elif kind in (4, 8):
        address, _ = _unicast(data, 8)
        found["rp_addresses"] = [address]
    return [found]


def _join_prune(data: bytes) -> Fields:
    upstream, at = _unicast(data, 4)
    found: Fields = {"upstream": upstream, "hold_time": u16(data, at + 2)}
    groups: list[str] = []
    joined: list[str] = []
    pruned: list[str] = []
    count, at = data[at + 1], at + 4
    for _ in range(count):
        size = 4 if data[at] == 1 else 16
        group = ip(data, at + 4) if size == 4 else ip6(data, at + 4)
        groups.append(group)
        at += 4 + size
        joins, prunes = u16(data, at), u16(data, at + 2)
        at += 4
        for number in range(joins + prunes):
            source = ip(data, at + 4) if size == 4 else ip6(data, at + 4)
            (joined if number < joins else pruned).append(f"({source}, {group})")
            at += 4 + size
    return found | {"groups": groups, "joined": joined, "pruned": pruned}


def _unicast(data: bytes, at: int) -> tuple[str, int]:
    """Read an encoded unicast address; give it and where it ends."""
    if data[at] == 1:
        return ip(data, at + 2), at + 6
    return ip6(data, at + 2), at + 18
