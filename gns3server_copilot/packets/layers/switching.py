"""BPDUs of all versions (scapy knows the first), and UDLD."""

from __future__ import annotations

from scapy.fields import (
    BitField,
    ByteEnumField,
    ByteField,
    ConditionalField,
    FlagsField,
    IntField,
    MACField,
    ShortField,
    XByteField,
    XShortField,
)
from scapy.packet import Packet

VERSIONS = {0: "STP", 2: "RSTP", 3: "MSTP", 4: "SPB"}
TYPES = {0x00: "Config", 0x80: "TCN", 0x02: "RST"}
ROLES = {0: "unknown", 1: "alternate or backup", 2: "root", 3: "designated"}
TOPOLOGY_CHANGE, PROPOSAL, LEARNING, FORWARDING, AGREEMENT, ACKNOWLEDGED = 0x01, 0x02, 0x10, 0x20, 0x40, 0x80


def _has_body(packet: Packet) -> bool:
    return bool(packet.type != 0x80)


class BPDU(Packet):
    """Configuration, topology change and rapid spanning tree BPDUs; times are in 1/256 seconds."""

    name = "BPDU"
    fields_desc = [
        XShortField("protocol", 0),
        ByteEnumField("version", 2, VERSIONS),
        ByteEnumField("type", 2, TYPES),
        ConditionalField(XByteField("flags", 0), _has_body),
        ConditionalField(BitField("root_priority", 8, 4), _has_body),
        ConditionalField(BitField("root_extension", 0, 12), _has_body),
        ConditionalField(MACField("root", "00:00:00:00:00:00"), _has_body),
        ConditionalField(IntField("root_cost", 0), _has_body),
        ConditionalField(BitField("bridge_priority", 8, 4), _has_body),
        ConditionalField(BitField("bridge_extension", 0, 12), _has_body),
        ConditionalField(MACField("bridge", "00:00:00:00:00:00"), _has_body),
        ConditionalField(XShortField("port", 0), _has_body),
        ConditionalField(ShortField("message_age", 0), _has_body),
        ConditionalField(ShortField("max_age", 20 * 256), _has_body),
        ConditionalField(ShortField("hello", 2 * 256), _has_body),
        ConditionalField(ShortField("forward_delay", 15 * 256), _has_body),
        ConditionalField(ByteField("version1_length", 0), lambda packet: packet.version >= 2 and _has_body(packet)),
    ]


class UDLD(Packet):
    """Cisco's Unidirectional Link Detection; TLVs follow."""

    name = "UDLD"
    fields_desc = [
        BitField("version", 1, 3),
        BitField("opcode", 1, 5),
        FlagsField("flags", 0, 8, ["recommended_timeout", "resynch"]),
        XShortField("checksum", 0),
    ]
