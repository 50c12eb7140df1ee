"""A routing table: longest prefix first, then administrative distance, then metric."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network

CONNECTED = "C"
LOCAL = "L"
STATIC = "S"
OSPF = "O"

DISTANCES = {CONNECTED: 0, LOCAL: 0, STATIC: 1, OSPF: 110}

_MOST_RECURSIONS = 4


@dataclass(frozen=True, slots=True)
class Route:
    """`interface` is None for a static route, which is resolved through another one."""

    kind: str
    prefix: IPv4Network
    next_hop: IPv4Address | None = None
    interface: str | None = None
    metric: int = 0
    since: float = 0.0

    @property
    def distance(self) -> int:
        return DISTANCES[self.kind]


class RoutingTable:
    def __init__(self) -> None:
        self._sources: dict[str, list[Route]] = {}
        self._best: dict[IPv4Network, list[Route]] = {}

    def replace(self, source: str, routes: list[Route]) -> None:
        """Put `routes` in place of all earlier ones of the same source. A route that was there keeps its age."""
        known = {(r.prefix, r.next_hop, r.interface, r.metric): r for r in self._sources.get(source, [])}
        self._sources[source] = [known.get((r.prefix, r.next_hop, r.interface, r.metric), r) for r in routes]
        self._choose()

    def _choose(self) -> None:
        candidates: dict[IPv4Network, list[Route]] = {}
        for routes in self._sources.values():
            for route in routes:
                candidates.setdefault(route.prefix, []).append(route)
        self._best = {}
        for prefix, routes in candidates.items():
            best = min((route.distance, route.metric) for route in routes)
            self._best[prefix] = [route for route in routes if (route.distance, route.metric) == best]

    def installed(self) -> list[Route]:
        """The routes in use, by prefix. A static route whose next hop cannot be reached is not among them."""
        chosen = [route for prefix in sorted(self._best) for route in self._best[prefix]]
        return [route for route in chosen if self._resolve(route) is not None]

    def lookup(self, destination: IPv4Address) -> tuple[str, IPv4Address] | None:
        """The interface's name and the neighbour's address to send to, or None."""
        for route in self.matching(destination):
            resolved = self._resolve(route)
            if resolved:
                interface, next_hop = resolved
                return interface, next_hop or destination
        return None

    def matching(self, destination: IPv4Address) -> list[Route]:
        """The routes that cover `destination`, the most specific first."""
        covering = [prefix for prefix in self._best if destination in prefix]
        covering.sort(key=lambda prefix: prefix.prefixlen, reverse=True)
        return [route for prefix in covering for route in self._best[prefix]]

    def _resolve(self, route: Route, depth: int = 0) -> tuple[str, IPv4Address | None] | None:
        if route.interface:
            return route.interface, route.next_hop
        if route.next_hop is None or depth == _MOST_RECURSIONS:
            return None
        for through in self.matching(route.next_hop):
            # A default route must not be reached through itself.
            if through is route or (through.prefix.prefixlen == 0 and route.prefix.prefixlen == 0):
                continue
            resolved = self._resolve(through, depth + 1)
            if resolved:
                interface, next_hop = resolved
                return interface, next_hop or route.next_hop
        return None
