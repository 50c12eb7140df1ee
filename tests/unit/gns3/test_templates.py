"""What templates say about the nodes that are made of them."""

from __future__ import annotations

from typing import Any

import pytest

from gns3server_copilot.gns3.client import GNS3Client
from gns3server_copilot.gns3.device_types import declared_device_type
from gns3server_copilot.gns3.runs import in_runs
from gns3server_copilot.gns3.template_ports import template_ports
from gns3server_copilot.gns3.templates import parse_template, read_templates


@pytest.mark.parametrize(
    ("raw", "declared"),
    [
        ({"node_type": "vpcs", "properties": None}, "vpcs"),
        ({"template_type": "vpcs"}, "vpcs"),
        ({"node_type": "qemu", "properties": {"device_type": "cisco_ios_telnet"}}, "cisco_ios_telnet"),
        ({"node_type": "qemu", "properties": {"usage": "Log in as admin.\n device_type: arista_eos \n"}}, "arista_eos"),
        ({"template_type": "qemu", "usage": "Device_Type:huawei_vrp"}, "huawei_vrp"),
        ({"node_type": "qemu", "tags": ["x", "device_type:gns3_ruijie_telnet"]}, "gns3_ruijie_telnet"),
        ({"node_type": "qemu", "properties": {"usage": "no device_type: here"}, "tags": None}, ""),
        ({}, ""),
    ],
)
def test_the_device_type_is_what_somebody_declared(raw: dict[str, Any], declared: str) -> None:
    assert declared_device_type(raw) == declared


@pytest.mark.parametrize(
    ("kind", "raw", "names"),
    [
        ("vpcs", {}, ["Ethernet0"]),
        ("ethernet_switch", {}, ["Ethernet0..Ethernet7"]),
        ("ethernet_hub", {"ports_mapping": [{"name": "A"}, {"name": "B"}]}, ["A", "B"]),
        ("frame_relay_switch", {}, []),
        ("docker", {"adapters": 3}, ["eth0..eth2"]),
        (
            "qemu",
            {"adapters": 5, "port_name_format": "Gi0/{0}", "first_port_name": "Mgmt", "port_segment_size": 0},
            ["Mgmt", "Gi0/0..Gi0/3"],
        ),
        (
            "qemu",
            {"adapters": 8, "port_name_format": "Gi{segment0}/{port0}", "port_segment_size": 4, "first_port_name": ""},
            ["Gi0/0..Gi0/3", "Gi1/0..Gi1/3"],
        ),
        ("qemu", {"adapters": 2, "custom_adapters": [{"adapter_number": 1, "port_name": "wan"}]}, ["Ethernet0", "wan"]),
        ("qemu", {"adapters": 2, "mac_address": ""}, ["Ethernet0", "Ethernet1"]),
        (
            "iou",
            {"ethernet_adapters": 2, "serial_adapters": 1},
            ["Ethernet0/0..Ethernet0/3", "Ethernet1/0..Ethernet1/3", "Serial2/0..Serial2/3"],
        ),
        (
            "dynamips",
            {"slot0": "C7200-IO-FE", "slot1": "PA-2FE-TX", "slot2": "", "wic0": None},
            ["FastEthernet0/0", "FastEthernet1/0", "FastEthernet1/1"],
        ),
    ],
)
def test_port_names_are_those_that_a_node_will_have(kind: str, raw: dict[str, Any], names: list[str]) -> None:
    ports = template_ports(kind, raw)
    assert ports is not None
    assert in_runs(ports) == names


@pytest.mark.parametrize(
    ("kind", "raw"),
    [
        ("cloud", {}),
        ("nat", {}),
        ("qemu", {"adapters": "many"}),
        ("qemu", {"adapters": 2, "port_name_format": "{nonsense}"}),
        ("dynamips", {"slot0": "NO-SUCH-CARD"}),
        ("docker", {}),
    ],
)
def test_ports_that_cannot_be_told_are_left_open(kind: str, raw: dict[str, Any]) -> None:
    assert template_ports(kind, raw) is None


def test_an_unknown_kind_of_template_is_read_all_the_same() -> None:
    template = parse_template({"template_id": "1", "name": "New\nthing", "template_type": "quantum"})
    assert (template.name, template.type, template.category) == ("New thing", "quantum", "")


@pytest.mark.asyncio(loop_scope="session")
async def test_every_template_of_a_fresh_server_is_read(app_client: GNS3Client) -> None:
    types = {template.type: template for template in await read_templates(app_client)}
    assert set(types) == {
        "atm_switch",
        "cloud",
        "ethernet_hub",
        "ethernet_switch",
        "frame_relay_switch",
        "nat",
        "vpcs",
    }
    assert types["vpcs"].console_type == "telnet"
    assert types["ethernet_switch"].category == "switch"
