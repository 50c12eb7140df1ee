"""What shows in no single protocol: fragments that are missing, and traffic that goes one way only."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator

from gns3server_copilot.packets.conversations import Conversations
from gns3server_copilot.packets.findings.base import Finding, Rows
from gns3server_copilot.packets.rows import Row

#: Fewer frames one way prove nothing.
MANY_FRAMES = 4
MOST_TOLD = 8
ASKING = {"tcp": "warning", "icmp": "warning", "icmpv6": "warning", "udp": "info"}


def fragments(rows: Rows) -> Iterator[Finding]:
    """Give packets that come in pieces, and those of which pieces are missing."""
    packets: dict[tuple[str, str, int, str], list[Row]] = {}
    for row in rows.rows:
        if row.get("fragment"):
            key = (str(row.get("src")), str(row.get("dst")), int(row.get("id")), str(row.get("protocol")))
            packets.setdefault(key, []).append(row)
    whole: dict[tuple[str, str], list[int]] = {}
    broken: dict[tuple[str, str], list[int]] = {}
    for (source, destination, _, _), pieces in packets.items():
        chosen = whole if _complete(pieces) or not rows.whole else broken
        chosen.setdefault((source, destination), []).extend(row.number for row in pieces)
    for (source, destination), numbers in whole.items():
        said = f"Packets of {source} to {destination} are fragmented: they are longer than an MTU on the way."
        yield Finding("ip_fragments", "ipv4", "info", said, tuple(numbers))
    for (source, destination), numbers in broken.items():
        said = f"Of packets of {source} to {destination} fragments are missing: they cannot be put together."
        yield Finding("ip_fragments_missing", "ipv4", "warning", said, tuple(numbers))


def _complete(pieces: list[Row]) -> bool:
    """Whether the pieces cover a packet without a gap, from its beginning to its last piece."""
    ordered = sorted(pieces, key=lambda row: int(row.get("fragment_offset")))
    reached = 0
    for row in ordered:
        begin = int(row.get("fragment_offset"))
        if begin > reached:
            return False
        reached = max(reached, begin + int(row.get("length")) - int(row.get("header_length")))
    return not ordered[-1].get("more_fragments")


def one_way(conversations: Conversations) -> Iterator[Finding]:
    """Give who sends to a single host and gets nothing back, most frames first."""
    found = []
    for protocol, source, destination, frames in conversations.one_way():
        if protocol in ASKING and frames >= MANY_FRAMES and _is_unicast(destination):
            found.append((frames, protocol, source, destination))
    for frames, protocol, source, destination in sorted(found, reverse=True)[:MOST_TOLD]:
        said = f"{source} sends {frames} {protocol} frames to {destination}, and nothing comes back on this link."
        yield Finding("one_way_traffic", protocol, ASKING[protocol], said, ())


def _is_unicast(end: str) -> bool:
    address = end.partition("]")[0][1:] if end.startswith("[") else end.partition(":")[0] if "." in end else end
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return False
    return not parsed.is_multicast and not address.endswith(".255")
