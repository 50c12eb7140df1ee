"""An interface of a scripted device: its settings, its state and its counters."""

from __future__ import annotations

from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv4Interface


@dataclass(slots=True)
class OspfSettings:
    """What is configured for OSPF on an interface; None is the default."""

    hello_interval: int | None = None
    dead_interval: int | None = None
    cost: int | None = None
    priority: int | None = None
    process: int | None = None
    area: IPv4Address | None = None

    @property
    def effective_hello(self) -> int:
        return self.hello_interval or 10

    @property
    def effective_dead(self) -> int:
        return self.dead_interval or 4 * self.effective_hello

    @property
    def effective_priority(self) -> int:
        return 1 if self.priority is None else self.priority


@dataclass(slots=True)
class Counters:
    packets_in: int = 0
    bytes_in: int = 0
    packets_out: int = 0
    bytes_out: int = 0


@dataclass(slots=True)
class Interface:
    name: str
    mac: bytes
    address: IPv4Interface | None = None
    enabled: bool = True
    """Not `shutdown`."""
    connected: bool = True
    """The link is there; loopbacks always are."""
    loopback: bool = False
    description: str = ""
    ospf: OspfSettings = field(default_factory=OspfSettings)
    counters: Counters = field(default_factory=Counters)

    @property
    def up(self) -> bool:
        return self.enabled and self.connected

    @property
    def ip(self) -> IPv4Address | None:
        return self.address.ip if self.address else None
