"""Finding a node's port by what people and models call it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from gns3server.controller.ports.port_factory import DynamipsPortFactory, StandardPortFactory
from hypothesis import given
from hypothesis import strategies as st

from gns3server_copilot.errors import ToolError
from gns3server_copilot.gns3.ports import find_port, first_free, free_ports_text, place_of
from gns3server_copilot.gns3.topology import Node, parse_topology
from tests.ground.port_rules import check_port_names

#: Port names of each kind of node, as gns3-server gives them: long and short.
IOS = [("GigabitEthernet0/0", "g0/0"), ("GigabitEthernet0/1", "g0/1"), ("Serial1/0", "s1/0"), ("Serial1/1", "s1/1")]
SWITCH = [(f"Ethernet{number}", f"e{number}") for number in range(8)]


def node_with(*ports: tuple[str, str], name: str = "R1", kind: str = "qemu") -> Node:
    """A node whose ports have these long and short names; those that begin with S are serial."""
    listed = [
        {
            "name": long,
            "short_name": short,
            "adapter_number": number,
            "port_number": 0,
            "link_type": "serial" if long.startswith("S") else "ethernet",
        }
        for number, (long, short) in enumerate(ports)
    ]
    raw = {"node_id": f"id-{name}", "name": name, "node_type": kind, "ports": listed}
    return parse_topology([raw], [], []).nodes[0]


@pytest.mark.parametrize(
    "wanted",
    [
        "GigabitEthernet0/0",
        "g0/0",
        "Gi0/0",
        "gi0/0",
        "Gig0/0",
        "GE0/0",
        "gigabit ethernet 0/0",
        "interface Gi0/0",
        " G0/0 ",
        "0/0",
    ],
)
def test_a_port_is_found_however_it_is_written(wanted: str) -> None:
    assert find_port(wanted, node_with(*IOS)).name == "GigabitEthernet0/0"


@pytest.mark.parametrize(
    ("ports", "wanted", "found"),
    [
        (SWITCH, "e0", "Ethernet0"),
        (SWITCH, "eth0", "Ethernet0"),
        (SWITCH, "7", "Ethernet7"),
        (SWITCH, "port 3", "Ethernet3"),
        ([("eth0", "eth0"), ("eth1", "eth1")], "e0", "eth0"),
        ([("eth0", "eth0"), ("eth1", "eth1")], "Ethernet1", "eth1"),
        ([("Gi0/0", "Gi0/0"), ("Gi0/1", "Gi0/1")], "GigabitEthernet0/1", "Gi0/1"),
        ([("ge-0/0/0", "ge-0/0/0"), ("ge-0/0/1", "ge-0/0/1")], "ge0/0/1", "ge-0/0/1"),
        ([("FastEthernet0/0", "f0/0"), ("Ethernet1/0", "e1/0")], "fa0/0", "FastEthernet0/0"),
        ([("FastEthernet0/0", "f0/0"), ("Ethernet1/0", "e1/0")], "fe0/0", "FastEthernet0/0"),
        ([("Ethernet10", "e10"), ("Ethernet1", "e1")], "e1", "Ethernet1"),
        ([("Management0/0", "Management0/0"), ("Gi0/0", "Gi0/0")], "management0/0", "Management0/0"),
        ([("none", "none")], "NONE", "none"),
    ],
)
def test_abbreviations_fit_whichever_side_is_short(ports: list[tuple[str, str]], wanted: str, found: str) -> None:
    assert find_port(wanted, node_with(*ports)).name == found


@pytest.mark.parametrize("wanted", ["g0/9", "e0/0", "Gi", "ens3", "", "0", "Loopback0", "g0/00", "g0"])
def test_a_port_that_is_not_there_is_answered_with_the_free_ones(wanted: str) -> None:
    with pytest.raises(ToolError) as refused:
        find_port(wanted, node_with(*IOS))
    assert refused.value.message.startswith("R1 has no port ")
    assert refused.value.message.endswith(
        "Free ports of R1: GigabitEthernet0/0, GigabitEthernet0/1, Serial1/0, Serial1/1."
    )


def test_what_may_mean_several_is_not_guessed() -> None:
    node = node_with(("FastEthernet0/0", "f0/0"), ("GigabitEthernet0/0", "g0/0"))
    with pytest.raises(ToolError) as refused:
        find_port("0/0", node)
    assert refused.value.message == ("0/0 of R1 may mean FastEthernet0/0, GigabitEthernet0/0: give the whole name.")


def test_the_first_free_port_is_of_the_media_asked_for_and_not_taken() -> None:
    node = node_with(*IOS)
    first = first_free(node, "ethernet", ())
    assert first is not None and first.name == "GigabitEthernet0/0"
    second = first_free(node, "ethernet", {place_of(node, first)})
    assert second is not None and second.name == "GigabitEthernet0/1"
    serial = first_free(node, "serial", ())
    assert serial is not None and serial.name == "Serial1/0"
    assert first_free(node, "atm", ()) is None


def test_free_ports_are_said_in_runs_and_their_absence_is_said() -> None:
    assert free_ports_text(node_with(*SWITCH, name="SW1")) == "Free ports of SW1: Ethernet0..Ethernet7."
    assert free_ports_text(node_with(*IOS), media="serial") == "Free serial ports of R1: Serial1/0, Serial1/1."
    assert free_ports_text(node_with(*SWITCH), media="serial") == "R1 has no free serial port."
    assert free_ports_text(node_with()) == "R1 has no ports."
    assert "the mappings that are configured" in free_ports_text(node_with(name="FR1", kind="frame_relay_switch"))


def made_by_host() -> Iterator[tuple[str, list[Any]]]:
    """Port lists of gns3-server's own factories: formats of appliances, segments, slots."""
    formats = [
        ("Ethernet{0}", 0, None),
        ("GigabitEthernet0/{0}", 0, None),
        ("Gi{1}/{0}", 4, None),
        ("GigabitEthernet{0}", 0, "Management0/0"),
        ("eth{0}", 0, None),
        ("ge-0/0/{0}", 0, "fxp0"),
        ("port{port1}", 0, None),
        ("Ethernet{segment0}/{port0}", 4, None),
        ("swp{port1}", 0, "mgmt"),
        ("FastEthernet{1}/{0}", 8, None),
    ]
    for name_format, segment, first in formats:
        yield name_format, StandardPortFactory({"adapters": 24}, 1, first, name_format, segment, [])
    iou = {"ethernet_adapters": 2, "serial_adapters": 2}
    yield "iou", StandardPortFactory(iou, 4, None, "Ethernet{segment0}/{port0}", 4, [])
    slots = {"slot0": "C7200-IO-FE", "slot1": "PA-GE", "slot2": "PA-8E", "slot3": "PA-4T+", "slot4": "PA-POS-OC3"}
    yield "dynamips", DynamipsPortFactory({**slots, "slot5": "PA-A1", "slot6": "PA-2FE-TX"})
    yield (
        "wic",
        DynamipsPortFactory({"slot0": "C2600-MB-2FE", "slot1": "NM-16ESW", "wic0": "WIC-2T", "wic1": "WIC-1ENET"}),
    )


