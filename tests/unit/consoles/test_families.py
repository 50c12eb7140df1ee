"""Which family a device is taken for."""

from __future__ import annotations

from typing import Any

import pytest

from gns3server_copilot.consoles.device_settings import DeviceSetting
from gns3server_copilot.consoles.families import Families
from gns3server_copilot.consoles.service import find_family
from gns3server_copilot.gns3.templates import parse_template
from gns3server_copilot.gns3.topology import Node, parse_topology
from gns3server_copilot.knowledge.loader import packaged_knowledge
from gns3server_copilot.knowledge.schemas.family import Family


@pytest.fixture(scope="module")
def families() -> Families:
    return Families(packaged_knowledge().of(Family))


DECLARED = {
    "cisco_ios": "cisco_ios",
    "cisco_ios_telnet": "cisco_ios",
    "cisco_xe": "cisco_xe",
    "cisco_xr_telnet": "cisco_xr",
    "cisco_nxos_ssh": "cisco_nxos",
    "Cisco-NXOS": "cisco_nxos",
    "cisco_asa": "cisco_asa",
    "arista_eos_telnet": "arista_eos",
    "juniper_junos_telnet": "juniper_junos",
    "juniper": "juniper_junos",
    "huawei_telnet": "huawei_vrp",
    "gns3_huawei_telnet_ce": "huawei_vrpv8",
    "huawei_vrpv8": "huawei_vrpv8",
    "hp_comware_telnet": "h3c_comware",
    "gns3_ruijie_telnet": "ruijie_os",
    "ruijie_os_telnet": "ruijie_os",
    "mikrotik_routeros": "mikrotik_routeros",
    "gns3_vpcs_telnet": "vpcs",
    "vyos": "vyos",
    "vyatta_vyos": "vyos",
    "nokia_srl": "nokia_srl",
    "extreme_exos_telnet": "extreme_exos",
    "linux": "linux",
    "generic_telnet": "generic",
}


@pytest.mark.parametrize("device_type", DECLARED)
def test_declared_types_are_understood_as_netmiko_and_gns3_spell_them(families: Families, device_type: str) -> None:
    found = families.declared(device_type)
    assert found is not None and found.name == DECLARED[device_type]


def test_an_unknown_type_tells_nothing(families: Families) -> None:
    assert families.declared("windows") is None
    assert families.declared("") is None


NAMES = {
    "Cisco IOSv 15.9(3)M4": "cisco_ios",
    "Cisco IOSvL2 15.2.1": "cisco_ios",
    "vios-adventerprisek9-m.spa.159-3.m2.qcow2": "cisco_ios",
    "c7200-adventerprisek9-mz.124-24.T5.image": "cisco_ios",
    "i86bi-linux-l3-adventerprisek9-15.4.1T.bin": "cisco_ios",
    "csr1000v-universalk9.17.03.02.qcow2": "cisco_xe",
    "Cisco Catalyst 8000V": "cisco_xe",
    "iosxrv-k9-demo-6.1.3.qcow2": "cisco_xr",
    "Cisco IOS XRv 9000": "cisco_xr",
    "Cisco NX-OSv 9000": "cisco_nxos",
    "nexus9300v.9.3.9.qcow2": "cisco_nxos",
    "asav971.qcow2": "cisco_asa",
    "Arista vEOS 4.27.0F": "arista_eos",
    "junos-vmx-x86-64-18.2R1.9.qcow2": "juniper_junos",
    "Juniper vSRX": "juniper_junos",
    "Huawei AR1000v": "huawei_vrp",
    "Huawei CE12800": "huawei_vrpv8",
    "MikroTik CHR 7.11": "mikrotik_routeros",
    "chr-7.11.img": "mikrotik_routeros",
    "FRR 8.2.2": "frr",
    "VyOS 1.3.0": "vyos",
    "Nokia SR Linux": "nokia_srl",
    "EXOS VM": "extreme_exos",
    "Alpine Linux": "linux",
    "Ubuntu Docker Guest": "linux",
}


@pytest.mark.parametrize("name", NAMES)
def test_names_of_templates_and_images_tell(families: Families, name: str) -> None:
    found = families.of_names([name])
    assert found is not None and found.name == NAMES[name]


def node(**raw: Any) -> Node:
    return parse_topology([{"node_id": "n", "name": "X", "node_type": "qemu", **raw}], [], []).nodes[0]


def test_the_surest_hint_wins(families: Families) -> None:
    template = parse_template({"template_id": "t", "name": "Arista vEOS", "template_type": "qemu"})
    declaring = parse_template({"template_id": "t", "name": "x", "template_type": "qemu", "usage": "device_type: frr"})
    image = {"hda_disk_image": "vyos-1.3.qcow2"}
    cases = [
        (node(properties={"device_type": "linux", **image}), DeviceSetting("cisco_xr"), template, "cisco_xr"),
        (node(properties={"device_type": "linux", **image}), None, template, "linux"),
        (node(properties={"usage": "A router.\ndevice_type: cisco_ios_telnet", **image}), None, template, "cisco_ios"),
        (node(properties=image), None, declaring, "frr"),
        (node(node_type="dynamips", properties={"image": "x"}), None, None, "cisco_ios"),
        (node(properties=image), None, template, "arista_eos"),
        (node(properties=image), None, None, "vyos"),
        (node(node_type="vpcs"), None, None, "vpcs"),
        (node(properties={"device_type": "unheard_of", **image}), DeviceSetting("gone"), None, "vyos"),
    ]
    for one, setting, of_template, expected in cases:
        found = find_family(one, setting, of_template, families)
        assert found.family is not None and found.family.name == expected, (found.how, expected)
    assert find_family(node(), None, None, families).family is None
