"""The link state database of one area, and the shortest paths through it."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field, replace
from ipaddress import IPv4Address, IPv4Network

from gns3server_copilot.demo.network.ospf_packets import (
    FIRST_SEQUENCE,
    LINK_TRANSIT,
    MAX_AGE,
    NETWORK_LSA,
    ROUTER_LSA,
    Lsa,
    LsaKey,
)
from gns3server_copilot.demo.network.routes import OSPF, Route

REFRESH_AGE = 1800


def newer(one: Lsa, other: Lsa) -> bool:
    """RFC 2328, 13.1, without the tie breaker by age."""
    if one.sequence == other.sequence and one.body != other.body:
        return one.checksum() > other.checksum()
    return later(one.sequence, other.sequence)


def later(one: int, other: int) -> bool:
    """Whether a sequence number is the newer one; they are signed."""
    return _signed(one) > _signed(other)


def _signed(sequence: int) -> int:
    return sequence - (1 << 32) if sequence & 0x80000000 else sequence


@dataclass(slots=True)
class _Stored:
    lsa: Lsa
    since: float


class Database:
    def __init__(self) -> None:
        self._stored: dict[LsaKey, _Stored] = {}

    def get(self, key: LsaKey) -> Lsa | None:
        stored = self._stored.get(key)
        return stored.lsa if stored else None

    def install(self, lsa: Lsa, now: float) -> None:
        self._stored[lsa.key] = _Stored(lsa, now)

    def remove(self, key: LsaKey) -> None:
        self._stored.pop(key, None)

    def all(self, now: float) -> list[Lsa]:
        """All LSAs with their present ages."""
        return [
            replace(stored.lsa, age=min(MAX_AGE, stored.lsa.age + int(now - stored.since)))
            for _, stored in sorted(self._stored.items(), key=lambda item: _order(item[0]))
        ]

    def expire(self, now: float) -> bool:
        """Drop what is too old; True when something was."""
        old = [lsa.key for lsa in self.all(now) if lsa.age >= MAX_AGE]
        for key in old:
            del self._stored[key]
        return bool(old)

    def own_version(self, key: LsaKey, body: bytes, now: float) -> Lsa | None:
        """The LSA to originate so that the database says `body`; None when it says so already."""
        stored = self._stored.get(key)
        if stored is None:
            return Lsa(key, FIRST_SEQUENCE, body)
        if stored.lsa.body == body and now - stored.since < REFRESH_AGE:
            return None
        return Lsa(key, stored.lsa.sequence + 1, body)


def _order(key: LsaKey) -> tuple[int, IPv4Address, IPv4Address]:
    return key.type, key.id, key.advertising_router


Hop = tuple[str, IPv4Address | None]
"""The interface to leave by and the neighbour on it; None for what is directly attached."""

_Vertex = tuple[int, IPv4Address]


@dataclass(slots=True)
class _Reached:
    distance: int
    hops: set[Hop] = field(default_factory=set)


def shortest_paths(lsas: list[Lsa], root: IPv4Address, interfaces: dict[IPv4Address, str], now: float) -> list[Route]:
    """The routes of an area (RFC 2328, 16.1).

    `root` is the own router id, `interfaces` gives the name of the own interface with an address. What is directly
    attached is not among the routes.
    """
    tree = _dijkstra(_Graph(lsas), root, interfaces)
    best: dict[IPv4Network, _Reached] = {}
    for prefix, distance, hops in _destinations(lsas, tree):
        known = best.get(prefix)
        if known is None or distance < known.distance:
            best[prefix] = _Reached(distance, set(hops))
        elif distance == known.distance:
            known.hops |= hops
    return [
        Route(OSPF, prefix, next_hop, interface, reached.distance, now)
        for prefix, reached in best.items()
        for interface, next_hop in sorted(reached.hops, key=str)
        if next_hop is not None
    ]


class _Graph:
    """Routers and networks with the links that both ends tell of."""

    def __init__(self, lsas: list[Lsa]) -> None:
        self._links: dict[IPv4Address, dict[IPv4Address, tuple[IPv4Address, int]]] = {}
        self._attached: dict[IPv4Address, tuple[IPv4Address, ...]] = {}
        for lsa in lsas:
            if lsa.key.type == ROUTER_LSA:
                transit = [link for link in lsa.router_links() if link.type == LINK_TRANSIT]
                self._links[lsa.key.id] = {link.id: (link.data, link.metric) for link in transit}
            elif lsa.key.type == NETWORK_LSA:
                self._attached[lsa.key.id] = lsa.attached_routers()

    def next(self, vertex: _Vertex) -> list[tuple[_Vertex, int, IPv4Address]]:
        """What can be reached from `vertex`: vertex, metric, and the address of the router of that step there."""
        type_, id_ = vertex
        if type_ == ROUTER_LSA:
            links = self._links.get(id_, {})
            return [
                ((NETWORK_LSA, network), metric, address)
                for network, (address, metric) in links.items()
                if id_ in self._attached.get(network, ())
            ]
        return [
            ((ROUTER_LSA, router), 0, self._links[router][id_][0])
            for router in self._attached.get(id_, ())
            if id_ in self._links.get(router, {})
        ]


def _dijkstra(graph: _Graph, root: IPv4Address, interfaces: dict[IPv4Address, str]) -> dict[_Vertex, _Reached]:
    start = (ROUTER_LSA, root)
    tree = {start: _Reached(0)}
    queue: list[tuple[int, _Vertex]] = [(0, start)]
    while queue:
        distance, vertex = heapq.heappop(queue)
        if distance > tree[vertex].distance:
            continue
        for target, metric, address in graph.next(vertex):
            hops = _hops(vertex == start, target, address, tree[vertex].hops, interfaces)
            known = tree.get(target)
            if known is None or distance + metric < known.distance:
                tree[target] = _Reached(distance + metric, hops)
                heapq.heappush(queue, (distance + metric, target))
            elif distance + metric == known.distance and target != start:
                known.hops |= hops
    return tree


def _hops(
    from_root: bool, target: _Vertex, address: IPv4Address, before: set[Hop], interfaces: dict[IPv4Address, str]
) -> set[Hop]:
    if from_root:
        return {(interfaces[address], None)} if address in interfaces else set()
    if target[0] == ROUTER_LSA:
        return {(interface, hop or address) for interface, hop in before}
    return set(before)


def _destinations(lsas: list[Lsa], tree: dict[_Vertex, _Reached]) -> list[tuple[IPv4Network, int, set[Hop]]]:
    return [
        (prefix, reached.distance + metric, reached.hops)
        for lsa in lsas
        if (reached := tree.get((lsa.key.type, lsa.key.id)))
        for prefix, metric in lsa.networks()
    ]
