"""Frames that differ only in their payload are one flow: same layers, same endpoints, so walked through once.

A flow's key is cut from the bytes of a frame's headers. That is several times as fast as the walk, and it is what lets
a summary read more than 100,000 frames a second.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from gns3server_copilot.packets.tcp import Half, Stream
from gns3server_copilot.packets.walk.steps import Layer
from gns3server_copilot.packets.walk.transport import CHECKED_PORTS, CHECKED_STARTS

TCP, UDP, ICMP, ICMPV6 = 6, 17, 1, 58
#: Protocols that carry nothing else: EIGRP, OSPF, PIM, VRRP.
LEAVES = (88, 89, 103, 112)

#: The last byte of a key: what it is, whether it is tagged, whether TCP or UDP carries data.
_TAILS = {
    (number, tagged, data): bytes([number, tagged << 1 | data])
    for number in (TCP, UDP, ICMP, ICMPV6, *LEAVES)
    for tagged in (False, True)
    for data in (False, True)
}
_ARP = b"\x00\x00"


@dataclass(slots=True)
class Flow:
    """Frames of one key; times are in nanoseconds. `source` and `destination` as `conversation_of` gives them."""

    layers: tuple[str, ...]
    link_type: int
    protocol: str
    source: bytes
    destination: bytes
    first: int
    last: int = 0
    frames: int = 0
    octets: int = 0
    #: whether each frame has to be looked at, not only counted
    watched: bool = False
    #: where the TCP header begins, and where the length of the packet is, for flows whose connection is followed
    tcp_at: int = 0
    length_at: int = 0
    #: bytes that this length counts before the TCP header
    length_of_headers: int = 0
    #: the connection, and what this end and the other have sent of it
    stream: Stream | None = None
    half: Half | None = None
    other: Half | None = None

    def follow(self, layers: tuple[Layer, ...]) -> None:
        """Note where a flow of TCP over IP has what following its connection takes."""
        for below, layer in itertools.pairwise(layers):
            if layer.protocol == "tcp":
                ipv4 = below.protocol == "ipv4"
                self.tcp_at = layer.start
                self.length_at = below.start + (2 if ipv4 else 4)
                self.length_of_headers = layer.start - below.start if ipv4 else 0


def flow_key(data: bytes) -> bytes | None:
    """Give the flow of an Ethernet frame whose lengths fit; None for every frame that has to be walked through.

    May raise IndexError for a frame that is too short.
    """
    at = 14
    kind = data[12] << 8 | data[13]
    tagged = kind == 0x8100
    if tagged:
        kind, at = data[16] << 8 | data[17], 18
    if kind == 0x0800:
        # no options, not fragmented
        if data[at] != 0x45 or data[at + 6] & 0x3F or data[at + 7]:
            return None
        end = at + (data[at + 2] << 8 | data[at + 3])
        protocol, body, addresses = data[at + 9], at + 20, at + 12
    elif kind == 0x86DD:
        end = at + 40 + (data[at + 4] << 8 | data[at + 5])
        protocol, body, addresses = data[at + 6], at + 40, at + 8
    elif kind == 0x0806:
        return data[:12] + _ARP if len(data) >= at + 28 and not tagged else None
    else:
        return None
    if end > len(data):
        return None
    if protocol == TCP:
        header = body + (data[body + 12] >> 4 << 2)
        if header < body + 20 or header > end:
            return None
        key = data[addresses : body + 4] + _TAILS[TCP, tagged, end > header]
        if end > header and data[header] in CHECKED_STARTS:
            source, destination = data[body] << 8 | data[body + 1], data[body + 2] << 8 | data[body + 3]
            if source in CHECKED_PORTS or destination in CHECKED_PORTS:
                return key + data[header : header + 4]
        return key
    if protocol == UDP:
        length = data[body + 4] << 8 | data[body + 5]
        return data[addresses : body + 4] + _TAILS[UDP, tagged, length > 8] if 8 <= length <= end - body else None
    if protocol in (ICMP, ICMPV6) and end >= body + 8:
        return data[addresses : body + 1] + _TAILS[protocol, tagged, False]
    if protocol in LEAVES and end > body:
        return data[addresses:body] + _TAILS[protocol, tagged, False]
    return None
