"""OSPF, EIGRP, RIP, BGP, IS-IS, PIM, IGMP."""

from __future__ import annotations

import struct
from typing import Any

from scapy.contrib import eigrp as scapy_eigrp
from scapy.contrib import ospf as scapy_ospf

from tests.ground.captures.build import MAC_A, MAC_B, A, B, Case, address, ip, llc, tcp, tlv, udp

ALL_OSPF = "224.0.0.5"
LINK_A, LINK_B = "fe80::1", "fe80::2"
RID_A, RID_B = "1.1.1.1", "2.2.2.2"


def hello(
    src: str = A, rid: str = RID_A, area: str = "0.0.0.0", auth: dict[str, Any] | None = None, **fields: Any
) -> bytes:
    """An OSPFv2 hello."""
    body = {"mask": "255.255.255.0", "hellointerval": 10, "deadinterval": 40, "options": 2} | fields
    header = scapy_ospf.OSPF_Hdr(src=rid, area=area, **(auth or {}))
    return ip(src, ALL_OSPF, 89, header / scapy_ospf.OSPF_Hello(**body), ttl=1)


def description(src: str, dst: str, rid: str, mtu: int = 1500, flags: int = 7, seq: int = 100) -> bytes:
    """An OSPFv2 database description."""
    packet = scapy_ospf.OSPF_Hdr(src=rid) / scapy_ospf.OSPF_DBDesc(mtu=mtu, dbdescr=flags, ddseq=seq)
    return ip(src, dst, 89, packet)


def hello6(src: str = LINK_A, rid: str = RID_A, area: str = "0.0.0.0", instance: int = 0, **fields: Any) -> bytes:
    """An OSPFv3 hello."""
    body = {"hellointerval": 10, "deadinterval": 40, "intid": 5} | fields
    packet = scapy_ospf.OSPFv3_Hdr(src=rid, area=area, instance=instance) / scapy_ospf.OSPFv3_Hello(**body)
    return ip(src, "ff02::5", 89, packet, ttl=1)


def description6(src: str, dst: str, rid: str, mtu: int = 1500, flags: int = 7) -> bytes:
    """An OSPFv3 database description."""
    packet = scapy_ospf.OSPFv3_Hdr(src=rid) / scapy_ospf.OSPFv3_DBDesc(mtu=mtu, dbdescr=flags, ddseq=7)
    return ip(src, dst, 89, packet, ttl=1)


def neighbours(one: bytes, other: bytes) -> list[Any]:
    """Two speakers that each send the same twice."""
    return [one, other, one, other]


def _pair(**other: Any) -> list[Any]:
    return neighbours(hello(neighbors=[RID_B]), hello(**({"src": B, "rid": RID_B, "neighbors": [RID_A]} | other)))


def _pair6(**other: Any) -> list[Any]:
    return neighbours(
        hello6(neighbors=[RID_B]), hello6(**({"src": LINK_B, "rid": RID_B, "neighbors": [RID_A]} | other))
    )


SIGNED = {"authtype": 2, "keyid": 1, "authdatalen": 16}
AGREED, AGREED6 = _pair(), _pair6()
EXCHANGE = [description(A, B, RID_A), description(B, A, RID_B)]
EXCHANGE6 = [description6(LINK_A, LINK_B, RID_A), description6(LINK_B, LINK_A, RID_B)]

