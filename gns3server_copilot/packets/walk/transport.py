"""TCP and UDP, and the protocols on their well-known ports."""

from __future__ import annotations

from collections.abc import Callable

from gns3server_copilot.packets.walk.steps import Layer, MalformedError, State, handles, u16, u32

UDP_PORTS = {
    53: "dns",
    67: "dhcp",
    68: "dhcp",
    69: "tftp",
    123: "ntp",
    137: "netbios_name",
    138: "netbios_datagram",
    161: "snmp",
    162: "snmp",
    319: "ptp",
    320: "ptp",
    443: "quic",
    500: "isakmp",
    514: "syslog",
    520: "rip",
    521: "ripng",
    546: "dhcpv6",
    547: "dhcpv6",
    646: "ldp",
    1645: "radius",
    1646: "radius",
    1701: "l2tp",
    1812: "radius",
    1813: "radius",
    1900: "ssdp",
    1985: "hsrp",
    2029: "hsrp",
    2048: "wccp",
    2123: "gtp",
    2152: "gtp",
    3222: "glbp",
    3386: "gtp",
    3503: "mpls_echo",
    3784: "bfd",
    3785: "bfd_echo",
    3799: "radius",
    4500: "udp_encapsulation",
    4784: "bfd",
    4789: "vxlan",
    5353: "mdns",
    5355: "llmnr",
    6081: "geneve",
    6343: "sflow",
    7784: "bfd",
    8472: "vxlan",
    9875: "sap",
    17500: "dropbox_discovery",
    8053: "dns",
    47808: "bacnet",
}

TCP_PORTS = {
    21: "ftp",
    22: "ssh",
    23: "telnet",
    25: "smtp",
    49: "tacacs",
    53: "dns",
    80: "http",
    110: "pop",
    143: "imap",
    179: "bgp",
    389: "ldap",
    443: "tls",
    445: "smb",
    502: "modbus",
    554: "rtsp",
    587: "smtp",
    639: "msdp",
    646: "ldp",
    830: "ssh",
    853: "tls",
    993: "tls",
    1883: "mqtt",
    3306: "mysql",
    5060: "sip",
    6633: "openflow",
    6653: "openflow",
    7075: "nano",
    8000: "http",
    8080: "http",
    8443: "tls",
}

HTTP_STARTS = (b"GET ", b"POST", b"HEAD", b"PUT ", b"DELE", b"OPTI", b"PATC", b"CONN", b"TRAC", b"HTTP")
TLS_TYPES = (20, 21, 22, 23)
BGP_MARKER = b"\xff" * 16
FLOW_SAMPLE, RAW_HEADER, SAMPLED_ETHERNET = 1, 1, 1
MOST_RECORDS = 64


@handles("udp")
def udp(data: bytes, at: int, end: int, state: State) -> Layer | None:
    """Eight bytes; the port that is known names the protocol."""
    source, destination = u16(data, at), u16(data, at + 2)
    length = u16(data, at + 4)
    if 0 < length < 8:
        raise MalformedError
    body, stop = at + 8, min(end, at + length) if length else end
    if body >= stop:
        return None
    low, high = (source, destination) if source < destination else (destination, source)
    name = UDP_PORTS.get(low) or UDP_PORTS.get(high)
    if name is None:
        if state.endpoints:
            state.peeked = True
            told = state.endpoints.get((state.destination, destination))
            name = told or state.endpoints.get((state.source, source))
        return None if name is None else Layer(name, body, stop)
    if name in UDP_CHECKED:
        state.peeked = True
        if not UDP_CHECKED[name](data, body):
            return None
    elif name == "tftp" and destination == 69:
        # the server answers from a port of its own
        state.peeked = True
        state.endpoints[state.source, source] = "tftp"
    return None if name is None else Layer(name, body, stop)


