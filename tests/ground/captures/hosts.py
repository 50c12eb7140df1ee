"""What hosts say: ARP, ICMP, TCP, DHCP, DNS, fragments, and traffic one way only."""

from __future__ import annotations

from typing import Any

from scapy.layers.dhcp import BOOTP, DHCP
from scapy.layers.dhcp6 import DHCP6_Reply, DHCP6OptStatusCode
from scapy.layers.dns import DNS, DNSQR, DNSRR
from scapy.layers.inet import ICMP, IP, UDP, fragment
from scapy.layers.inet6 import ICMPv6EchoReply, ICMPv6EchoRequest, IPv6
from scapy.layers.l2 import ARP
from scapy.packet import Packet, Raw

from tests.ground.captures.build import MAC_A, MAC_B, A, B, C, Case, Timed, ether, ip, mac, tcp, udp

EVERYBODY = "ff:ff:ff:ff:ff:ff"
QUOTED = IP(src=A, dst=C) / UDP(sport=5000, dport=5001) / Raw(b"12345678")
LINK_A, LINK_B = "2001:db8::1", "2001:db8::2"
QUOTED6 = IPv6(src=LINK_A, dst="2001:db8::9") / UDP(sport=5000, dport=5001) / Raw(b"12345678")


def arp(kind: str, sender: str, sender_mac: str, target: str) -> bytes:
    """An ARP request or reply."""
    return ether(ARP(op=kind, psrc=sender, hwsrc=sender_mac, pdst=target), 0x0806, sender_mac, EVERYBODY)


RESOLVED = [arp("who-has", A, MAC_A, B), arp("is-at", B, MAC_B, A), (5.0, arp("who-has", A, MAC_A, B))]
ARP_CASES = [
    Case("arp_unanswered", "arp", [arp("who-has", A, MAC_A, C)] * 3, RESOLVED),
    Case(
        "arp_duplicate_address", "arp", [arp("is-at", B, MAC_B, A), arp("is-at", B, "02:00:00:00:00:0c", A)], RESOLVED
    ),
]


def icmp(src: str, dst: str, quoted: Packet | None = None, **fields: Any) -> bytes:
    """An ICMP message; errors quote a packet."""
    return ip(src, dst, 1, ICMP(**fields) / (quoted or Raw(b"abcdefgh")))


def icmp6(src: str, dst: str, kind: int, code: int = 0, word: int = 0) -> bytes:
    """An ICMPv6 error."""
    return ip(src, dst, 58, bytes([kind, code, 0, 0]) + word.to_bytes(4) + bytes(QUOTED6))


PING: list[bytes | Timed] = [
    icmp(A, B, type=8, id=1, seq=1),
    icmp(B, A, type=0, id=1, seq=1),
    (9.0, icmp(B, A, type=0, id=9)),
]
PING6: list[bytes | Timed] = [
    ip(LINK_A, LINK_B, 58, ICMPv6EchoRequest(id=1, seq=1)),
    ip(LINK_B, LINK_A, 58, ICMPv6EchoReply(id=1, seq=1)),
    (9.0, ip(LINK_B, LINK_A, 58, ICMPv6EchoReply(id=9, seq=9))),
]
ICMP_CASES = [
    Case("icmp_unreachable", "icmp", [icmp(B, A, QUOTED, type=3, code=1)], PING),
    Case("icmp_port_unreachable", "icmp", [icmp(C, A, QUOTED, type=3, code=3)], PING),
    Case("icmp_fragmentation_needed", "icmp", [icmp(B, A, QUOTED, type=3, code=4, nexthopmtu=1400)], PING),
    Case("icmp_ttl_exceeded", "icmp", [icmp(B, A, QUOTED, type=11, code=0)], PING),
    Case("icmp_reassembly_exceeded", "icmp", [icmp(B, A, QUOTED, type=11, code=1)], PING),
    Case("icmp_redirect", "icmp", [icmp(B, A, QUOTED, type=5, code=1, gw=C)], PING),
    Case(
        "icmp_echo_unanswered", "icmp", [icmp(A, B, type=8, id=1, seq=1), (9.0, icmp(A, B, type=8, id=1, seq=2))], PING
    ),
    Case("icmpv6_unreachable", "icmpv6", [icmp6(LINK_B, LINK_A, 1)], PING6),
    Case("icmpv6_packet_too_big", "icmpv6", [icmp6(LINK_B, LINK_A, 2, word=1400)], PING6),
    Case("icmpv6_hop_limit_exceeded", "icmpv6", [icmp6(LINK_B, LINK_A, 3)], PING6),
    Case("icmpv6_echo_unanswered", "icmpv6", [PING6[0], PING6[2]], PING6),
]

