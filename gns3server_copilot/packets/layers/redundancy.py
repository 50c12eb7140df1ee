"""GLBP and the second version of HSRP."""

from __future__ import annotations

from typing import Any

from scapy.fields import (
    ByteEnumField,
    ByteField,
    FieldLenField,
    IntField,
    IPField,
    MACField,
    PacketListField,
    ShortField,
    StrFixedLenField,
    StrLenField,
    XByteField,
)
from scapy.packet import Packet

HSRP_STATES = {1: "Init", 2: "Learn", 3: "Listen", 4: "Speak", 5: "Standby", 6: "Active"}
HSRP_OPCODES = {0: "Hello", 1: "Coup", 2: "Resign"}
GLBP_STATES = {0: "Disabled", 1: "Init", 2: "Learn", 4: "Listen", 8: "Speak", 16: "Standby", 32: "Active"}


class HSRPv2Group(Packet):
    """The group state TLV, which is all that a hello mostly has."""

    name = "HSRPv2 group state"
    fields_desc = [
        ByteField("type", 1),
        ByteField("length", 40),
        ByteField("version", 2),
        ByteEnumField("opcode", 0, HSRP_OPCODES),
        ByteEnumField("state", 6, HSRP_STATES),
        ByteField("ip_version", 4),
        ShortField("group", 0),
        MACField("identifier", "00:00:00:00:00:00"),
        IntField("priority", 100),
        IntField("hello", 3000),
        IntField("hold", 10000),
        StrFixedLenField("virtual_ip", bytes(16), 16),
    ]


class _GLBPTLV(Packet):
    """One of several in a packet."""

    def extract_padding(self, s: bytes) -> tuple[bytes, bytes]:
        """What follows belongs to the next TLV."""
        return b"", s


class GLBPHello(_GLBPTLV):
    """The TLV of a gateway: its state, priority and timers, in milliseconds."""

    name = "GLBP hello"
    fields_desc = [
        ByteField("type", 1),
        ByteField("length", 28),
        XByteField("unknown1", 0),
        ByteEnumField("state", 32, GLBP_STATES),
        XByteField("unknown2", 0),
        ByteField("priority", 100),
        ShortField("unknown3", 0),
        IntField("hello", 3000),
        IntField("hold", 10000),
        ShortField("redirect", 600),
        ShortField("timeout", 14400),
        ShortField("unknown4", 0),
        ByteField("address_type", 1),
        ByteField("address_length", 4),
        IPField("virtual_ip", "0.0.0.0"),
    ]


class GLBPForwarder(_GLBPTLV):
    """The TLV of a forwarder: its number, state and virtual MAC address."""

    name = "GLBP forwarder"
    fields_desc = [
        ByteField("type", 2),
        ByteField("length", 20),
        ByteField("forwarder", 0),
        ByteEnumField("state", 32, GLBP_STATES),
        XByteField("unknown1", 0),
        ByteField("priority", 167),
        ByteField("weight", 100),
        StrFixedLenField("unknown2", bytes(7), 7),
        MACField("virtual_mac", "00:00:00:00:00:00"),
    ]


class GLBPOther(_GLBPTLV):
    """Any other TLV, the authentication for one."""

    name = "GLBP TLV"
    fields_desc = [
        ByteField("type", 3),
        FieldLenField("length", None, length_of="value", fmt="B", adjust=lambda packet, length: length + 2),
        StrLenField("value", b"", length_from=lambda packet: max(0, packet.length - 2)),
    ]


def _tlv(raw: bytes, **options: Any) -> Packet:
    kinds = {1: GLBPHello, 2: GLBPForwarder}
    return kinds.get(raw[0], GLBPOther)(raw, **options)


class GLBP(Packet):
    """Cisco's Gateway Load Balancing Protocol, UDP port 3222."""

    name = "GLBP"
    fields_desc = [
        ByteField("version", 1),
        ByteField("unknown1", 0),
        ShortField("group", 1),
        ShortField("unknown2", 0),
        MACField("owner", "00:00:00:00:00:00"),
        PacketListField("tlvs", [], _tlv),
    ]
