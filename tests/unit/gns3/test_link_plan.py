"""Checking links before any is made."""

from __future__ import annotations

from typing import Any

from gns3server_copilot.gns3.link_creation import NewLink
from gns3server_copilot.gns3.link_plan import LinkRequest, Refusal, plan_links
from gns3server_copilot.gns3.topology import Topology, parse_topology


def raw_node(name: str, kind: str, *ports: str) -> dict[str, Any]:
    """A node as gns3-server answers it; ports that begin with S are serial."""
    listed = [
        {
            "name": port,
            "short_name": port.replace("Ethernet", "e").replace("Serial", "s"),
            "adapter_number": 0,
            "port_number": number,
            "link_type": "serial" if port.startswith("S") else "ethernet",
        }
        for number, port in enumerate(ports)
    ]
    return {"node_id": f"id-{name.lower()}", "name": name, "node_type": kind, "status": "stopped", "ports": listed}


def lab() -> Topology:
    """Two routers with Ethernet and serial ports, a switch, PCs, two ways out; PC1 is linked to the switch."""
    nodes = [
        raw_node("R1", "dynamips", "Ethernet0/0", "Ethernet0/1", "Serial1/0"),
        raw_node("R2", "dynamips", "Ethernet0/0", "Ethernet0/1", "Serial1/0"),
        raw_node("SW1", "ethernet_switch", *(f"Ethernet{number}" for number in range(4))),
        raw_node("PC1", "vpcs", "Ethernet0"),
        raw_node("PC2", "vpcs", "Ethernet0"),
        raw_node("Cloud1", "cloud", "eth0"),
        raw_node("NAT1", "nat", "nat0"),
        raw_node("FR1", "frame_relay_switch"),
    ]
    ends = [
        {"node_id": "id-pc1", "adapter_number": 0, "port_number": 0},
        {"node_id": "id-sw1", "adapter_number": 0, "port_number": 2},
    ]
    return parse_topology(nodes, [{"link_id": "link-1", "nodes": ends, "link_type": "ethernet"}], [])


def plan(*asked: tuple[str, str, str, str]) -> list[str]:
    """What is to be made or why not, as text."""
    plans = plan_links([LinkRequest(*one) for one in asked], lab())
    return [one.name if isinstance(one, NewLink) else one.reason for one in plans]


def test_named_and_automatic_ports_become_links_in_the_order_asked() -> None:
    assert plan(
        ("r1", "e0/1", "R2", "Ethernet0/1"),
        ("R1", "auto", "SW1", "auto"),
        ("id-pc2", "e0", "SW1", "AUTO"),
        ("R1", "s1/0", "R2", "auto"),
    ) == ["R1:e0/1–R2:e0/1", "R1:e0/0–SW1:e0", "PC2:e0–SW1:e1", "R1:s1/0–R2:s1/0"]


def test_automatic_ports_leave_those_that_are_named_later() -> None:
    assert plan(("R1", "auto", "SW1", "auto"), ("R2", "auto", "SW1", "e0"), ("PC2", "auto", "SW1", "e1")) == [
        "R1:e0/0–SW1:e3",
        "R2:e0/0–SW1:e0",
        "PC2:e0–SW1:e1",
    ]


def test_two_routers_are_joined_by_their_second_kind_of_port_when_the_first_is_used_up() -> None:
    both = ("R1", "auto", "R2", "auto")
    assert plan(both, both, both, both) == [
        "R1:e0/0–R2:e0/0",
        "R1:e0/1–R2:e0/1",
        "R1:s1/0–R2:s1/0",
        "There is no pair of free ports that fit. R1 has no free port. R2 has no free port.",
    ]


def test_everything_that_is_wrong_with_a_link_is_said_at_once() -> None:
    (reason,) = plan(("R9", "e0", "SW1", "e9"))
    assert reason.startswith("There is no node called R9. Nearest: R2, R1")
    assert reason.endswith("SW1 has no port e9. Free ports of SW1: Ethernet0, Ethernet1, Ethernet3.")


def test_a_used_port_is_refused_with_where_it_leads_and_what_is_free() -> None:
    assert plan(("PC2", "e0", "SW1", "e2")) == [
        "Ethernet2 of SW1 is used: it leads to PC1:e0. Free ports of SW1: Ethernet0, Ethernet1, Ethernet3."
    ]
    assert plan(("PC1", "e0", "SW1", "e0")) == ["Ethernet0 of PC1 is used: it leads to SW1:e2. PC1 has no free port."]


def test_a_port_is_given_to_the_first_that_asks_for_it() -> None:
    first, second = plan(("R1", "e0/0", "SW1", "e0"), ("R2", "e0/0", "SW1", "Ethernet0"))
    assert first == "R1:e0/0–SW1:e0"
    assert second == ("Ethernet0 of SW1 is asked for by links[0] too. Free ports of SW1: Ethernet1, Ethernet3.")


def test_a_link_that_is_refused_takes_no_port() -> None:
    wrong, right = plan(("R1", "e0/0", "SW9", "auto"), ("R1", "e0/0", "SW1", "auto"))
    assert "no node called SW9" in wrong
    assert right == "R1:e0/0–SW1:e0"


def test_a_node_is_not_linked_to_itself() -> None:
    assert plan(("R1", "e0/0", "r1", "e9/9")) == ["R1 cannot be linked to itself: name two different nodes."]


def test_ways_out_are_not_joined_to_each_other() -> None:
    assert plan(("Cloud1", "eth0", "NAT1", "nat0")) == [
        "Cloud1 (cloud) and NAT1 (nat) cannot be joined directly: put a switch between them."
    ]


def test_wrong_media_are_refused_with_the_ports_that_would_fit() -> None:
    assert plan(("R1", "s1/0", "R2", "e0/0")) == [
        "Serial1/0 of R1 is serial and Ethernet0/0 of R2 is ethernet: only ports of one kind can be linked. "
        "Free ethernet ports of R1: Ethernet0/0, Ethernet0/1. Free serial ports of R2: Serial1/0."
    ]
    assert plan(("R1", "s1/0", "SW1", "auto")) == [
        "There is no pair of free ports that fit. SW1 has no free serial port."
    ]


def test_two_that_have_no_port_left_are_said_to_be_linked_already() -> None:
    assert plan(("PC1", "auto", "SW1", "auto")) == [
        "There is no pair of free ports that fit. PC1 has no free port. Free ports of SW1: Ethernet0, Ethernet1, "
        "Ethernet3. They are linked already: PC1:e0–SW1:e2."
    ]


def test_a_node_whose_ports_come_later_says_so() -> None:
    assert plan(("R1", "s1/0", "FR1", "1")) == [
        "FR1 has no port 1. FR1 has no ports yet: they come with the mappings that are configured in GNS3."
    ]


def test_a_link_that_is_there_is_told_with_its_id_instead_of_being_made_again() -> None:
    for asked in (("PC1", "e0", "SW1", "e2"), ("SW1", "Ethernet2", "pc1", "Ethernet0")):
        (refusal,) = plan_links([LinkRequest(*asked)], lab())
        assert refusal == Refusal("This link exists already: PC1:e0–SW1:e2 (id link-1).", "link-1")
