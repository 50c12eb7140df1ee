"""The state of a PC: one Ethernet interface, a gateway, and what it was told at start."""

from __future__ import annotations

import asyncio
import time
from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from pathlib import Path

from gns3server_copilot.demo.network.frames import Arp
from gns3server_copilot.demo.network.interfaces import Interface
from gns3server_copilot.demo.network.routes import STATIC, Route
from gns3server_copilot.demo.network.stack import Clock, IPStack, Transmit

ARP_LIFETIME = 120.0
STARTUP_FILE = "startup.vpc"

_PROBES = 3
_PROBE_SECONDS = 0.1


class Host:
    def __init__(self, mac: bytes, transmit: Transmit, directory: Path, clock: Clock = time.monotonic) -> None:
        self.name = "VPCS"
        self.gateway: IPv4Address | None = None
        self.interface = Interface("eth0", mac)
        self.stack = IPStack([self.interface], transmit, clock, forwards=False)
        self.stack.arp.lifetime = ARP_LIFETIME
        self.startup_file = directory / STARTUP_FILE

    def set_address(self, address: IPv4Interface | None, gateway: IPv4Address | None) -> None:
        self.interface.address = address
        self.gateway = gateway
        self.stack.interface_changed(self.interface)
        default = Route(STATIC, IPv4Network("0.0.0.0/0"), gateway)
        self.stack.routes.replace(STATIC, [default] if gateway else [])

    async def owner_of(self, address: IPv4Address) -> bytes | None:
        """The MAC address of another device on the link that has `address`."""
        owner: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

        def listen(_: Interface, arp: Arp) -> None:
            if arp.sender_ip == address and not owner.done():
                owner.set_result(arp.sender_mac)

        self.stack.arp_listeners.append(listen)
        try:
            for _ in range(_PROBES):
                self.stack.arp.probe(self.interface, address)
                done, _pending = await asyncio.wait({owner}, timeout=_PROBE_SECONDS)
                if done:
                    return owner.result()
            return None
        finally:
            self.stack.arp_listeners.remove(listen)

    def configuration(self) -> str:
        """The commands that bring the PC into its present state."""
        lines = ["# This the configuration for " + self.name, f"set pcname {self.name}"]
        if self.interface.address:
            address, length = self.interface.address.ip, self.interface.address.network.prefixlen
            lines.append(f"ip {address} {self.gateway} {length}" if self.gateway else f"ip {address} {length}")
        return "\n".join(lines) + "\n"
