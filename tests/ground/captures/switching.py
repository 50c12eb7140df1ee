"""Spanning tree, bundles, VTP, DTP, CDP, LLDP; HSRP, VRRP, GLBP."""

from __future__ import annotations

import struct
from typing import Any

from scapy.layers.hsrp import HSRP
from scapy.layers.vrrp import VRRP, VRRPv3

from gns3server_copilot.packets.layers.redundancy import GLBP, GLBPHello, HSRPv2Group
from gns3server_copilot.packets.layers.switching import BPDU
from tests.ground.captures.build import MAC_A, MAC_B, A, B, Case, address, cisco, ether, ip, llc, mac, tlv, udp


def bpdu(bridge: str = MAC_A, root: str = MAC_A, src: str | None = None, **fields: Any) -> bytes:
    """A BPDU; a port of a bridge has its own address."""
    return llc(BPDU(bridge=bridge, root=root, **fields), src=src or bridge)


def mst(bridge: str, region: str) -> bytes:
    """A BPDU of MSTP without instances."""
    extension = struct.pack("!HB32sH16xI8xB", 64, 0, region.encode(), 1, 0, 20)
    return llc(bytes(BPDU(version=3, bridge=bridge, root=MAC_A)) + extension, src=bridge)


ONE_ROOT = [bpdu(), bpdu(MAC_B)]
STP = [
    Case("stp_version_mismatch", "stp", [bpdu(), bpdu(MAC_B, version=0, type=0)], ONE_ROOT),
    Case("stp_timer_mismatch", "stp", [bpdu(), bpdu(MAC_B, hello=5 * 256)], ONE_ROOT),
    Case(
        "stp_region_mismatch",
        "stp",
        [mst(MAC_A, "north"), mst(MAC_B, "south")],
        [mst(MAC_A, "north"), mst(MAC_B, "north")],
    ),
    Case("stp_root", "stp", ONE_ROOT, [bpdu(), bpdu(MAC_B, MAC_B)]),
    Case("stp_several_roots", "stp", [bpdu(), bpdu(MAC_B, MAC_B)], ONE_ROOT),
    Case("stp_topology_change", "stp", [bpdu(flags=1)], ONE_ROOT),
]


def lacpdu(partner: str = MAC_B) -> bytes:
    """A LACPDU with all of its TLVs."""
    actor = struct.pack("!BBH6sHHHB3x", 1, 20, 32768, mac(MAC_A), 13, 32768, 1, 0x3D)
    other = struct.pack("!BBH6sHHHB3x", 2, 20, 32768, mac(partner), 13, 32768, 1, 0x3D)
    frame = bytes([1, 1]) + actor + other + bytes([3, 16, 0, 0]) + bytes(12) + bytes(52)
    return ether(frame, 0x8809, dst="01:80:c2:00:00:02")


def vtp(domain: str = "lab", version: int = 2, src: str = MAC_A) -> bytes:
    """A summary advertisement."""
    name = domain.encode()
    body = struct.pack("!BBBB32sI4s12s16x", version, 1, 0, len(name), name, 3, address(A), b"930301000000")
    return cisco(body, 0x2003, src)


def dtp(domain: str = "lab", status: int = 0x83, kind: int = 0xA5, sender: str = MAC_A) -> bytes:
    """A DTP frame: 3 is desirable, 4 is auto; 5 is 802.1Q, 2 is ISL."""
    tlvs = tlv(1, domain.encode() + b"\0") + tlv(2, bytes([status])) + tlv(3, bytes([kind])) + tlv(4, mac(sender))
    return cisco(b"\x01" + tlvs, 0x2004, sender)


def cdp(device: str = "R1", vlan: int = 1, duplex: int = 1, domain: str = "lab") -> bytes:
    """A CDP announcement."""
    tlvs = tlv(1, device.encode()) + tlv(3, b"Fa0/1") + tlv(6, b"cisco")
    tlvs += tlv(9, domain.encode()) + tlv(10, struct.pack("!H", vlan)) + tlv(11, bytes([duplex]))
    return cisco(struct.pack("!BBH", 2, 180, 0) + tlvs, 0x2000, MAC_A if device == "R1" else MAC_B)


def lldp(system: str = "SW1", vlan: int = 1, size: int = 1522, src: str = MAC_A) -> bytes:
    """An LLDP announcement."""
    values = [(1, b"\x04" + mac(src)), (2, b"\x05Gi0/1"), (3, b"\x00\x78"), (5, system.encode())]
    values += [
        (127, b"\x00\x80\xc2\x01" + struct.pack("!H", vlan)),
        (127, b"\x00\x12\x0f\x04" + struct.pack("!H", size)),
    ]
    tlvs = b"".join(struct.pack("!H", kind << 9 | len(value)) + value for kind, value in values)
    return ether(tlvs + b"\0\0", 0x88CC, src, "01:80:c2:00:00:0e")


