"""ARP, ICMP and forwarding, on a bench."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Interface

import pytest

from gns3server_copilot.demo.network.frames import ETHERTYPE_ARP, Ethernet, Icmp
from tests.unit.demo.bench import GI0, GI1, Bench


def kinds(messages: list[Icmp]) -> list[tuple[int, int]]:
    return [(message.type, message.code) for message in messages]


def test_pc_pings_pc_through_both_routers(pair: Bench):
    pair.run(3)
    assert kinds(pair.ping(pair.stack("PC1"), "192.168.2.10")) == [(0, 0)]


@pytest.mark.parametrize(("ttl", "answer"), [(1, (11, 0)), (2, (11, 0)), (3, (0, 0))])
def test_ttl_runs_out_where_it_should(pair: Bench, ttl: int, answer: tuple[int, int]):
    pair.run(3)
    assert kinds(pair.ping(pair.stack("PC1"), "192.168.2.10", ttl=ttl)) == [answer]


def test_router_without_a_route_says_so(pair: Bench):
    pair.run(3)
    assert kinds(pair.ping(pair.stack("PC1"), "172.16.9.9")) == [(3, 0)]


def test_silent_next_hop_is_asked_three_times_and_reported(pair: Bench):
    pair.run(3)
    pair.frames.clear()
    assert kinds(pair.ping(pair.stack("PC1"), "192.168.2.99")) == [(3, 1)]
    asked = [frame for port, frame in pair.frames if port == ("R2", GI1) and is_arp(frame)]
    assert len(asked) == 3


def test_packets_wait_for_arp_and_none_is_lost(pair: Bench):
    pair.run(3)
    stack = pair.stack("PC1")
    received: list[Icmp] = []
    stack.icmp_listeners.append(lambda _, message: received.append(message))
    pair.frames.clear()
    pair.ping(stack, "192.168.1.1", seconds=0)
    pair.ping(stack, "192.168.1.1", seconds=0.2)
    assert kinds(received) == [(0, 0), (0, 0)]
    assert sum(is_arp(frame) for port, frame in pair.frames if port == ("PC1", "eth0")) == 1


def test_own_address_answers_without_a_wire(bench: Bench):
    host = bench.add_pc("PC1", "10.0.0.1/24")
    assert kinds(bench.ping(host.stack, "10.0.0.1")) == [(0, 0)]


def test_shut_interface_neither_sends_nor_receives(pair: Bench):
    pair.run(3)
    pair.configure("R1", f"interface {GI1}", "shutdown")
    pair.frames.clear()
    answers = pair.ping(pair.stack("PC1"), "192.168.1.1")
    assert (0, 0) not in kinds(answers)
    assert not [port for port, _ in pair.frames if port == ("R1", GI1)]


def test_duplicate_address_is_logged(bench: Bench):
    bench.add_router("R1", f"interface {GI0}\n ip address 10.0.0.1 255.255.255.0\n")
    bench.connect(("R1", GI0), ("PC1", "eth0"))
    host = bench.add_pc("PC1", "10.0.0.5/24")
    bench.run(1)
    host.set_address(IPv4Interface("10.0.0.1/24"), None)
    bench.run(1)
    assert any("%IP-4-DUPADDR: Duplicate address 10.0.0.1" in line for line in bench.logs)


def test_forgotten_neighbour_is_asked_again(pair: Bench):
    pair.run(3)
    stack = pair.stack("PC1")
    pair.ping(stack, "192.168.1.1")
    assert [entry.ip for entry in stack.arp.entries()] == [IPv4Address("192.168.1.1")]
    pair.run(130)
    assert stack.arp.entries() == []


def is_arp(frame: bytes) -> bool:
    return Ethernet.parse(frame).ethertype == ETHERTYPE_ARP
