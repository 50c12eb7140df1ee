"""Texts of show commands have the columns and words that people and parsers look for."""

from __future__ import annotations

import re
from ipaddress import IPv4Address

import pytest

from gns3server_copilot.demo.ios import show_device, show_ip, show_ospf
from gns3server_copilot.demo.ios.router import Router
from tests.unit.demo.bench import GI0, GI1, Bench


@pytest.fixture
def router(pair: Bench) -> Router:
    pair.run(3)
    pair.ping(pair.stack("PC1"), "192.168.2.10")
    return pair.routers["R1"]


def test_version_says_plainly_that_it_is_scripted(router: Router):
    text = show_device.version(router)
    assert "scripted" in text.splitlines()[0] and "no Cisco software" in text
    assert re.search(r"^R1 uptime is 0 minutes$", text, re.MULTILINE)


def test_ip_interface_brief(router: Router):
    rows = [line.split() for line in show_device.ip_interface_brief(router).splitlines()]
    assert rows[1] == [GI0, "10.0.12.1", "YES", "manual", "up", "up"]
    assert rows[3] == ["GigabitEthernet0/2", "unassigned", "YES", "unset", "administratively", "down", "down"]
    assert rows[5][0] == "Loopback0"


def test_unplugged_interface_is_down(router: Router):
    router.set_connected(router.interfaces[GI1], False)
    assert f"{GI1} is down, line protocol is down" in show_device.interfaces(router, GI1)


def test_interface_counters_count_frames(router: Router):
    before = router.interfaces[GI0].counters.packets_in
    text = show_device.interfaces(router, GI0)
    assert f"{before} packets input" in text and before > 3
    assert "Internet address is 10.0.12.1/24" in text


def test_routing_table(router: Router):
    lines = show_ip.route(router).splitlines()
    assert "Gateway of last resort is not set" in lines
    assert "      10.0.0.0/8 is variably subnetted, 2 subnets, 2 masks" in lines
    assert "C        10.0.12.0/24 is directly connected, GigabitEthernet0/0" in lines
    assert any(
        re.fullmatch(r"O     192\.168\.2\.0/24 \[110/2\] via 10\.0\.12\.2, 00:00:\d\d, \S+0/0", x) for x in lines
    )
    assert "192.168.1.0" not in show_ip.route(router, "O").partition("Gateway")[2]


def test_default_route_is_the_gateway_of_last_resort(pair: Bench):
    pair.configure("R1", "ip route 0.0.0.0 0.0.0.0 10.0.12.2")
    lines = show_ip.route(pair.routers["R1"]).splitlines()
    assert "Gateway of last resort is 10.0.12.2 to network 0.0.0.0" in lines
    assert "S*    0.0.0.0/0 [1/0] via 10.0.12.2" in lines


def test_route_to_an_address(router: Router):
    text = show_ip.route_to(router, IPv4Address("192.168.2.77"))
    assert 'Known via "ospf 1", distance 110, metric 2, type intra area' in text
    assert "* 10.0.12.2," in text
    assert show_ip.route_to(router, IPv4Address("8.8.8.8")) == "% Network not in table"


def test_ospf_neighbor(router: Router):
    _, heading, row = show_ospf.neighbor(router).splitlines()
    assert heading.split()[:4] == ["Neighbor", "ID", "Pri", "State"]
    assert re.fullmatch(r"2\.2\.2\.2\s+1\s+FULL/DR\s+00:00:0\d\s+10\.0\.12\.2\s+GigabitEthernet0/0", row)


def test_ospf_texts_are_empty_without_a_process(bench: Bench):
    router = bench.add_router("R1")
    for show in (show_ospf.neighbor, show_ospf.interface_brief, show_ospf.interface, show_ospf.database):
        assert show(router) == ""


def test_ospf_interfaces_and_database(router: Router):
    assert re.search(r"^Gi0/0 +1 +0 +10\.0\.12\.1/24 +1 +BDR +1/1$", show_ospf.interface_brief(router), re.MULTILINE)
    assert "Adjacent with neighbor 2.2.2.2  (Designated Router)" in show_ospf.interface(router, GI0)
    assert "No Hellos (Passive interface)" in show_ospf.interface(router, GI1)
    assert show_ospf.database(router).count("0x8000") == 3
    assert 'Routing Process "ospf 1" with ID 1.1.1.1' in show_ospf.process(router)


def test_arp(router: Router):
    assert re.search(
        r"^Internet  192\.168\.1\.10 +0  [0-9a-f.]{14}  ARPA   GigabitEthernet0/1$", show_ip.arp(router), re.MULTILINE
    )


def test_startup_configuration_is_absent_before_it_is_written(router: Router):
    assert show_device.startup_configuration(router) == "startup-config is not present"
