"""Services, tunnels, labels and serial lines."""

from __future__ import annotations

import struct

from scapy.layers.inet import IP
from scapy.layers.l2 import GRE
from scapy.layers.snmp import SNMP, SNMPresponse

from gns3server_copilot.packets.layers.nhrp import NHRP
from gns3server_copilot.packets.layers.serial import SLARP, CiscoHDLC
from tests.ground.captures.build import A, B, C, Case, address, ether, ip, tcp, tlv, udp

PPP_LINK, HDLC_LINK = 9, 104


def ntp(stratum: int, leap: int = 0) -> bytes:
    """A server's answer."""
    return udp(B, A, 123, bytes([leap << 6 | 4 << 3 | 4, stratum, 6, 0xEC]) + bytes(44))


def snmp(error: int) -> bytes:
    """An agent's answer."""
    return udp(B, A, 161, SNMP(version=1, community="public", PDU=SNMPresponse(error=error)), 161)


def snmp_report() -> bytes:
    """A report of version 3 about a user that is not known."""
    binding = bytes.fromhex("3011060a2b060106030f01010300410301e240")
    pdu = (
        bytes([0xA8, 11 + len(binding)])
        + bytes.fromhex("020101020100020100")
        + b"\x30"
        + bytes([len(binding)])
        + binding
    )
    scoped = b"\x04\x00\x04\x00" + pdu
    security = bytes.fromhex("3011040580000000010201000201000400 0400 0400".replace(" ", ""))
    header = bytes.fromhex("300d020101020205dc040100020103")
    body = (
        bytes.fromhex("020103")
        + header
        + b"\x04"
        + bytes([len(security)])
        + security
        + b"\x30"
        + bytes([len(scoped)])
        + scoped
    )
    return udp(B, A, 161, b"\x30" + bytes([len(body)]) + body, 161)


def http(status: bytes) -> bytes:
    """A server's answer."""
    return tcp(B, A, 80, 40000, "PA", 1, 1, b"HTTP/1.1 " + status + b"\r\nServer: test\r\n\r\n")


def radius(code: int) -> bytes:
    """A message without attributes."""
    return udp(B, A, 1812, struct.pack("!BBH16x", code, 1, 20), 1812)


def tacacs(flags: int) -> bytes:
    """The start of a login; the last bit of the flags says that it is not encrypted."""
    return tcp(A, B, 40000, 49, "PA", 1, 1, struct.pack("!BBBBII", 0xC0, 1, 1, flags, 7, 8) + b"\1\1\1\1\0\0\0\0")


def eap(code: int) -> bytes:
    """EAP over LAN."""
    return ether(struct.pack("!BBHBBH", 1, 0, 4, code, 1, 4), 0x888E, dst="01:80:c2:00:00:03")


def gre(src: str, dst: str, key: int) -> bytes:
    """A tunnelled packet."""
    return ip(src, dst, 47, GRE(key_present=1, key=key) / IP(src="172.16.0.1", dst="172.16.0.2"))


def ldp(kind: int, parameters: bytes, lsr: str = "1.1.1.1", src: str = A) -> bytes:
    """A message, hellos to all routers by UDP and others by TCP."""
    message = struct.pack("!HHI", kind, 4 + len(parameters), 1) + parameters
    pdu = struct.pack("!HH4sH", 1, 6 + len(message), address(lsr), 0) + message
    if kind == 0x0100:
        return udp(src, "224.0.0.2", 646, pdu)
    return tcp(src, B, 40000, 646, "PA", 1, 1, pdu)


HELLO = tlv(0x0400, struct.pack("!HH", 15, 0), inclusive=False)


def bfd(state: int, diagnostic: int = 0, yours: int = 2) -> bytes:
    """A control packet."""
    body = struct.pack("!BBBBIIIII", 1 << 5 | diagnostic, state << 6, 3, 24, 1, yours, 300000, 300000, 0)
    return udp(A, B, 3784, body, 49152)


def isakmp(version: int = 0x20, notify: int = 0, src: str = A, dst: str = B) -> bytes:
    """An IKE message, with a notification when one is given."""
    payload = struct.pack("!BBHBBH", 0, 0, 8, 0, 0, notify) if notify else b""
    exchange = 34 if version == 0x20 else 2
    header = struct.pack(
        "!8s8sBBBBII", b"initiato", bytes(8), 41 if notify else 0, version, exchange, 8, 0, 28 + len(payload)
    )
    return udp(src, dst, 500, header + payload)


def ppp(protocol: int, code: int, body: bytes = b"") -> bytes:
    """A control packet of a line, with address and control."""
    return b"\xff\x03" + struct.pack("!HBBH", protocol, code, 1, 4 + len(body)) + body