CLIENT = (A, B, 40000, 80)
SERVER = (B, A, 80, 40000)
HANDSHAKE: list[bytes | Timed] = [
    tcp(*CLIENT, "S", 100),
    tcp(*SERVER, "SA", 500, 101),
    tcp(*CLIENT, "A", 101, 501),
    tcp(*CLIENT, "PA", 101, 501, b"x" * 100),
    tcp(*SERVER, "A", 501, 201),
]
TCP_CASES = [
    Case("tcp_refused", "tcp", [tcp(*CLIENT, "S", 100), tcp(*SERVER, "RA", 0, 101)], HANDSHAKE),
    Case("tcp_handshake_unanswered", "tcp", [tcp(*CLIENT, "S", 100)] * 3, HANDSHAKE),
    Case("tcp_handshake_incomplete", "tcp", [*HANDSHAKE[:2], HANDSHAKE[1]], HANDSHAKE),
    Case("tcp_reset", "tcp", [*HANDSHAKE, tcp(*SERVER, "RA", 501, 201)], HANDSHAKE),
    Case("tcp_retransmission", "tcp", [*HANDSHAKE[:4], HANDSHAKE[3]], HANDSHAKE),
    Case("tcp_zero_window", "tcp", [*HANDSHAKE, tcp(*SERVER, "A", 501, 201, window=0)], HANDSHAKE),
]


def dhcp(
    kind: str, client: bool = True, your: str = "0.0.0.0", options: list[Any] | None = None, xid: int = 7
) -> bytes:
    """A DHCP message of one client."""
    body = BOOTP(op=1 if client else 2, xid=xid, chaddr=mac(MAC_A), yiaddr=your)
    every = [("message-type", kind), *(options or []), "end"]
    src, dst = ("0.0.0.0", "255.255.255.255") if client else (B, A)
    return udp(src, dst, 67 if client else 68, body / DHCP(options=every), 68 if client else 67)


FROM_B = ("server_id", B)
OFFER = dhcp("offer", False, A, [FROM_B, ("router", B)])
LEASE: list[bytes | Timed] = [
    dhcp("discover"),
    OFFER,
    dhcp("request", options=[FROM_B]),
    dhcp("ack", False, A, [FROM_B]),
    (9.0, dhcp("ack", False, A, [FROM_B], xid=9)),
]
DHCP_CASES = [
    Case("dhcp_nak", "dhcp", [dhcp("nak", False, options=[FROM_B])], LEASE),
    Case("dhcp_decline", "dhcp", [dhcp("decline", options=[("requested_addr", A)])], LEASE),
    Case("dhcp_no_gateway", "dhcp", [dhcp("offer", False, A, [FROM_B])], LEASE),
    Case("dhcp_two_servers", "dhcp", [OFFER, dhcp("offer", False, A, [("server_id", C), ("router", C)])], LEASE),
    Case("dhcp_discover_unanswered", "dhcp", [dhcp("discover")] * 3, LEASE),
    Case("dhcp_request_unanswered", "dhcp", [dhcp("request")] * 3, LEASE),
    Case("dhcp_offer_not_taken", "dhcp", [dhcp("discover"), OFFER, OFFER], LEASE),
    Case(
        "dhcpv6_failed",
        "dhcpv6",
        [udp("fe80::2", "fe80::1", 546, DHCP6_Reply() / DHCP6OptStatusCode(statuscode=2), 547)],
        [udp("fe80::2", "fe80::1", 546, DHCP6_Reply() / DHCP6OptStatusCode(statuscode=0), 547)],
    ),
]

NAME = DNSQR(qname="www.example.net")


def dns_answer(rcode: int = 0) -> bytes:
    """An answer, with an address when there is no error."""
    records = [DNSRR(rrname="www.example.net", rdata=C)] if rcode == 0 else []
    return udp(B, A, 5353 + 1, DNS(id=1, qr=1, rcode=rcode, qd=NAME, an=records), 53)


QUERY = udp(A, B, 53, DNS(id=1, qd=NAME), 5354)
LATER: Timed = (9.0, udp(B, A, 5354, DNS(id=2, qr=1, qd=NAME), 53))
RESOLVED_NAME: list[bytes | Timed] = [QUERY, dns_answer(), LATER]
DNS_CASES = [
    Case("dns_servfail", "dns", [QUERY, dns_answer(2)], RESOLVED_NAME),
    Case("dns_nxdomain", "dns", [QUERY, dns_answer(3)], RESOLVED_NAME),
    Case("dns_refused", "dns", [QUERY, dns_answer(5)], RESOLVED_NAME),
    Case("dns_unanswered", "dns", [QUERY, LATER], RESOLVED_NAME),
]

PIECES: list[bytes | Timed] = [ether(piece) for piece in fragment(IP(src=A, dst=B) / UDP() / Raw(bytes(3000)), 1480)]
ECHO: list[bytes | Timed] = [udp(A, B, 5000, b"x"), udp(B, A, 5000, b"x")]
TRAFFIC = [
    Case("ip_fragments", "ipv4", PIECES, ECHO, summary=True),
    Case("ip_fragments_missing", "ipv4", PIECES[:-1], PIECES, summary=True),
    Case("one_way_traffic", "udp", [udp(A, B, 5000, b"x")] * 5, ECHO * 5, summary=True),
]

CASES = [*ARP_CASES, *ICMP_CASES, *TCP_CASES, *DHCP_CASES, *DNS_CASES, *TRAFFIC]
