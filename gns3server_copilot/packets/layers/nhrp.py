"""NHRP (RFC 2332), which DMVPN uses."""

from __future__ import annotations

from scapy.fields import (
    ByteEnumField,
    ByteField,
    FieldLenField,
    IntField,
    ShortField,
    StrFixedLenField,
    StrLenField,
    XShortField,
)
from scapy.packet import Packet

OPERATIONS = {
    1: "Resolution-Request",
    2: "Resolution-Reply",
    3: "Registration-Request",
    4: "Registration-Reply",
    5: "Purge-Request",
    6: "Purge-Reply",
    7: "Error-Indication",
}


class NHRP(Packet):
    """The fixed part, and the common header of requests and replies."""

    name = "NHRP"
    fields_desc = [
        ShortField("address_family", 1),
        XShortField("protocol_type", 0x0800),
        StrFixedLenField("snap", bytes(5), 5),
        ByteField("hop_count", 255),
        ShortField("packet_size", 0),
        XShortField("checksum", 0),
        ShortField("extension_offset", 0),
        ByteField("version", 1),
        ByteEnumField("operation", 1, OPERATIONS),
        FieldLenField("source_nbma_length", None, length_of="source_nbma", fmt="B"),
        ByteField("source_subaddress_length", 0),
        FieldLenField("source_length", None, length_of="source", fmt="B"),
        FieldLenField("destination_length", None, length_of="destination", fmt="B"),
        XShortField("flags", 0),
        IntField("request_id", 0),
        StrLenField("source_nbma", b"", length_from=lambda packet: packet.source_nbma_length & 0x3F),
        StrLenField("source", b"", length_from=lambda packet: packet.source_length),
        StrLenField("destination", b"", length_from=lambda packet: packet.destination_length),
    ]