OSPF = [
    Case("ospf_hello_interval_mismatch", "ospf", _pair(hellointerval=5), AGREED),
    Case("ospf_dead_interval_mismatch", "ospf", _pair(deadinterval=20), AGREED),
    Case("ospf_area_mismatch", "ospf", _pair(area="0.0.0.1"), AGREED),
    Case("ospf_mask_mismatch", "ospf", _pair(mask="255.255.255.128"), AGREED),
    Case("ospf_stub_mismatch", "ospf", _pair(options=0), AGREED),
    Case("ospf_nssa_mismatch", "ospf", _pair(options=10), AGREED),
    Case("ospf_auth_mismatch", "ospf", _pair(auth={"authtype": 1, "authdata": 7}), AGREED),
    Case(
        "ospf_auth_key_id_mismatch",
        "ospf",
        neighbours(hello(auth=SIGNED), hello(B, RID_B, auth=SIGNED | {"keyid": 2})),
        neighbours(hello(auth=SIGNED), hello(B, RID_B, auth=SIGNED)),
    ),
    Case("ospf_duplicate_router_id", "ospf", _pair(rid=RID_A), AGREED),
    Case("ospf_mtu_mismatch", "ospf", [description(A, B, RID_A), description(B, A, RID_B, mtu=1400)], EXCHANGE),
    Case("ospf_exchange_stuck", "ospf", [description(A, B, RID_A)] * 4, EXCHANGE),
    Case(
        "ospf_one_way",
        "ospf",
        neighbours(hello(), hello(B, RID_B, neighbors=[RID_A])),
        AGREED,
    ),
    Case("ospf_alone", "ospf", [hello()] * 3, AGREED),
    Case("ospfv3_hello_interval_mismatch", "ospfv3", _pair6(hellointerval=5), AGREED6),
    Case("ospfv3_dead_interval_mismatch", "ospfv3", _pair6(deadinterval=20), AGREED6),
    Case("ospfv3_area_mismatch", "ospfv3", _pair6(area="0.0.0.1"), AGREED6),
    Case("ospfv3_instance_mismatch", "ospfv3", _pair6(instance=1), AGREED6),
    Case("ospfv3_duplicate_router_id", "ospfv3", _pair6(rid=RID_A), AGREED6),
    Case(
        "ospfv3_mtu_mismatch",
        "ospfv3",
        [description6(LINK_A, LINK_B, RID_A), description6(LINK_B, LINK_A, RID_B, mtu=1400)],
        EXCHANGE6,
    ),
    Case("ospfv3_exchange_stuck", "ospfv3", [description6(LINK_A, LINK_B, RID_A)] * 4, EXCHANGE6),
    Case("ospfv3_one_way", "ospfv3", neighbours(hello6(), hello6(LINK_B, RID_B, neighbors=[RID_A])), AGREED6),
    Case("ospfv3_alone", "ospfv3", [hello6()] * 3, AGREED6),
]


def eigrp(src: str = A, asn: int = 100, k: tuple[int, ...] = (1, 0, 1, 0, 0), opcode: int = 5) -> bytes:
    """An EIGRP packet, with its parameters when it is a hello."""
    values = {f"k{number}": value for number, value in enumerate(k, 1)}
    tlvs = [scapy_eigrp.EIGRPParam(holdtime=15, **values)] if opcode == 5 else []
    return ip(src, "224.0.0.10", 88, scapy_eigrp.EIGRP(opcode=opcode, asn=asn, tlvlist=tlvs), ttl=2)


HELLOS = [eigrp(), eigrp(B)]
EIGRP = [
    Case("eigrp_k_value_mismatch", "eigrp", [eigrp(), eigrp(B, k=(1, 1, 1, 0, 0))], HELLOS),
    Case("eigrp_as_mismatch", "eigrp", [eigrp(), eigrp(B, asn=200)], HELLOS),
    Case("eigrp_goodbye", "eigrp", [eigrp(k=(255,) * 5)], HELLOS),
    Case("eigrp_stuck_in_active", "eigrp", [eigrp(opcode=10)], HELLOS),
]


def rip(src: str = A, version: int = 2, metric: int = 1, auth: int = 0) -> bytes:
    """A RIP response with one route, and an authentication entry when a type is given."""
    entry = struct.pack(
        "!HH4s4s4sI", 2, 0, address("10.1.0.0"), address("255.255.0.0") if version == 2 else bytes(4), bytes(4), metric
    )
    if auth == 2:
        entry = struct.pack("!HH16s", 0xFFFF, 2, b"secret") + entry
    elif auth == 3:
        entry = struct.pack("!HHHBBII4x", 0xFFFF, 3, 44, 1, 20, 1, 0) + entry + struct.pack("!HH16x", 0xFFFF, 1)
    return udp(src, "224.0.0.9", 520, bytes([2, version, 0, 0]) + entry)


RESPONSES = [rip(), rip(B)]
RIP = [
    Case("rip_version_mismatch", "rip", [rip(), rip(B, version=1)], RESPONSES),
    Case("rip_auth_mismatch", "rip", [rip(auth=2), rip(B, auth=3)], [rip(auth=2), rip(B, auth=2)]),
    Case("rip_unreachable", "rip", [rip(metric=16)], RESPONSES),
]


def bgp_message(kind: int, body: bytes = b"") -> bytes:
    """A BGP message."""
    return b"\xff" * 16 + struct.pack("!HB", 19 + len(body), kind) + body


def bgp_open(asn: int, identifier: str, hold: int = 180) -> bytes:
    """An OPEN message with the four-byte AS capability."""
    capability = struct.pack("!BBI", 65, 4, asn)
    parameter = struct.pack("!BB", 2, len(capability)) + capability
    return bgp_message(1, struct.pack("!BHH4sB", 4, asn, hold, address(identifier), len(parameter)) + parameter)