@pytest.mark.parametrize(
    ("name", "ports"), list(made_by_host()), ids=lambda value: value if isinstance(value, str) else ""
)
def test_ports_of_every_kind_of_node_are_found_by_all_their_names(name: str, ports: list[Any]) -> None:
    raw = {"node_id": "1", "name": "N", "node_type": "qemu", "ports": [port.asdict() for port in ports]}
    (node,) = parse_topology([raw], [], []).nodes
    assert node.ports
    check_port_names(node)


INTERFACE = st.from_regex(
    r"(Ethernet|FastEthernet|GigabitEthernet|Serial|eth|Gi|swp)(0|[1-9])(/(0|[1-9][0-9]?)){0,2}", fullmatch=True
)


@given(st.lists(INTERFACE, min_size=1, max_size=12, unique_by=str.casefold))
def test_any_mixture_of_ports_keeps_the_rules(names: list[str]) -> None:
    check_port_names(node_with(*((name, name) for name in names)))


@given(st.text(max_size=30))
def test_no_text_breaks_the_search(wanted: str) -> None:
    node = node_with(*IOS)
    try:
        assert find_port(wanted, node) in node.ports
    except ToolError as error:
        assert "R1" in error.message


def test_ports_of_a_recorded_lab_are_found_by_all_their_names() -> None:
    folder = Path(os.environ.get("COPILOT_TEST_DATA", "../shared/data")) / "gns3"
    if not folder.is_dir():
        pytest.skip("there are no recordings; COPILOT_TEST_DATA names their folder")
    nodes = [raw for path in sorted(folder.glob("*.json")) for raw in _nodes_in(json.loads(path.read_text()))]
    assert len(nodes) > 50
    for node in parse_topology(nodes, [], []).nodes:
        check_port_names(node)


def _nodes_in(recorded: Any) -> Iterator[dict[str, Any]]:
    if isinstance(recorded, dict):
        if "node_type" in recorded and isinstance(recorded.get("ports"), list):
            yield recorded
        for value in recorded.values():
            yield from _nodes_in(value)
    elif isinstance(recorded, list):
        for value in recorded:
            yield from _nodes_in(value)