@handles("tcp")
def tcp(data: bytes, at: int, end: int, state: State) -> Layer | None:
    """The port that is known names the protocol of segments that carry data."""
    header = (data[at + 12] >> 4) * 4
    if header < 20:
        raise MalformedError
    body = at + header
    if body >= end:
        return None
    name = TCP_PORTS.get(u16(data, at + 2)) or TCP_PORTS.get(u16(data, at))
    if name in TCP_CHECKED and not TCP_CHECKED[name](data, body):
        return None
    return None if name is None else Layer(name, body, end)


#: Ports that other programs use too: what is there has to look like the protocol.
UDP_CHECKED: dict[str, Callable[[bytes, int], bool]] = {
    "quic": lambda data, at: bool(data[at] & 0x40),
    "radius": lambda data, at: data[at] < 64 and len(data) - at >= 20,
}

TCP_CHECKED: dict[str, Callable[[bytes, int], bool]] = {
    "http": lambda data, at: data[at : at + 4] in HTTP_STARTS,
    "tls": lambda data, at: data[at] in TLS_TYPES and data[at + 1 : at + 2] == b"\x03",
    "bgp": lambda data, at: data[at : at + 16] == BGP_MARKER[: len(data) - at],
    "ldp": lambda data, at: data[at : at + 2] == b"\x00\x01",
    "tacacs": lambda data, at: data[at] >> 4 == 12,
}
#: Ports on which the first bytes of a segment decide; flows are told apart by them there.
CHECKED_PORTS = frozenset(port for port, name in TCP_PORTS.items() if name in TCP_CHECKED)
#: First bytes that may be those of such a protocol.
CHECKED_STARTS = frozenset({*TLS_TYPES, *(start[0] for start in HTTP_STARTS), 0xFF, 0x00, *range(0xC0, 0xD0)})


@handles("udp_encapsulation")
def udp_encapsulation(data: bytes, at: int, end: int, state: State) -> Layer | None:
    """Port 4500: IKE behind four zero bytes, ESP otherwise, or a keepalive of one byte."""
    state.peeked = True
    if data[at : at + 4] == b"\0\0\0\0":
        return Layer("isakmp", at + 4, end)
    return Layer("esp", at, end) if end - at > 1 else None


@handles("vxlan")
def vxlan(data: bytes, at: int, end: int, state: State) -> Layer | None:
    """Eight bytes, then Ethernet."""
    state.peeked = True
    return Layer("ethernet", at + 8, end) if end - at >= 22 else None


@handles("geneve")
def geneve(data: bytes, at: int, end: int, state: State) -> Layer | None:
    """Options of a length that is told; Ethernet is what it mostly carries."""
    state.peeked = True
    body = at + 8 + (data[at] & 0x3F) * 4
    return Layer("ethernet", body, end) if u16(data, at + 2) == 0x6558 else None


@handles("radius")
def radius(data: bytes, at: int, end: int, state: State) -> Layer | None:
    """Attribute 79 carries EAP."""
    stop = min(end, at + u16(data, at + 2))
    at += 20
    while at + 2 < stop and data[at + 1] >= 2:
        if data[at] == 79:
            return Layer("eap", at + 2, min(stop, at + data[at + 1]))
        at += data[at + 1]
    return None


@handles("sflow")
def sflow(data: bytes, at: int, end: int, state: State) -> Layer | None:
    """The first sampled frame of a version 5 datagram."""
    state.peeked = True
    if u32(data, at) != 5:
        return None
    at += 24 + (4 if u32(data, at + 4) == 1 else 16)
    for _ in range(min(u32(data, at - 4), MOST_RECORDS)):
        kind, length = u32(data, at), u32(data, at + 4)
        if kind == FLOW_SAMPLE:
            record = at + 40
            for _ in range(min(u32(data, at + 36), MOST_RECORDS)):
                if u32(data, record) == RAW_HEADER and u32(data, record + 8) == SAMPLED_ETHERNET:
                    start = record + 24
                    return Layer("ethernet", start, min(end, start + u32(data, record + 20)))
                record += 8 + u32(data, record + 4)
        at += 8 + length
    return None
