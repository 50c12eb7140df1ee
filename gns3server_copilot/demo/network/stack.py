"""The IPv4 side of a scripted device: ARP, ICMP, local delivery and forwarding, on real frames.

Nothing here knows of sockets or of the clock: frames come in by `receive`, go out by the `transmit` function, time is
given by the `clock` function and passes by `tick`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from ipaddress import IPv4Address, IPv4Network

from gns3server_copilot.demo.network.arp import ArpTable
from gns3server_copilot.demo.network.frames import (
    BROADCAST,
    ETHERTYPE_ARP,
    ETHERTYPE_IPV4,
    ICMP_ECHO_REPLY,
    ICMP_ECHO_REQUEST,
    ICMP_TIME_EXCEEDED,
    ICMP_UNREACHABLE,
    PROTOCOL_ICMP,
    PROTOCOL_UDP,
    UNREACHABLE_HOST,
    UNREACHABLE_NETWORK,
    UNREACHABLE_PORT,
    Arp,
    Ethernet,
    FrameError,
    Icmp,
    IPv4Packet,
    multicast_mac,
)
from gns3server_copilot.demo.network.interfaces import Interface
from gns3server_copilot.demo.network.routes import CONNECTED, LOCAL, Route, RoutingTable

LIMITED_BROADCAST = IPv4Address("255.255.255.255")

Transmit = Callable[[Interface, bytes], None]
Clock = Callable[[], float]
ArpListener = Callable[[Interface, Arp], None]
IcmpListener = Callable[[IPv4Packet, Icmp], None]
ProtocolHandler = Callable[[Interface, IPv4Packet], None]


class IPStack:
    def __init__(self, interfaces: list[Interface], transmit: Transmit, clock: Clock, *, forwards: bool) -> None:
        self.interfaces = {interface.name: interface for interface in interfaces}
        self.routes = RoutingTable()
        self.icmp_listeners: list[IcmpListener] = []
        """Each is called with every ICMP message for this device that is not an echo request."""
        self.protocols: dict[int, ProtocolHandler] = {}
        """Handlers for further IP protocols; they get what is sent to the device or to a multicast group."""
        self.arp_listeners: list[ArpListener] = []
        """Each is called with every ARP packet that is received."""
        self.clock = clock
        self.arp = ArpTable(self._transmit_frame, self._next_hop_silent)
        self._transmit = transmit
        self._forwards = forwards
        self._identification = 0

    # --- interfaces -------------------------------------------------------------------------------------------------

    def interface_changed(self, interface: Interface) -> None:
        """To be called after an interface's address or state was changed."""
        self.arp.forget_interface(interface)
        self.refresh_connected_routes()
        if interface.up and not interface.loopback:
            self.arp.announce(interface)

    def refresh_connected_routes(self) -> None:
        connected, local = [], []
        for interface in self.interfaces.values():
            if not interface.up or interface.address is None:
                continue
            now = self.clock()
            connected.append(Route(CONNECTED, interface.address.network, interface=interface.name, since=now))
            if interface.address.network.prefixlen < 32:
                host = IPv4Network(interface.address.ip)
                local.append(Route(LOCAL, host, interface=interface.name, since=now))
        self.routes.replace(CONNECTED, connected)
        self.routes.replace(LOCAL, local)

    def is_own(self, address: IPv4Address) -> bool:
        return any(interface.up and interface.ip == address for interface in self.interfaces.values())

    def source_for(self, destination: IPv4Address) -> IPv4Address | None:
        """The address that a packet of our own to `destination` comes from; None where there is no way."""
        if self.is_own(destination):
            return destination
        found = self.routes.lookup(destination)
        return self.interfaces[found[0]].ip if found else None

    # --- time -------------------------------------------------------------------------------------------------------

    def tick(self) -> None:
        self.arp.tick(self.clock())

    # --- sending ----------------------------------------------------------------------------------------------------

    def send(self, packet: IPv4Packet) -> bool:
        """Route a packet of our own. False: there is no route."""
        self._identification = (self._identification + 1) & 0xFFFF
        packet = replace(packet, identification=self._identification)
        if self.is_own(packet.destination):
            self._deliver(self._any_interface(packet.destination), packet)
            return True
        return self._route(packet)

    def send_multicast(self, interface: Interface, packet: IPv4Packet) -> None:
        frame = Ethernet(multicast_mac(packet.destination), interface.mac, ETHERTYPE_IPV4, packet.pack())
        self._transmit_frame(interface, frame)

    def _route(self, packet: IPv4Packet) -> bool:
        found = self.routes.lookup(packet.destination)
        if found is None:
            return False
        name, next_hop = found
        interface = self.interfaces[name]
        if not interface.loopback:
            self.arp.send_packet(interface, next_hop, packet, self.clock())
        return True

    def _transmit_frame(self, interface: Interface, frame: Ethernet) -> None:
        if not interface.up:
            return
        data = frame.pack()
        interface.counters.packets_out += 1
        interface.counters.bytes_out += len(data)
        self._transmit(interface, data)

    # --- receiving --------------------------------------------------------------------------------------------------

    def receive(self, interface: Interface, data: bytes) -> None:
        """Take a frame from the wire. What is malformed or for somebody else is dropped."""
        if not interface.up:
            return
        interface.counters.packets_in += 1
        interface.counters.bytes_in += len(data)
        try:
            frame = Ethernet.parse(data)
            for_us = frame.destination in (interface.mac, BROADCAST) or frame.destination[0] & 1
            if frame.ethertype == ETHERTYPE_ARP and for_us:
                self._receive_arp(interface, Arp.parse(frame.payload))
            elif frame.ethertype == ETHERTYPE_IPV4 and for_us:
                self._receive_packet(interface, IPv4Packet.parse(frame.payload))
        except FrameError:
            return

    def _receive_arp(self, interface: Interface, arp: Arp) -> None:
        self.arp.receive(interface, arp, self.clock())
        for listener in list(self.arp_listeners):
            listener(interface, arp)

    def _receive_packet(self, interface: Interface, packet: IPv4Packet) -> None:
        destination = packet.destination
        broadcast = interface.address.network.broadcast_address if interface.address else None
        if self.is_own(destination) or destination.is_multicast or destination in (LIMITED_BROADCAST, broadcast):
            self._deliver(interface, packet)
        elif self._forwards:
            self._forward(packet)

    def _forward(self, packet: IPv4Packet) -> None:
        if packet.ttl <= 1:
            self._send_error(packet, ICMP_TIME_EXCEEDED, 0)
            return
        if not self._route(replace(packet, ttl=packet.ttl - 1)):
            self._send_error(packet, ICMP_UNREACHABLE, UNREACHABLE_NETWORK)

    def _deliver(self, interface: Interface, packet: IPv4Packet) -> None:
        if packet.protocol in self.protocols:
            self.protocols[packet.protocol](interface, packet)
        elif packet.protocol == PROTOCOL_ICMP:
            self._receive_icmp(packet)
        elif packet.protocol == PROTOCOL_UDP and self.is_own(packet.destination):
            self._send_error(packet, ICMP_UNREACHABLE, UNREACHABLE_PORT)

    def _receive_icmp(self, packet: IPv4Packet) -> None:
        message = Icmp.parse(packet.payload)
        if message.type == ICMP_ECHO_REQUEST and self.is_own(packet.destination):
            reply = replace(message, type=ICMP_ECHO_REPLY)
            self.send(IPv4Packet(packet.destination, packet.source, PROTOCOL_ICMP, reply.pack(), ttl=self._reply_ttl))
        elif message.type != ICMP_ECHO_REQUEST:
            for listener in list(self.icmp_listeners):
                listener(packet, message)

    @property
    def _reply_ttl(self) -> int:
        return 255 if self._forwards else 64

    def _send_error(self, about: IPv4Packet, type_: int, code: int) -> None:
        """Tell the sender (RFC 792). Never about another ICMP error, nor about a multicast (RFC 1122)."""
        if about.destination.is_multicast:
            return
        if about.protocol == PROTOCOL_ICMP and about.payload[:1] not in (b"\x00", b"\x08"):
            return
        source = self.source_for(about.source)
        if source is not None:
            error = Icmp(type_, code, payload=about.pack()[:28])
            self.send(IPv4Packet(source, about.source, PROTOCOL_ICMP, error.pack()))

    def _next_hop_silent(self, packet: IPv4Packet) -> None:
        self._send_error(packet, ICMP_UNREACHABLE, UNREACHABLE_HOST)

    def _any_interface(self, own: IPv4Address) -> Interface:
        return next(interface for interface in self.interfaces.values() if interface.ip == own)
