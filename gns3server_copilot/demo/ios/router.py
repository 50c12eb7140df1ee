"""The state of an IOS-like router: what is configured, what it has learned, what it has logged."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path

from gns3server_copilot.demo.network.frames import PROTOCOL_OSPF, Arp, IPv4Packet
from gns3server_copilot.demo.network.interfaces import Interface
from gns3server_copilot.demo.network.ospf import OspfProcess
from gns3server_copilot.demo.network.routes import STATIC, Route
from gns3server_copilot.demo.network.stack import Clock, IPStack, Transmit

LOG_LINES = 200

_DUPLICATE_LOG_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class StaticRoute:
    """`ip route PREFIX MASK NEXT-HOP`"""

    prefix: IPv4Network
    next_hop: IPv4Address


class Router:
    """A router with one Ethernet interface for each of `macs`, shut down and without an address, as after unpacking.

    `transmit` puts a frame on an interface; `startup_file` is where `write memory` writes.
    """

    def __init__(
        self,
        hostname: str,
        macs: list[bytes],
        transmit: Transmit,
        startup_file: Path,
        clock: Clock = time.monotonic,
    ) -> None:
        self.hostname = hostname
        self.static_routes: list[StaticRoute] = []
        self.ospf: OspfProcess | None = None
        self.logging_console = True
        self.logging_synchronous = False
        self.log_lines: deque[str] = deque(maxlen=LOG_LINES)
        self.on_log: Callable[[str], None] = lambda line: None
        """Called with each line that is to be seen on the console."""
        self.startup_file = startup_file
        self.booted = clock()
        interfaces = [Interface(f"GigabitEthernet0/{number}", mac, enabled=False) for number, mac in enumerate(macs)]
        self.stack = IPStack(interfaces, transmit, clock, forwards=True)
        self.stack.protocols[PROTOCOL_OSPF] = self._receive_ospf
        self.stack.arp_listeners.append(self._note_duplicate)
        self._duplicate_logged = float("-inf")

    # --- frames and time --------------------------------------------------------------------------------------------

    def tick(self) -> None:
        self.stack.tick()
        if self.ospf:
            self.ospf.tick()

    def _receive_ospf(self, interface: Interface, packet: IPv4Packet) -> None:
        if self.ospf:
            self.ospf.receive(interface, packet)

    def _note_duplicate(self, interface: Interface, arp: Arp) -> None:
        now = self.stack.clock()
        foreign = arp.sender_ip == interface.ip and arp.sender_mac != interface.mac
        if foreign and now - self._duplicate_logged > _DUPLICATE_LOG_SECONDS:
            self._duplicate_logged = now
            sender = cisco_mac(arp.sender_mac)
            self.log(f"%IP-4-DUPADDR: Duplicate address {interface.ip} on {interface.name}, sourced by {sender}")

    # --- interfaces -------------------------------------------------------------------------------------------------

    @property
    def interfaces(self) -> dict[str, Interface]:
        return self.stack.interfaces

    def interface_changed(self, interface: Interface) -> None:
        """To be called after an interface's address, state or OSPF settings were changed."""
        self.stack.interface_changed(interface)
        if self.ospf:
            self.ospf.configuration_changed()

    def set_enabled(self, interface: Interface, enabled: bool) -> None:
        """`no shutdown` and `shutdown`."""
        if interface.enabled == enabled:
            return
        was_up = interface.up
        interface.enabled = enabled
        if enabled and interface.connected:
            self.log(f"%LINK-3-UPDOWN: Interface {interface.name}, changed state to up")
        elif not enabled:
            self.log(f"%LINK-5-CHANGED: Interface {interface.name}, changed state to administratively down")
        self._line_protocol_changed(interface, was_up)

    def set_connected(self, interface: Interface, connected: bool) -> None:
        """The cable is plugged in or taken out."""
        if interface.connected == connected:
            return
        was_up = interface.up
        interface.connected = connected
        if interface.enabled:
            state = "up" if connected else "down"
            self.log(f"%LINK-3-UPDOWN: Interface {interface.name}, changed state to {state}")
        self._line_protocol_changed(interface, was_up)

    def _line_protocol_changed(self, interface: Interface, was_up: bool) -> None:
        if interface.up != was_up:
            state = "up" if interface.up else "down"
            name = interface.name
            self.log(f"%LINEPROTO-5-UPDOWN: Line protocol on Interface {name}, changed state to {state}")
            self.interface_changed(interface)

    def add_loopback(self, name: str) -> Interface:
        """The loopback of that name, made when it is not there."""
        if name not in self.interfaces:
            self.interfaces[name] = Interface(name, b"\x00" * 6, loopback=True)
        return self.interfaces[name]

    def remove_loopback(self, name: str) -> None:
        interface = self.interfaces.pop(name)
        interface.enabled = False
        self.stack.refresh_connected_routes()
        if self.ospf:
            self.ospf.configuration_changed()

    # --- routing ----------------------------------------------------------------------------------------------------

    def static_routes_changed(self) -> None:
        now = self.stack.clock()
        routes = [Route(STATIC, route.prefix, route.next_hop, since=now) for route in self.static_routes]
        self.stack.routes.replace(STATIC, routes)

    def start_ospf(self, number: int) -> OspfProcess:
        """The process of that number; one that is there under another number is ended, since there can be one only."""
        if self.ospf is None or self.ospf.number != number:
            self.stop_ospf()
            self.ospf = OspfProcess(number, self.stack, self.log)
            self.ospf.configuration_changed()
        return self.ospf

    def stop_ospf(self) -> None:
        if self.ospf:
            self.ospf.stop()
            self.ospf = None

    # --- log --------------------------------------------------------------------------------------------------------

    def log(self, message: str) -> None:
        """Log `%FACILITY-SEVERITY-MNEMONIC: text`."""
        line = f"*{timestamp()}: {message}"
        self.log_lines.append(line)
        if self.logging_console:
            self.on_log(line)


def timestamp() -> str:
    """Now, as IOS writes it: `Nov 30 10:12:03.123`, always UTC."""
    now = datetime.now(UTC)
    return f"{now:%b} {now.day:2} {now:%H:%M:%S}.{now.microsecond // 1000:03}"


def cisco_mac(mac: bytes) -> str:
    """`0c7c.4f80.0000`"""
    text = mac.hex()
    return f"{text[:4]}.{text[4:8]}.{text[8:]}"
