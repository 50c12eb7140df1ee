"""One OSPF interface: who is heard on it, and who is the designated router."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv4Interface

from gns3server_copilot.demo.network.interfaces import Interface
from gns3server_copilot.demo.network.ospf_packets import NO_ADDRESS, Hello, Lsa, LsaKey

INIT = "INIT"
TWO_WAY = "2WAY"
FULL = "FULL"

DESIGNATED = "DR"
BACKUP = "BDR"
OTHER = "DROTHER"


@dataclass(slots=True)
class Neighbor:
    router_id: IPv4Address
    address: IPv4Address
    state: str = INIT
    priority: int = 1
    designated_router: IPv4Address = NO_ADDRESS
    backup_router: IPv4Address = NO_ADDRESS
    last_heard: float = 0.0
    full_since: float = 0.0
    #: Its database was asked for and has not come yet.
    loading: bool = False
    unacknowledged: dict[LsaKey, Lsa] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Candidate:
    priority: int
    router_id: IPv4Address
    address: IPv4Address
    designated_router: IPv4Address
    backup_router: IPv4Address


@dataclass(slots=True)
class Circuit:
    interface: Interface
    address: IPv4Interface
    area: IPv4Address
    router_id: IPv4Address
    passive: bool
    neighbors: dict[IPv4Address, Neighbor] = field(default_factory=dict)
    designated_router: IPv4Address = NO_ADDRESS
    backup_router: IPv4Address = NO_ADDRESS
    next_hello: float = 0.0
    next_retransmission: float = 0.0

    @property
    def cost(self) -> int:
        return self.interface.ospf.cost or 1

    @property
    def role(self) -> str:
        return self._role_of(self.address.ip)

    def role_of(self, neighbor: Neighbor) -> str:
        return self._role_of(neighbor.address)

    def _role_of(self, address: IPv4Address) -> str:
        if address == self.designated_router:
            return DESIGNATED
        return BACKUP if address == self.backup_router else OTHER

    def full_neighbors(self) -> list[Neighbor]:
        return [neighbor for neighbor in self.neighbors.values() if neighbor.state == FULL]

    def is_transit(self) -> bool:
        """Whether this network joins routers: its designated router is adjacent to us, or we are it."""
        full = self.full_neighbors()
        if self.role == DESIGNATED:
            return bool(full)
        return any(neighbor.address == self.designated_router for neighbor in full)

    def hello(self) -> Hello:
        settings = self.interface.ospf
        return Hello(
            mask=self.address.network.netmask,
            hello_interval=settings.effective_hello,
            dead_interval=settings.effective_dead,
            priority=settings.effective_priority,
            designated_router=self.designated_router,
            backup_router=self.backup_router,
            neighbors=tuple(sorted(self.neighbors)),
        )

    def mismatch(self, hello: Hello, source: IPv4Address) -> str | None:
        """Why a hello must be ignored (RFC 2328, 10.5), or None."""
        settings = self.interface.ospf
        if hello.mask != self.address.network.netmask or source not in self.address.network:
            return "mask"
        if hello.hello_interval != settings.effective_hello:
            return "hello interval"
        if hello.dead_interval != settings.effective_dead:
            return "dead interval"
        return None

    def heard(self, router_id: IPv4Address, source: IPv4Address, hello: Hello, now: float) -> Neighbor:
        """Take in a hello that fits. The neighbour's state follows from `settle`."""
        neighbor = self.neighbors.setdefault(router_id, Neighbor(router_id, source))
        neighbor.address = source
        neighbor.priority = hello.priority
        neighbor.designated_router = hello.designated_router
        neighbor.backup_router = hello.backup_router
        neighbor.last_heard = now
        if self.router_id not in hello.neighbors:
            neighbor.state = INIT
        elif neighbor.state == INIT:
            neighbor.state = TWO_WAY
        return neighbor

    def silent_neighbors(self, now: float) -> list[Neighbor]:
        dead = self.interface.ospf.effective_dead
        return [neighbor for neighbor in self.neighbors.values() if now - neighbor.last_heard > dead]

    def settle(self, now: float, became_full: Callable[[Neighbor], None]) -> None:
        """Elect the designated routers anew and bring those neighbours to FULL that must be adjacent."""
        self._elect()
        for neighbor in self.neighbors.values():
            adjacent = self.role != OTHER or self.role_of(neighbor) != OTHER
            if neighbor.state == TWO_WAY and adjacent:
                neighbor.state = FULL
                neighbor.full_since = now
                neighbor.loading = True
                became_full(neighbor)
            elif neighbor.state == FULL and not adjacent:
                neighbor.state = TWO_WAY
            if neighbor.state != FULL:
                neighbor.unacknowledged.clear()

    def _elect(self) -> None:
        """RFC 2328, 9.4. The first election does not wait for a dead interval: a lab should be up at once."""
        # The second round is the RFC's step 4: one who has just become designated is no backup any more.
        for _ in range(2):
            candidates = self._candidates()
            others = [c for c in candidates if c.designated_router != c.address]
            declared_backups = [c for c in others if c.backup_router == c.address]
            backup = max(declared_backups or others, key=_rank, default=None)
            declared = [c for c in candidates if c.designated_router == c.address]
            designated = max(declared, key=_rank, default=backup)
            self.designated_router = designated.address if designated else NO_ADDRESS
            self.backup_router = backup.address if backup and backup is not designated else NO_ADDRESS

    def _candidates(self) -> list[_Candidate]:
        own = _Candidate(
            self.interface.ospf.effective_priority,
            self.router_id,
            self.address.ip,
            self.designated_router,
            self.backup_router,
        )
        heard = [
            _Candidate(n.priority, n.router_id, n.address, n.designated_router, n.backup_router)
            for n in self.neighbors.values()
            if n.state != INIT
        ]
        return [candidate for candidate in (own, *heard) if candidate.priority > 0]


def _rank(candidate: _Candidate) -> tuple[int, IPv4Address]:
    return candidate.priority, candidate.router_id
