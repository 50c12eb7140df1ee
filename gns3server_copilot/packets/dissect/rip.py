"""RIP and RIPng."""

from __future__ import annotations

from gns3server_copilot.packets.dissect.base import Context, Fields, dissects, ip, ip6, named, prefix6, text, u16, u32

COMMANDS = {1: "Request", 2: "Response"}
INFINITY = 16
ENTRY = 20
AUTHENTICATION = 0xFFFF
PASSWORD, SIGNED = 2, 3


@dissects(
    "rip",
    "command version src dst routes networks masks next_hops metrics tags auth_type password infinity whole_table",
)
def rip(data: bytes, context: Context) -> list[Fields]:
    """Versions 1 and 2."""
    found: Fields = {
        "command": named(COMMANDS, data[0]),
        "version": data[1],
        "src": context.source,
        "dst": context.destination,
    }
    routes = []
    at, end = 4, len(data)
    while at + ENTRY <= end:
        entry = data[at : at + ENTRY]
        at += ENTRY
        if u16(entry) == AUTHENTICATION:
            found["auth_type"] = u16(entry, 2)
            if found["auth_type"] == PASSWORD:
                found["password"] = text(entry[4:])
            elif found["auth_type"] == SIGNED:
                # the digest follows where the entry says that the packet ends
                end = min(end, u16(entry, 4))
        elif u16(entry):
            routes.append(entry)
        else:
            found["whole_table"] = True
    if routes:
        metrics = [u32(route, 16) for route in routes]
        found |= {
            "networks": [ip(route, 4) for route in routes],
            "metrics": metrics,
            "infinity": INFINITY in metrics,
        }
        if data[1] == 2:
            found |= {"masks": [ip(route, 8) for route in routes], "tags": [u16(route, 2) for route in routes]}
            found["next_hops"] = [ip(route, 12) for route in routes]
            found["routes"] = [f"{ip(route, 4)}/{bin(u32(route, 8)).count('1')}" for route in routes]
        else:
            found["routes"] = found["networks"]
    return [found]


@dissects("ripng", "command version src dst routes metrics next_hop infinity")
def ripng(data: bytes, context: Context) -> list[Fields]:
    """RIP for IPv6."""
    found: Fields = {
        "command": named(COMMANDS, data[0]),
        "version": data[1],
        "src": context.source,
        "dst": context.destination,
    }
    routes, metrics = [], []
    for at in range(4, len(data) - ENTRY + 1, ENTRY):
        entry = data[at : at + ENTRY]
        if entry[19] == 0xFF:
            found["next_hop"] = ip6(entry)
        else:
            routes.append(prefix6(entry[:16], entry[18]))
            metrics.append(entry[19])
    if routes:
        found |= {"routes": routes, "metrics": metrics, "infinity": INFINITY in metrics}
    return [found]
