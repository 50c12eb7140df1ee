"""OSPF for IPv4 and for IPv6, with scapy's layers."""

from __future__ import annotations

from typing import Any

from scapy.contrib import ospf as layers

from gns3server_copilot.packets.dissect.base import Context, Fields, dissects, ip, u16, u32

TYPES = {1: "Hello", 2: "DBD", 3: "LSR", 4: "LSU", 5: "LSAck"}
AUTHENTICATION = {0: "none", 1: "simple", 2: "cryptographic"}
DBD_FLAGS = ((4, "init"), (2, "more"), (1, "master"))
V2_HEADER, V3_HEADER = 24, 16
#: reserved byte and wider options of a version 3 description
V3_DBD_EXTRA = 4
LSA_HEADER = 20
REQUEST = 12
MAX_AGE = 3600

COMMON = (
    "type router_id area hello_interval dead_interval priority dr bdr neighbors mtu dbd_flags dbd_seq "
    "lsa_types lsa_ids advertising_routers lsa_max_age src dst version"
)


@dissects("ospf", f"{COMMON} auth_type auth_type_name auth_key_id auth_sequence mask stub nssa", repeats=True)
def ospf(data: bytes, context: Context) -> list[Fields]:
    """OSPFv2."""
    packet = layers.OSPF_Hdr(data)
    found = _header(packet, context)
    found |= {"auth_type": packet.authtype, "auth_type_name": AUTHENTICATION.get(packet.authtype, "unknown")}
    if packet.authtype == 2:
        found |= {"auth_key_id": packet.keyid, "auth_sequence": packet.seq}
    hello = packet.getlayer(layers.OSPF_Hello)
    if hello is not None:
        options = data[24 + 6]
        found |= _hello(hello) | {"mask": hello.mask, "stub": not options & 2, "nssa": bool(options & 8)}
    elif packet.type == 2 and len(data) >= 32:
        found |= {"mtu": u16(data, 24), **_dbd(data[27], u32(data, 28))}
    _add_lsas(found, data, V2_HEADER)
    return [found]


@dissects("ospfv3", f"{COMMON} instance interface_id", repeats=True)
def ospfv3(data: bytes, context: Context) -> list[Fields]:
    """OSPFv3."""
    packet = layers.OSPFv3_Hdr(data)
    found = _header(packet, context) | {"instance": packet.instance}
    hello = packet.getlayer(layers.OSPFv3_Hello)
    if hello is not None:
        found |= _hello(hello) | {"interface_id": hello.intid}
    elif packet.type == 2 and len(data) >= 28:
        found |= {"mtu": u16(data, 20), **_dbd(data[23], u32(data, 24))}
    _add_lsas(found, data, V3_HEADER)
    return [found]


def _header(packet: Any, context: Context) -> Fields:
    return {
        "version": packet.version,
        "type": TYPES.get(packet.type, str(packet.type)),
        "router_id": packet.src,
        "area": packet.area,
        "src": context.source,
        "dst": context.destination,
    }


def _hello(hello: Any) -> Fields:
    return {
        "hello_interval": hello.hellointerval,
        "dead_interval": hello.deadinterval,
        "priority": hello.prio,
        "dr": hello.router,
        "bdr": hello.backup,
        "neighbors": list(hello.neighbors),
    }


def _dbd(flags: int, sequence: int) -> Fields:
    return {"dbd_flags": [name for bit, name in DBD_FLAGS if flags & bit], "dbd_seq": sequence}


def _add_lsas(found: Fields, data: bytes, body: int) -> None:
    """Add what the headers of link state advertisements say; `body` is where the OSPF header ends.

    scapy takes a cryptographic digest behind an update for one more advertisement, so they are read here.
    """
    end = min(len(data), u16(data, 2))
    kind = found["type"]
    at = {"DBD": body + 8 + (V3_DBD_EXTRA if body == V3_HEADER else 0), "LSU": body + 4, "LSAck": body}.get(kind, end)
    if kind == "LSR":
        requests = [data[one : one + REQUEST] for one in range(body, end - REQUEST + 1, REQUEST)]
        if requests:
            found |= {
                "lsa_types": [u32(request) for request in requests],
                "lsa_ids": [ip(request, 4) for request in requests],
                "advertising_routers": [ip(request, 8) for request in requests],
            }
    headers = []
    while at + LSA_HEADER <= end:
        headers.append(data[at : at + LSA_HEADER])
        length = u16(data, at + 18)
        if kind == "LSU" and length < LSA_HEADER:
            break
        at += length if kind == "LSU" else LSA_HEADER
    if headers:
        found |= {
            "lsa_types": [u16(header, 2) if body == V3_HEADER else header[3] for header in headers],
            "lsa_ids": [ip(header, 4) for header in headers],
            "advertising_routers": [ip(header, 8) for header in headers],
            "lsa_max_age": any(u16(header) & 0x7FFF >= MAX_AGE for header in headers),
        }