def bgp(src: str, dst: str, message: bytes, seq: int = 1) -> bytes:
    """A segment with a message, from the lower address to the other's port 179 or back."""
    ports = (40000, 179) if src < dst else (179, 40000)
    return tcp(src, dst, *ports, "PA", seq, 1, message)


OPENS = [bgp(A, B, bgp_open(65001, RID_A)), bgp(B, A, bgp_open(65002, RID_B))]
BGP = [
    Case("bgp_notification", "bgp", [bgp(B, A, bgp_message(3, b"\x02\x02"))], OPENS),
    Case("bgp_cease", "bgp", [bgp(B, A, bgp_message(3, b"\x06\x02"))], OPENS),
    Case("bgp_duplicate_identifier", "bgp", [OPENS[0], bgp(B, A, bgp_open(65002, RID_A))], OPENS),
    Case("bgp_no_hold_time", "bgp", [bgp(A, B, bgp_open(65001, RID_A, hold=0))], OPENS),
]


def isis_hello(
    system: int, level: int = 3, area: str = "490001", auth: int = 0, lan: bool = False, src: str = MAC_A
) -> bytes:
    """A hello: on a point-to-point link, or on a LAN in level 1."""
    identifier = bytes([0, 0, 0, 0, 0, system])
    raw = bytes.fromhex(area)
    tlvs = bytes([1, len(raw) + 1, len(raw)]) + raw
    if auth:
        tlvs += tlv(10, bytes([auth]) + b"secret0123456789", "!BB", inclusive=False)
    fixed = struct.pack("!B6sH", level, identifier, 30)
    if lan:
        body = fixed + struct.pack("!HB7s", 27 + len(tlvs), 64, identifier + b"\x01") + tlvs
        header = bytes([0x83, 27, 1, 0, 15, 1, 0, 0])
    else:
        body = fixed + struct.pack("!HB", 20 + len(tlvs), 1) + tlvs
        header = bytes([0x83, 20, 1, 0, 17, 1, 0, 0])
    return llc(header + body, 0xFE, src, "01:80:c2:00:00:14")


def isis_lsp(system: int, overload: bool) -> bytes:
    """A link state PDU of level 2."""
    fixed = struct.pack("!HH8sIHB", 27, 1200, bytes([0, 0, 0, 0, 0, system, 0, 0]), 1, 0, 7 if overload else 3)
    return llc(bytes([0x83, 27, 1, 0, 20, 1, 0, 0]) + fixed, 0xFE)


ISIS_PAIR = [isis_hello(1), isis_hello(2, src=MAC_B)]
LAN_PAIR = [isis_hello(1, level=1, lan=True), isis_hello(2, level=1, lan=True, src=MAC_B)]
ISIS = [
    Case(
        "isis_area_mismatch",
        "isis",
        [LAN_PAIR[0], isis_hello(2, level=1, area="490002", lan=True, src=MAC_B)],
        LAN_PAIR,
    ),
    Case("isis_level_mismatch", "isis", [isis_hello(1, level=1), isis_hello(2, level=2, src=MAC_B)], ISIS_PAIR),
    Case("isis_duplicate_system_id", "isis", [isis_hello(1), isis_hello(1, src=MAC_B)], ISIS_PAIR),
    Case(
        "isis_auth_mismatch",
        "isis",
        [isis_hello(1, auth=1), isis_hello(2, auth=54, src=MAC_B)],
        [isis_hello(1, auth=54), isis_hello(2, auth=54, src=MAC_B)],
    ),
    Case("isis_overload", "isis", [isis_lsp(1, True)], [isis_lsp(1, False)]),
]


def igmp_query(src: str) -> bytes:
    """A general query of version 2."""
    return ip(src, "224.0.0.1", 2, bytes.fromhex("1164ee9b00000000"), ttl=1)


def pim_hello(src: str, version: int = 2) -> bytes:
    """A hello with a hold time."""
    return ip(src, "224.0.0.13", 103, bytes([version << 4, 0, 0, 0]) + tlv(1, b"\x00\x69", inclusive=False), ttl=1)


MULTICAST = [
    Case("igmp_two_queriers", "igmp", [igmp_query(A), igmp_query(B)], [igmp_query(A), igmp_query(A)]),
    Case("pim_version_mismatch", "pim", [pim_hello(A), pim_hello(B, 1)], [pim_hello(A), pim_hello(B)]),
]

CASES = [*OSPF, *EIGRP, *RIP, *BGP, *ISIS, *MULTICAST]