def pppoe(code: int, tags: bytes = b"", session: int = 0) -> bytes:
    """A discovery packet."""
    return ether(struct.pack("!BBHH", 0x11, code, session, len(tags)) + tags, 0x8863)


def keepalive(mine: int, yours: int) -> bytes:
    """A keepalive on Cisco's HDLC."""
    return bytes(CiscoHDLC(address=0x8F, proto=0x8035) / SLARP(mysequence=mine, yoursequence=yours))


def tls_alert(level: int) -> bytes:
    """An alert: handshake failure."""
    return tcp(B, A, 443, 40000, "PA", 1, 1, bytes([21, 3, 3, 0, 2, level, 40]))


def nhrp(operation: int) -> bytes:
    """A packet in a tunnel."""
    body = NHRP(operation=operation, source_nbma=address(A), source=address(B), destination=address(C))
    return ip(A, B, 47, b"\0\0\x20\x01" + bytes(body))


CASES = [
    Case("ntp_unsynchronized_server", "ntp", [ntp(16, 3)], [ntp(2)]),
    Case("snmp_error", "snmp", [snmp(2)], [snmp(0)]),
    Case("snmp_report", "snmp", [snmp_report()], [snmp(0)]),
    Case("syslog_error", "syslog", [udp(A, B, 514, b"<11>it failed")], [udp(A, B, 514, b"<14>it works")]),
    Case(
        "tftp_error",
        "tftp",
        [udp(B, A, 69, b"\0\x05\0\x01File not found\0")],
        [udp(A, B, 69, b"\0\x01conf\0octet\0", 4000)],
    ),
    Case("http_server_error", "http", [http(b"503 Service Unavailable")], [http(b"200 OK")]),
    Case("http_client_error", "http", [http(b"404 Not Found")], [http(b"200 OK")]),
    Case("tls_fatal_alert", "tls", [tls_alert(2)], [tls_alert(1)]),
    Case("radius_reject", "radius", [radius(3)], [radius(2)]),
    Case("tacacs_clear", "tacacs", [tacacs(1)], [tacacs(0)]),
    Case("eap_failure", "eap", [eap(4)], [eap(3)]),
    Case("gre_key_mismatch", "gre", [gre(A, B, 1), gre(B, A, 2)], [gre(A, B, 1), gre(B, A, 1)]),
    Case("nhrp_error", "nhrp", [nhrp(7)], [nhrp(3)]),
    Case(
        "ldp_notification",
        "ldp",
        [ldp(1, tlv(0x0300, struct.pack("!IIH", 0x80000008, 0, 0), inclusive=False))],
        [ldp(0x0201, b"")],
    ),
    Case(
        "ldp_duplicate_lsr_id",
        "ldp",
        [ldp(0x0100, HELLO), ldp(0x0100, HELLO, src=B)],
        [ldp(0x0100, HELLO), ldp(0x0100, HELLO, "2.2.2.2", B)],
    ),
    Case("bfd_down", "bfd", [bfd(1, 1)], [bfd(3)]),
    Case("bfd_one_sided", "bfd", [bfd(1, yours=0)], [bfd(3)]),
    Case("isakmp_error", "isakmp", [isakmp(notify=14)], [isakmp()]),
    Case("isakmp_version_mismatch", "isakmp", [isakmp(), isakmp(0x10, src=B, dst=A)], [isakmp(), isakmp(src=B, dst=A)]),
    Case("ppp_authentication_failed", "ppp", [ppp(0xC223, 4, b"no")], [ppp(0xC223, 3, b"yes")], PPP_LINK),
    Case("ppp_pap_failed", "ppp", [ppp(0xC023, 3, b"\0")], [ppp(0xC023, 2, b"\0")], PPP_LINK),
    Case("ppp_terminated", "ppp", [ppp(0xC021, 5)], [ppp(0xC021, 9, bytes(4))], PPP_LINK),
    Case("ppp_protocol_rejected", "ppp", [ppp(0xC021, 8, b"\x82\x07")], [ppp(0xC021, 9, bytes(4))], PPP_LINK),
    Case("pppoe_error", "pppoe", [pppoe(0x07, tlv(0x0202, b"full", inclusive=False))], [pppoe(0x07)]),
    Case("pppoe_ended", "pppoe", [pppoe(0xA7, session=7)], [pppoe(0x65, session=7)]),
    Case("hdlc_other_side_silent", "hdlc", [keepalive(9, 0)], [keepalive(9, 8)], HDLC_LINK),
]
