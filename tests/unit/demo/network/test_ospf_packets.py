"""Our OSPF packets are read by scapy, with right checksums, and damaged ones raise FrameError."""

from __future__ import annotations

from ipaddress import IPv4Address

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scapy.contrib.ospf import OSPF_Hdr, OSPF_Hello, OSPF_LSAck, OSPF_LSUpd, ospf_lsa_checksum

from gns3server_copilot.demo.network.frames import FrameError
from gns3server_copilot.demo.network.ospf_packets import (
    LINK_STUB,
    LINK_TRANSIT,
    NETWORK_LSA,
    ROUTER_LSA,
    TYPE_ACKNOWLEDGMENT,
    TYPE_HELLO,
    TYPE_UPDATE,
    Hello,
    Lsa,
    LsaKey,
    OspfPacket,
    RouterLink,
    acknowledgment_body,
    network_lsa_body,
    router_lsa_body,
    update_body,
)

R1, R2 = IPv4Address("1.1.1.1"), IPv4Address("2.2.2.2")
MASK = IPv4Address("255.255.255.0")
AREA = IPv4Address(3)
LINKS = [
    RouterLink(LINK_TRANSIT, IPv4Address("10.0.12.2"), IPv4Address("10.0.12.1"), 1),
    RouterLink(LINK_STUB, IPv4Address("192.168.1.0"), MASK, 10),
]
ROUTER = Lsa(LsaKey(ROUTER_LSA, R1, R1), 0x80000007, router_lsa_body(LINKS), age=4)
NETWORK = Lsa(LsaKey(NETWORK_LSA, IPv4Address("10.0.12.2"), R2), 0x80000001, network_lsa_body(MASK, [R1, R2]))


def test_hello_is_read_by_scapy():
    hello = Hello(MASK, 2, 8, 1, IPv4Address("10.0.12.2"), IPv4Address("10.0.12.1"), (R2,))
    data = OspfPacket(TYPE_HELLO, R1, AREA, hello.pack()).pack()
    read = OSPF_Hdr(data)
    assert (read.src, read.area, read[OSPF_Hello].hellointerval, read[OSPF_Hello].deadinterval) == (
        "1.1.1.1",
        "0.0.0.3",
        2,
        8,
    )
    assert (read[OSPF_Hello].router, read[OSPF_Hello].neighbors) == ("10.0.12.2", ["2.2.2.2"])
    assert Hello.parse(OspfPacket.parse(data).body) == hello


def test_checksums_are_those_of_scapy():
    data = OspfPacket(TYPE_UPDATE, R1, AREA, update_body([ROUTER, NETWORK])).pack()
    read = OSPF_Hdr(data)
    chksum = read.chksum
    del read.chksum
    assert OSPF_Hdr(bytes(read)).chksum == chksum
    for lsa in (ROUTER, NETWORK):
        assert lsa.checksum() == int.from_bytes(ospf_lsa_checksum(lsa.pack()), "big")


def test_update_is_read_by_scapy_and_by_ourselves():
    data = OspfPacket(TYPE_UPDATE, R1, AREA, update_body([ROUTER, NETWORK])).pack()
    router, network = OSPF_Hdr(data)[OSPF_LSUpd].lsalist
    assert [link.metric for link in router.linklist] == [1, 10]
    assert network.routerlist == ["1.1.1.1", "2.2.2.2"]
    assert Lsa.parse_all(OspfPacket.parse(data).body) == [ROUTER, NETWORK]
    assert ROUTER.router_links() == LINKS
    assert (NETWORK.network_mask(), NETWORK.attached_routers()) == (MASK, (R1, R2))


def test_acknowledgment_names_the_lsas():
    data = OspfPacket(TYPE_ACKNOWLEDGMENT, R1, AREA, acknowledgment_body([ROUTER, NETWORK])).pack()
    assert [header.seq for header in OSPF_Hdr(data)[OSPF_LSAck].lsaheaders] == [0x80000007, 0x80000001]
    headers = Lsa.parse_headers(OspfPacket.parse(data).body)
    assert [header.key for header in headers] == [ROUTER.key, NETWORK.key]


def test_changed_packet_is_noticed():
    data = bytearray(OspfPacket(TYPE_HELLO, R1, AREA, Hello(MASK, 2, 8, 1).pack()).pack())
    data[30] ^= 1
    with pytest.raises(FrameError, match="checksum"):
        OspfPacket.parse(bytes(data))


@given(st.binary(max_size=120))
def test_garbage_raises_frame_error_only(data: bytes):
    for read in (OspfPacket.parse, Hello.parse, Lsa.parse_all, Lsa.parse_headers):
        try:
            read(data)
        except FrameError:
            continue


@given(st.binary(max_size=60), st.sampled_from([ROUTER_LSA, NETWORK_LSA]))
def test_lsa_that_cannot_be_read_is_not_taken_in(body: bytes, kind: int):
    data = update_body([Lsa(LsaKey(kind, R1, R1), 1, body)])
    try:
        taken = Lsa.parse_all(data)
    except FrameError:
        return
    assert taken[0].networks() is not None
    assert taken[0].router_links() is not None if kind == ROUTER_LSA else taken[0].network_mask()