SWITCHES = [vtp(), vtp(src=MAC_B)]
TRUNK = [dtp(), dtp(sender=MAC_B)]
CISCOS = [cdp(), cdp("R2")]
STATIONS = [lldp(), lldp("SW2", src=MAC_B)]
NEIGHBOURS = [
    Case("lacp_no_partner", "lacp", [lacpdu("00:00:00:00:00:00")], [lacpdu()]),
    Case("vtp_domain_mismatch", "vtp", [vtp(), vtp("other", src=MAC_B)], SWITCHES),
    Case("vtp_version_mismatch", "vtp", [vtp(), vtp(version=1, src=MAC_B)], SWITCHES),
    Case("dtp_domain_mismatch", "dtp", [dtp(), dtp("other", sender=MAC_B)], TRUNK),
    Case("dtp_both_auto", "dtp", [dtp(status=4), dtp(status=4, sender=MAC_B)], TRUNK),
    Case("dtp_type_mismatch", "dtp", [dtp(), dtp(kind=0x42, sender=MAC_B)], TRUNK),
    Case("cdp_native_vlan_mismatch", "cdp", [cdp(), cdp("R2", vlan=20)], CISCOS),
    Case("cdp_duplex_mismatch", "cdp", [cdp(), cdp("R2", duplex=0)], CISCOS),
    Case("cdp_vtp_domain_mismatch", "cdp", [cdp(), cdp("R2", domain="other")], CISCOS),
    Case("lldp_pvid_mismatch", "lldp", [lldp(), lldp("SW2", vlan=20, src=MAC_B)], STATIONS),
    Case("lldp_frame_size_mismatch", "lldp", [lldp(), lldp("SW2", size=9000, src=MAC_B)], STATIONS),
]

GROUP = address("10.0.0.254")
ACTIVE, STANDBY = 16, 8


def hsrp(src: str = A, state: int = ACTIVE, priority: int = 110, **fields: Any) -> bytes:
    """A hello of version 1."""
    return udp(
        src, "224.0.0.2", 1985, HSRP(**({"state": state, "priority": priority, "virtualIP": "10.0.0.254"} | fields))
    )


def hsrp2(src: str, **fields: Any) -> bytes:
    """A hello of version 2."""
    return udp(src, "224.0.0.102", 1985, HSRPv2Group(virtual_ip=GROUP + bytes(12), **fields))


def vrrp(src: str = A, priority: int = 100, version: int = 2, **fields: Any) -> bytes:
    """An advertisement."""
    layer = VRRPv3 if version == 3 else VRRP
    body = layer(vrid=1, priority=priority, **({"addrlist": ["10.0.0.254"]} | fields))
    return ip(src, "224.0.0.18", 112, body, ttl=255)


def glbp(src: str, state: int = 32, virtual: str = "10.0.0.254") -> bytes:
    """A hello of a gateway."""
    return udp(src, "224.0.0.102", 3222, GLBP(tlvs=[GLBPHello(state=state, virtual_ip=virtual)]))


ROLES = [hsrp(), hsrp(B, STANDBY, 100)]
MASTER = [vrrp(), vrrp()]
GATEWAYS = [glbp(A), glbp(B, 16)]
REDUNDANCY = [
    Case("hsrp_two_active", "hsrp", [hsrp(), hsrp(B)], ROLES),
    Case("hsrp_virtual_ip_mismatch", "hsrp", [hsrp(), hsrp(B, STANDBY, virtualIP="10.0.0.253")], ROLES),
    Case("hsrp_timer_mismatch", "hsrp", [hsrp(), hsrp(B, STANDBY, hellotime=1)], ROLES),
    Case("hsrp_version_mismatch", "hsrp", [hsrp(), hsrp2(B)], ROLES),
    Case("hsrp_auth_mismatch", "hsrp", [hsrp(), hsrp(B, STANDBY, auth=b"other")], ROLES),
    Case("hsrp_same_priority", "hsrp", [hsrp(), hsrp(B, STANDBY, 110)], ROLES),
    Case("hsrp_takeover", "hsrp", [*ROLES, hsrp(B, opcode=1)], ROLES),
    Case("hsrp_resign", "hsrp", [*ROLES, hsrp(A, opcode=2)], ROLES),
    Case("hsrp_roles", "hsrp", ROLES, [udp(A, "224.0.0.2", 1985, bytes([0, 3]) + bytes(14))]),
    Case("hsrp_state_change", "hsrp", [hsrp(B, STANDBY), hsrp(B)], ROLES),
    Case("vrrp_two_masters", "vrrp", [vrrp(), vrrp(B), vrrp()], MASTER),
    Case("vrrp_virtual_ip_mismatch", "vrrp", [vrrp(), vrrp(B, addrlist=["10.0.0.253"])], MASTER),
    Case("vrrp_version_mismatch", "vrrp", [vrrp(), vrrp(B, version=3)], MASTER),
    Case("vrrp_interval_mismatch", "vrrp", [vrrp(), vrrp(B, adv=5)], MASTER),
    Case("vrrp_resign", "vrrp", [vrrp(priority=0)], MASTER),
    Case("vrrp_master", "vrrp", MASTER, [hsrp()]),
    Case("vrrp_takeover", "vrrp", [vrrp(), vrrp(), vrrp(B)], MASTER),
    Case("glbp_two_active", "glbp", [glbp(A), glbp(B)], GATEWAYS),
    Case("glbp_virtual_ip_mismatch", "glbp", [glbp(A), glbp(B, 16, "10.0.0.253")], GATEWAYS),
]

CASES = [*STP, *NEIGHBOURS, *REDUNDANCY]
