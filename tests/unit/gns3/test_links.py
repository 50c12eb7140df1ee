"""How links are named."""

from __future__ import annotations

import pytest

from gns3server_copilot.errors import ToolError
from gns3server_copilot.gns3.links import find_link
from gns3server_copilot.gns3.topology import parse_topology


def node(name: str, *ports: str) -> dict[str, object]:
    """A node with ports of these names; the short one is behind a comma."""
    listed = [
        {"name": port.split(",")[0], "short_name": port.split(",")[-1], "adapter_number": 0, "port_number": number}
        for number, port in enumerate(ports)
    ]
    return {"node_id": name.lower(), "name": name, "node_type": "dynamips", "ports": listed}


def link(number: int, a: str, port_a: int, b: str, port_b: int) -> dict[str, object]:
    """A link between two ports."""
    ends = [{"node_id": one, "adapter_number": 0, "port_number": port} for one, port in ((a, port_a), (b, port_b))]
    return {"link_id": f"id-{number}", "nodes": ends}


TOPOLOGY = parse_topology(
    [
        node("R1", "GigabitEthernet0/0,g0/0", "GigabitEthernet0/1,g0/1", "Serial1/0,s1/0"),
        node("R2", "GigabitEthernet0/0,g0/0", "GigabitEthernet0/1,g0/1"),
        node("SW-1", "Ethernet0,e0", "Ethernet1,e1"),
        node("PC 1", "Ethernet0,e0"),
    ],
    [
        link(1, "r1", 0, "r2", 0),
        link(2, "r1", 1, "r2", 1),
        link(3, "r1", 2, "sw-1", 0),
        link(4, "sw-1", 1, "pc 1", 0),
    ],
    [],
)


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("id-2", "id-2"),
        ("R1:g0/0-R2:g0/0", "id-1"),
        ("r2:GigabitEthernet0/1 <-> r1:GigabitEthernet0/1", "id-2"),
        ("R1 g0/1 to R2 g0/1", "id-2"),
        ("R1:g0/0–R2:g0/0", "id-1"),
        ("R1-SW-1", "id-3"),
        ("sw-1 → R1", "id-3"),
        ("PC 1, SW-1", "id-4"),
        ("PC1", "id-4"),
        ("R1:s1/0", "id-3"),
        ("R1 Serial1/0", "id-3"),
    ],
)
def test_a_link_is_found_by_what_people_call_it(wanted: str, found: str) -> None:
    assert find_link(wanted, TOPOLOGY).id == found


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ("R1-R2", r"may mean R1:g0/0–R2:g0/0 \(id-1\), R1:g0/1–R2:g0/1 \(id-2\): name the link by its id"),
        ("R1", "may mean"),
        ("R1-R9", "There is no link called R1-R9"),
        ("", "There is no link called"),
    ],
)
def test_what_fits_several_links_or_none_is_told(wanted: str, words: str) -> None:
    with pytest.raises(ToolError, match=words):
        find_link(wanted, TOPOLOGY)


def test_a_project_without_links_says_so() -> None:
    with pytest.raises(ToolError, match="no links yet"):
        find_link("R1-R2", parse_topology([], [], []))
