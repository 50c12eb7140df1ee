"""The ports of every kind of node that runs here, as a live gns3-server lists them, found by all their names."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from gns3server_copilot.gns3.topology import parse_topology
from tests.ground.lab_tools import missing, scripted_qemu
from tests.ground.port_rules import check_port_names
from tests.ground.projects import Project
from tests.ground.users import UserClient, ok

CLOUD_PORTS = ("WAN 1", "wan_2", "br-x3")
UDP = {"type": "udp", "lport": 1, "rhost": "127.0.0.1", "rport": 1}
#: Kinds of node with their properties, and how many ports each then has.
NODES: list[tuple[str, dict[str, Any], dict[str, Any], int]] = [
    ("vpcs", {}, {}, 1),
    ("ethernet_hub", {}, {}, 8),
    (
        "ethernet_switch",
        {"ports_mapping": [{"name": f"Gi1/0/{n}", "port_number": n, "type": "access", "vlan": 1} for n in range(24)]},
        {},
        24,
    ),
    ("frame_relay_switch", {"mappings": {"1:101": "10:202", "2:5": "3:6"}}, {}, 4),
    ("atm_switch", {"mappings": {"1:0:100": "10:0:200"}}, {}, 2),
    (
        "cloud",
        {
            "ports_mapping": [
                {"name": name, "port_number": n, **UDP} for n, name in enumerate(("WAN 1", "wan_2", "br-x3"))
            ]
        },
        {},
        3,
    ),
    ("qemu", {"adapters": 10}, {"port_name_format": "GigabitEthernet0/{0}", "first_port_name": "Management0/0"}, 10),
    ("qemu", {"adapters": 8}, {"port_name_format": "Gi{1}/{0}", "port_segment_size": 4}, 8),
    ("qemu", {"adapters": 12}, {"port_name_format": "ge-0/0/{0}"}, 12),
    ("qemu", {"adapters": 3}, {"port_name_format": "eth{0}"}, 3),
]


@pytest.mark.lab("dynamips", "cloud")
async def test_ports_of_all_kinds_of_nodes_are_found_by_all_their_names(
    admin: UserClient, project: Project, tmp_path_factory: pytest.TempPathFactory
) -> None:
    if reasons := await asyncio.to_thread(missing, ("dynamips", "cloud")):
        pytest.skip("; ".join(reasons))
    program = await asyncio.to_thread(scripted_qemu, tmp_path_factory.mktemp("qemu"))
    for number, (kind, properties, fields, _) in enumerate(NODES):
        if kind == "qemu":
            properties = {**properties, "qemu_path": str(program), "ram": 16}
        body = {"node_type": kind, "name": f"N{number}", "compute_id": "local", "properties": properties, **fields}
        await ok(admin.post(f"{project.url}/nodes", json=body))
    nodes = parse_topology(await ok(admin.get(f"{project.url}/nodes")), [], []).nodes
    assert [(node.name, len(node.ports)) for node in nodes] == [
        (f"N{number}", count) for number, (*_, count) in enumerate(NODES)
    ]
    for node in nodes:
        check_port_names(node)
