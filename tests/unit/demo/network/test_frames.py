"""What we build is what scapy reads; what is damaged raises FrameError and nothing else."""

from __future__ import annotations

from ipaddress import IPv4Address

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scapy.layers.inet import ICMP, IP, UDP
from scapy.layers.l2 import ARP, Ether

from gns3server_copilot.demo.network.frames import (
    ETHERTYPE_ARP,
    ETHERTYPE_IPV4,
    Arp,
    Ethernet,
    FrameError,
    Icmp,
    IPv4Packet,
    Udp,
    multicast_mac,
)

A = IPv4Address("10.0.0.1")
B = IPv4Address("10.0.0.2")
MAC_A, MAC_B = bytes.fromhex("020000000001"), bytes.fromhex("020000000002")

macs = st.binary(min_size=6, max_size=6)
addresses = st.integers(0, 2**32 - 1).map(IPv4Address)


def test_arp_request_is_read_by_scapy():
    frame = Ethernet(b"\xff" * 6, MAC_A, ETHERTYPE_ARP, Arp(1, MAC_A, A, b"\0" * 6, B).pack()).pack()
    read = Ether(frame)
    assert (read.dst, read[ARP].op, read[ARP].psrc, read[ARP].pdst) == ("ff:ff:ff:ff:ff:ff", 1, str(A), str(B))
    assert len(frame) == 60


def test_echo_request_is_read_by_scapy_with_right_checksums():
    packet = IPv4Packet(A, B, 1, Icmp(8, 0, 7, 3, b"odd").pack(), ttl=64)
    read = Ether(Ethernet(MAC_B, MAC_A, ETHERTYPE_IPV4, packet.pack()).pack())
    assert (read[IP].ttl, read[ICMP].type, read[ICMP].id, read[ICMP].seq, read[ICMP].load) == (64, 8, 7, 3, b"odd")
    rebuilt = IP(bytes(read[IP]))
    sums = rebuilt.chksum, rebuilt[ICMP].chksum
    del rebuilt.chksum, rebuilt[ICMP].chksum
    again = IP(bytes(rebuilt))
    assert (again.chksum, again[ICMP].chksum) == sums


def test_packets_of_scapy_are_read():
    packet = IPv4Packet.parse(bytes(IP(src="10.0.0.1", dst="10.0.0.2", ttl=9) / UDP(sport=5, dport=6) / b"abc"))
    assert (packet.source, packet.destination, packet.ttl) == (A, B, 9)
    assert Udp.parse(packet.payload) == Udp(5, 6, b"abc")


def test_ip_options_are_skipped():
    packet = IPv4Packet.parse(bytes(IP(src="10.0.0.1", dst="10.0.0.2", options=[("NOP")] * 4) / ICMP()))
    assert Icmp.parse(packet.payload).type == 8


def test_error_quotes_the_packet_that_it_is_about():
    about = IPv4Packet(A, B, 17, Udp(1000, 33434).pack(), ttl=1)
    quoted = Icmp(11, 0, payload=about.pack()[:28]).quoted()
    assert (quoted.destination, Udp.parse(quoted.payload).destination_port) == (B, 33434)


def test_multicast_address():
    assert multicast_mac(IPv4Address("224.0.0.5")).hex(":") == "01:00:5e:00:00:05"


@given(macs, addresses, macs, addresses)
def test_arp_survives_the_wire(sender: bytes, sender_ip: IPv4Address, target: bytes, target_ip: IPv4Address):
    arp = Arp(2, sender, sender_ip, target, target_ip)
    assert Arp.parse(arp.pack() + b"\0" * 18) == arp


@given(addresses, addresses, st.integers(0, 255), st.binary(max_size=200), st.integers(0, 255))
def test_packet_survives_the_wire(
    source: IPv4Address, destination: IPv4Address, protocol: int, payload: bytes, ttl: int
):
    packet = IPv4Packet(source, destination, protocol, payload, ttl, 77, 0xC0)
    assert IPv4Packet.parse(packet.pack() + b"padding") == packet


@given(st.binary(max_size=80))
def test_garbage_raises_frame_error_only(data: bytes):
    for parse in (Ethernet.parse, Arp.parse, IPv4Packet.parse, Icmp.parse, Udp.parse):
        try:
            parse(data)
        except FrameError:
            continue


def test_changed_header_is_noticed():
    data = bytearray(IPv4Packet(A, B, 1, b"").pack())
    data[8] -= 1
    with pytest.raises(FrameError, match="checksum"):
        IPv4Packet.parse(bytes(data))
