"""A protocol's message in a frame, as a row of fields: the protocol's own, and those that every frame has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gns3server_copilot.packets.addresses import ip_text, mac_text
from gns3server_copilot.packets.dissect.base import Context, Dissector, Fields
from gns3server_copilot.packets.records import SECOND
from gns3server_copilot.packets.walk.frame import Frame
from gns3server_copilot.packets.walk.steps import u16

#: Fields of every frame, with what they mean.
FRAME_FIELDS = {
    "frame.number": "number of the frame in the capture, from 1",
    "frame.time": "seconds since the first frame",
    "frame.length": "bytes on the wire",
    "frame.protocols": "protocols in the frame, from the outside in",
    "frame.eth_src": "MAC address of the sender",
    "frame.eth_dst": "MAC address of the receiver",
    "frame.vlan": "VLAN ids of the tags, from the outside in",
    "frame.src": "IP addresses of the sender, from the outside in",
    "frame.dst": "IP addresses of the receiver, from the outside in",
    "frame.ttl": "time to live or hop limit, from the outside in",
    "frame.sport": "TCP or UDP source port",
    "frame.dport": "TCP or UDP destination port",
}

#: Different messages of one protocol that are remembered.
MOST_REMEMBERED = 2_000

#: Names that people know from Wireshark.
ALIASES = {
    "frame.len": "frame.length",
    "frame.time_relative": "frame.time",
    "eth.src": "frame.eth_src",
    "eth.dst": "frame.eth_dst",
    "vlan.id": "frame.vlan",
    "ip.src": "frame.src",
    "ip.dst": "frame.dst",
    "ip.ttl": "frame.ttl",
    "ipv6.src": "frame.src",
    "ipv6.dst": "frame.dst",
    "tcp.srcport": "frame.sport",
    "tcp.dstport": "frame.dport",
    "udp.srcport": "frame.sport",
    "udp.dstport": "frame.dport",
}


@dataclass(frozen=True)
class Row:
    """One message. `fields` are the protocol's own; `time` is in seconds since the first frame."""

    number: int
    time: float
    link: tuple[int, ...]
    fields: Fields

    def get(self, name: str) -> Any:
        """Give the field's value, None where the message has none."""
        return self.fields.get(name)


class RowReader:
    """Takes one protocol's messages out of frames. Routers repeat their hellos, so those are taken apart once."""

    def __init__(self, dissector: Dissector, start: int) -> None:
        self._dissector = dissector
        self._start = start
        self._read: dict[tuple[bytes, str, str], list[Fields]] = {}

    def rows(self, frame: Frame) -> list[Row]:
        """Give the rows of every occurrence of the protocol in a frame.

        Raises whatever broken bytes make the protocol's reader raise.
        """
        rows = []
        for index, layer in enumerate(frame.own_layers):
            if layer.protocol == self._dissector.protocol:
                vlans = tuple(
                    [u16(frame.data, one.start) & 0xFFF for one in frame.layers[:index] if one.protocol == "vlan"]
                )
                time = (frame.record.time - self._start) / SECOND
                for fields in self._fields(frame.data[layer.start : layer.end], Context(frame, index)):
                    rows.append(Row(frame.number, time, vlans, fields))
        return rows

    def _fields(self, data: bytes, context: Context) -> list[Fields]:
        if not self._dissector.repeats:
            return self._dissector.read(data, context)
        key = (data, context.source, context.destination)
        known = self._read.get(key)
        if known is None:
            known = self._dissector.read(data, context)
            if len(self._read) < MOST_REMEMBERED:
                self._read[key] = known
        return known


def frame_fields(frame: Frame, first: int) -> Fields:
    """Give the fields that every frame has; those whose layer is missing are left out."""
    data = frame.data
    found: Fields = {
        "frame.number": frame.number,
        "frame.time": round((frame.record.time - first) / SECOND, 6),
        "frame.length": frame.record.length,
        "frame.protocols": [layer.protocol for layer in frame.layers],
    }

    def add(name: str, value: Any) -> None:
        found.setdefault(name, []).append(value)

    for layer in frame.own_layers:
        at = layer.start
        if layer.end < at + 4:
            break
        if layer.protocol == "ethernet":
            add("frame.eth_dst", mac_text(data[at : at + 6]))
            add("frame.eth_src", mac_text(data[at + 6 : at + 12]))
        elif layer.protocol == "vlan":
            add("frame.vlan", u16(data, at) & 0xFFF)
        elif layer.protocol == "ipv4" and layer.end >= at + 20:
            add("frame.src", ip_text(data[at + 12 : at + 16]))
            add("frame.dst", ip_text(data[at + 16 : at + 20]))
            add("frame.ttl", data[at + 8])
        elif layer.protocol == "ipv6" and layer.end >= at + 40:
            add("frame.src", ip_text(data[at + 8 : at + 24]))
            add("frame.dst", ip_text(data[at + 24 : at + 40]))
            add("frame.ttl", data[at + 7])
        elif layer.protocol in ("tcp", "udp"):
            add("frame.sport", u16(data, at))
            add("frame.dport", u16(data, at + 2))
    return found
