"""Who talks with whom, and how much, in each direction."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from gns3server_copilot.packets.addresses import endpoint_text, ip_text, mac_text
from gns3server_copilot.packets.flows import Flow
from gns3server_copilot.packets.records import SECOND
from gns3server_copilot.packets.walk.steps import Layer, u16

PORTS = ("tcp", "udp")
Ends = tuple[str, bytes, bytes]


@dataclass
class Way:
    """One direction of a conversation; times are in nanoseconds."""

    frames: int
    octets: int
    first: int
    last: int


def conversation_of(data: bytes, layers: tuple[Layer, ...]) -> Ends | None:
    """Give protocol, source and destination of a frame's outermost conversation, None where it has no addresses.

    Sources and destinations are addresses, with two bytes of port behind them for TCP and UDP.
    """
    addresses: Ends | None = None
    for layer in layers:
        at = layer.start
        if layer.protocol == "ethernet":
            addresses = ("ethernet", data[at + 6 : at + 12], data[at : at + 6])
        elif layer.protocol == "ipv4":
            addresses = ("ipv4", data[at + 12 : at + 16], data[at + 16 : at + 20])
        elif layer.protocol == "ipv6":
            addresses = ("ipv6", data[at + 8 : at + 24], data[at + 24 : at + 40])
        elif addresses and addresses[0] != "ethernet":
            if layer.protocol in PORTS:
                return layer.protocol, addresses[1] + data[at : at + 2], addresses[2] + data[at + 2 : at + 4]
            return layer.protocol, addresses[1], addresses[2]
    return addresses


class Conversations:
    """The conversations that flows make up."""

    def __init__(self, flows: Iterable[Flow]) -> None:
        self._ways: dict[Ends, Way] = {}
        for flow in flows:
            key = (flow.protocol, flow.source, flow.destination)
            way = self._ways.get(key)
            if way is None:
                self._ways[key] = Way(flow.frames, flow.octets, flow.first, flow.last)
            else:
                way.frames += flow.frames
                way.octets += flow.octets
                way.first, way.last = min(way.first, flow.first), max(way.last, flow.last)

    def top(self, limit: int) -> tuple[list[dict[str, Any]], int]:
        """Give the conversations with the most bytes, and the number of all."""
        merged: dict[Ends, list[Way | None]] = {}
        for (protocol, source, destination), way in self._ways.items():
            both = merged.get((protocol, destination, source))
            if both is not None and source != destination:
                both[1] = way
            else:
                merged[protocol, source, destination] = [way, None]
        ordered = sorted(merged.items(), key=lambda item: -sum(way.octets for way in item[1] if way))
        return [_told(key, *ways) for key, ways in ordered[:limit]], len(merged)

    def one_way(self) -> list[tuple[str, str, str, int]]:
        """Give protocol, source, destination and frames of each direction without a single frame back."""
        return [
            (protocol, end_text(protocol, source), end_text(protocol, destination), way.frames)
            for (protocol, source, destination), way in self._ways.items()
            if (protocol, destination, source) not in self._ways
        ]


def _told(key: Ends, there: Way | None, back: Way | None) -> dict[str, Any]:
    protocol, source, destination = key
    ways = [way for way in (there, back) if way]
    return {
        "protocol": protocol,
        "a": end_text(protocol, source),
        "b": end_text(protocol, destination),
        "frames_a_to_b": there.frames if there else 0,
        "frames_b_to_a": back.frames if back else 0,
        "bytes": sum(way.octets for way in ways),
        "seconds": round((max(way.last for way in ways) - min(way.first for way in ways)) / SECOND, 3),
    }


def end_text(protocol: str, raw: bytes) -> str:
    """Give one end of a conversation as text: a MAC or IP address, with the port where there is one."""
    if protocol in PORTS:
        return endpoint_text(ip_text(raw[:-2]), u16(raw, len(raw) - 2)) if len(raw) > 4 else ip_text(raw)
    return mac_text(raw) if len(raw) == 6 else ip_text(raw)
