"""Adjacencies follow from hellos on the wire, routes from flooded link state."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network

import pytest

from gns3server_copilot.demo.network.frames import ETHERTYPE_IPV4, PROTOCOL_OSPF, Ethernet, IPv4Packet
from gns3server_copilot.demo.network.ospf_packets import TYPE_HELLO, TYPE_UPDATE, OspfPacket
from gns3server_copilot.demo.network.routes import OSPF
from tests.unit.demo.bench import GI0, GI1, Bench, Port, router_config


def neighbors(bench: Bench, name: str) -> list[tuple[str, str, str]]:
    ospf = bench.routers[name].ospf
    assert ospf
    return [(str(n.router_id), n.state, circuit.role_of(n)) for circuit, n in ospf.neighbors()]


def routes(bench: Bench, name: str) -> dict[str, str]:
    """Prefixes learned by OSPF with their next hops."""
    installed = bench.routers[name].stack.routes.installed()
    return {str(route.prefix): str(route.next_hop) for route in installed if route.kind == OSPF}


def ospf_type(frame: bytes) -> int | None:
    ethernet = Ethernet.parse(frame)
    if ethernet.ethertype != ETHERTYPE_IPV4:
        return None
    packet = IPv4Packet.parse(ethernet.payload)
    return OspfPacket.parse(packet.payload).type if packet.protocol == PROTOCOL_OSPF else None


def test_neighbours_become_full_and_learn_routes(pair: Bench):
    pair.run(2)
    assert neighbors(pair, "R1") == [("2.2.2.2", "FULL", "DR")]
    assert neighbors(pair, "R2") == [("1.1.1.1", "FULL", "BDR")]
    assert routes(pair, "R1") == {"2.2.2.2/32": "10.0.12.2", "192.168.2.0/24": "10.0.12.2"}
    assert routes(pair, "R2") == {"1.1.1.1/32": "10.0.12.1", "192.168.1.0/24": "10.0.12.1"}
    assert len([line for line in pair.logs if "LOADING to FULL" in line]) == 2


def test_hellos_come_at_the_interval(pair: Bench):
    pair.run(5)
    pair.frames.clear()
    pair.run(20)
    assert sum(packet.type == TYPE_HELLO for packet in pair.ospf_packets("R1")) == 10
    assert not [packet for packet in pair.ospf_packets("R1") if packet.type != TYPE_HELLO]


def test_one_way_hellos_make_no_adjacency(bench: Bench):
    bench.add_router("R1", router_config(1))
    bench.add_router("R2", router_config(2))
    bench.connect(("R1", GI0), ("R2", GI0))
    bench.loses = lambda port, frame: port[0] == "R2"
    bench.run(10)
    assert neighbors(bench, "R1") == []
    assert [state for _, state, _ in neighbors(bench, "R2")] == ["INIT"]


@pytest.mark.parametrize(
    "lines",
    [
        (f"interface {GI0}", "ip ospf hello-interval 5", "ip ospf dead-interval 8"),
        (f"interface {GI0}", "ip ospf dead-interval 30"),
        (f"interface {GI0}", "ip address 10.0.12.2 255.255.255.128"),
        ("router ospf 1", "network 10.0.12.0 0.0.0.255 area 1"),
        ("router ospf 1", f"passive-interface {GI0}"),
        ("router ospf 1", "no network 10.0.12.0 0.0.0.255 area 0"),
        ("no router ospf 1",),
    ],
    ids=["hello", "dead", "mask", "area", "passive", "no network", "no process"],
)
def test_fault_breaks_the_adjacency_and_its_undoing_heals_it(pair: Bench, lines: tuple[str, ...]):
    pair.run(3)
    saved = pair.routers["R2"]
    pair.configure("R2", *lines)
    pair.run(12)
    assert neighbors(pair, "R1") == []
    assert routes(pair, "R1") == {}
    assert any("FULL to DOWN" in line for line in pair.logs)
    assert saved.interfaces[GI0].up
    pair.configure("R2", "no router ospf 1", *router_config(2).splitlines()[1:-1], "interface Gi0/0")
    pair.configure("R2", f"interface {GI0}", "no ip ospf dead-interval", "router ospf 1", f"no passive-interface {GI0}")
    pair.run(12)
    assert neighbors(pair, "R1") == [("2.2.2.2", "FULL", neighbors(pair, "R1")[0][2])]
    assert "192.168.2.0/24" in routes(pair, "R1")


def test_silent_neighbour_is_dropped_after_the_dead_interval(pair: Bench):
    pair.run(3)
    pair.disconnect(("R1", GI0))
    pair.run(5)
    assert neighbors(pair, "R1") != []
    pair.run(4)
    assert neighbors(pair, "R1") == []
    assert any("Dead timer expired" in line for line in pair.logs)


def test_shut_interface_drops_the_neighbour_at_once(pair: Bench):
    pair.run(3)
    pair.configure("R1", f"interface {GI0}", "shutdown")
    assert neighbors(pair, "R1") == []
    assert routes(pair, "R1") == {}


def test_lost_updates_are_sent_again(pair: Bench):
    lost: list[Port] = []

    def loses(port: Port, frame: bytes) -> bool:
        losing = ospf_type(frame) == TYPE_UPDATE and len(lost) < 6
        if losing:
            lost.append(port)
        return losing

    pair.loses = loses
    pair.run(12)
    assert len(lost) == 6
    assert "192.168.2.0/24" in routes(pair, "R1")
    assert "192.168.1.0/24" in routes(pair, "R2")


def test_restarted_router_outdoes_what_is_remembered_of_it(pair: Bench):
    pair.run(3)
    pair.routers["R2"].stop_ospf()
    pair.configure("R2", *router_config(2).splitlines()[:-1])
    pair.configure("R2", "router ospf 1", "no network 192.168.2.0 0.0.0.255 area 0")
    pair.run(10)
    assert routes(pair, "R1") == {"2.2.2.2/32": "10.0.12.2"}


def test_router_restarted_unnoticed_gets_the_whole_database_again(pair: Bench):
    pair.run(3)
    pair.routers["R2"].stop_ospf()
    heard: list[Port] = []

    def first_hellos_are_lost(port: Port, frame: bytes) -> bool:
        heard.extend([port] if port[0] == "R1" and ospf_type(frame) == TYPE_HELLO else [])
        return port[0] == "R2" and not heard

    pair.loses = first_hellos_are_lost
    pair.configure("R2", *router_config(2).splitlines()[:-1])
    pair.run(3)
    assert not any("1-Way" in line for line in pair.logs)
    assert routes(pair, "R2") == {"1.1.1.1/32": "10.0.12.1", "192.168.1.0/24": "10.0.12.1"}


def test_network_that_goes_down_is_withdrawn(pair: Bench):
    pair.run(3)
    pair.configure("R2", f"interface {GI1}", "shutdown")
    pair.run(1)
    assert routes(pair, "R1") == {"2.2.2.2/32": "10.0.12.2"}


def test_duplicate_router_id_is_logged_and_makes_no_neighbour(pair: Bench):
    pair.configure("R2", "router ospf 1", "router-id 1.1.1.1")
    pair.run(10)
    assert neighbors(pair, "R1") == []
    assert any("%OSPF-4-DUP_RTRID_NBR" in line for line in pair.logs)


def test_priority_decides_the_designated_router(pair: Bench):
    pair.configure("R2", f"interface {GI0}", "ip ospf priority 0")
    pair.run(3)
    assert neighbors(pair, "R1") == [("2.2.2.2", "FULL", "DROTHER")]
    assert neighbors(pair, "R2") == [("1.1.1.1", "FULL", "DR")]


def test_two_routers_without_a_designated_one_stay_two_way(pair: Bench):
    for name in ("R1", "R2"):
        pair.configure(name, f"interface {GI0}", "ip ospf priority 0")
    pair.run(5)
    assert neighbors(pair, "R1") == [("2.2.2.2", "2WAY", "DROTHER")]
    assert routes(pair, "R1") == {}


def triangle(bench: Bench) -> None:
    """R1, R2 and R3, each linked with both others; 192.168.3.0/24 behind R3."""
    for n, (one, other) in enumerate(((12, 13), (12, 23), (13, 23)), start=1):
        bench.add_router(
            f"R{n}",
            f"interface {GI0}\n ip address 10.0.{one}.{n} 255.255.255.0\n ip ospf hello-interval 1\n"
            f"interface {GI1}\n ip address 10.0.{other}.{n} 255.255.255.0\n ip ospf hello-interval 1\n"
            f"interface Loopback0\n ip address 192.168.{n}.1 255.255.255.255\n"
            f"router ospf 1\n network 0.0.0.0 255.255.255.255 area 0\n",
        )
    bench.connect(("R1", GI0), ("R2", GI0))
    bench.connect(("R1", GI1), ("R3", GI0))
    bench.connect(("R2", GI1), ("R3", GI1))


def test_shortest_path_follows_cost_and_moves_when_a_link_breaks(bench: Bench):
    triangle(bench)
    bench.run(3)
    assert routes(bench, "R1")["192.168.3.1/32"] == "10.0.13.3"
    bench.configure("R1", f"interface {GI1}", "ip ospf cost 50")
    bench.run(1)
    assert routes(bench, "R1")["192.168.3.1/32"] == "10.0.12.2"
    bench.configure("R1", f"interface {GI1}", "no ip ospf cost")
    bench.run(1)
    bench.disconnect(("R1", GI1))
    bench.run(6)
    assert routes(bench, "R1")["192.168.3.1/32"] == "10.0.12.2"


def test_equal_paths_are_both_used(bench: Bench):
    triangle(bench)
    bench.run(3)
    installed = bench.routers["R1"].stack.routes.installed()
    hops = {str(route.next_hop) for route in installed if route.prefix == IPv4Network("10.0.23.0/24")}
    assert hops == {"10.0.12.2", "10.0.13.3"}


def test_router_id_is_the_highest_loopback(bench: Bench):
    router = bench.add_router("R1", router_config(1))
    assert router.ospf and router.ospf.router_id == IPv4Address("1.1.1.1")
