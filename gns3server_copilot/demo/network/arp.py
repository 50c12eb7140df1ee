"""ARP: the cache, the packets that wait for an answer, and the questions on the wire."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from ipaddress import IPv4Address

from gns3server_copilot.demo.network.frames import (
    ARP_REPLY,
    ARP_REQUEST,
    BROADCAST,
    ETHERTYPE_ARP,
    ETHERTYPE_IPV4,
    NO_MAC,
    Arp,
    Ethernet,
    IPv4Packet,
)
from gns3server_copilot.demo.network.interfaces import Interface

LIFETIME = 4 * 3600.0
REQUEST_INTERVAL = 1.0
REQUESTS = 3
WAITING_PACKETS = 16


@dataclass(slots=True)
class ArpEntry:
    interface: str
    ip: IPv4Address
    mac: bytes
    learned: float


@dataclass(slots=True)
class _Question:
    interface: Interface
    asked: int = 0
    next: float = 0.0
    packets: list[IPv4Packet] = field(default_factory=list)


class ArpTable:
    """`send` puts a frame on an interface; `unanswered` gets each packet whose next hop did not answer."""

    def __init__(self, send: Callable[[Interface, Ethernet], None], unanswered: Callable[[IPv4Packet], None]) -> None:
        self.lifetime = LIFETIME
        self._send = send
        self._unanswered = unanswered
        self._entries: dict[tuple[str, IPv4Address], ArpEntry] = {}
        self._questions: dict[tuple[str, IPv4Address], _Question] = {}

    def entries(self) -> list[ArpEntry]:
        return sorted(self._entries.values(), key=lambda entry: (entry.interface, entry.ip))

    def clear(self) -> None:
        self._entries.clear()

    def forget_interface(self, interface: Interface) -> None:
        """Drop what is known on an interface that has gone down."""
        self._entries = {key: entry for key, entry in self._entries.items() if key[0] != interface.name}
        self._questions = {key: question for key, question in self._questions.items() if key[0] != interface.name}

    def send_packet(self, interface: Interface, next_hop: IPv4Address, packet: IPv4Packet, now: float) -> None:
        """Send `packet` to the neighbour `next_hop`, at once or when it has answered."""
        entry = self._entries.get((interface.name, next_hop))
        if entry:
            self._send(interface, Ethernet(entry.mac, interface.mac, ETHERTYPE_IPV4, packet.pack()))
            return
        question = self._questions.setdefault((interface.name, next_hop), _Question(interface))
        if len(question.packets) < WAITING_PACKETS:
            question.packets.append(packet)
        if question.asked == 0:
            self._ask(question, next_hop, now)

    def announce(self, interface: Interface) -> None:
        """Gratuitous ARP: tell everybody on the link who has this address."""
        if interface.ip is not None:
            arp = Arp(ARP_REPLY, interface.mac, interface.ip, BROADCAST, interface.ip)
            self._send(interface, Ethernet(BROADCAST, interface.mac, ETHERTYPE_ARP, arp.pack()))

    def probe(self, interface: Interface, address: IPv4Address) -> None:
        """Ask who has `address` without having one (RFC 5227)."""
        arp = Arp(ARP_REQUEST, interface.mac, IPv4Address(0), NO_MAC, address)
        self._send(interface, Ethernet(BROADCAST, interface.mac, ETHERTYPE_ARP, arp.pack()))

    def receive(self, interface: Interface, arp: Arp, now: float) -> None:
        own = interface.ip
        if arp.sender_ip == own or own is None:
            return
        key = (interface.name, arp.sender_ip)
        if arp.sender_ip != IPv4Address(0) and (arp.target_ip == own or key in self._entries):
            self._entries[key] = ArpEntry(interface.name, arp.sender_ip, arp.sender_mac, now)
            question = self._questions.pop(key, None)
            for packet in question.packets if question else ():
                self.send_packet(interface, arp.sender_ip, packet, now)
        if arp.operation == ARP_REQUEST and arp.target_ip == own:
            reply = Arp(ARP_REPLY, interface.mac, own, arp.sender_mac, arp.sender_ip)
            self._send(interface, Ethernet(arp.sender_mac, interface.mac, ETHERTYPE_ARP, reply.pack()))

    def tick(self, now: float) -> None:
        for key in [key for key, entry in self._entries.items() if now - entry.learned > self.lifetime]:
            del self._entries[key]
        for key, question in list(self._questions.items()):
            if now < question.next:
                continue
            if question.asked < REQUESTS:
                self._ask(question, key[1], now)
                continue
            del self._questions[key]
            for packet in question.packets:
                self._unanswered(packet)

    def _ask(self, question: _Question, address: IPv4Address, now: float) -> None:
        interface = question.interface
        question.asked += 1
        question.next = now + REQUEST_INTERVAL
        if interface.ip is not None:
            arp = Arp(ARP_REQUEST, interface.mac, interface.ip, NO_MAC, address)
            self._send(interface, Ethernet(BROADCAST, interface.mac, ETHERTYPE_ARP, arp.pack()))
