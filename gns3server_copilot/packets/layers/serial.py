"""Link types 104 and 107: Cisco's HDLC with SLARP, and Frame Relay, which scapy does not know as link types."""

from __future__ import annotations

from scapy.config import conf
from scapy.fields import (
    BitEnumField,
    BitField,
    ByteField,
    ConditionalField,
    IntEnumField,
    IntField,
    IPField,
    XShortField,
)
from scapy.layers.inet import IP
from scapy.layers.inet6 import IPv6
from scapy.packet import Packet, bind_layers

from gns3server_copilot.packets.link_types import CISCO_HDLC, FRAME_RELAY

SLARP_TYPES = {0: "Request", 1: "Reply", 2: "Keepalive"}


class CiscoHDLC(Packet):
    """Cisco HDLC: address 0x0f (unicast) or 0x8f (multicast), control 0, an EtherType."""

    name = "Cisco HDLC"
    fields_desc = [ByteField("address", 0x0F), ByteField("control", 0), XShortField("proto", 0x0800)]


class SLARP(Packet):
    """Cisco's keepalives and address requests on HDLC."""

    name = "SLARP"
    fields_desc = [
        IntEnumField("type", 2, SLARP_TYPES),
        ConditionalField(IPField("address", "0.0.0.0"), lambda packet: packet.type != 2),
        ConditionalField(IPField("mask", "0.0.0.0"), lambda packet: packet.type != 2),
        ConditionalField(IntField("mysequence", 0), lambda packet: packet.type == 2),
        ConditionalField(IntField("yoursequence", 0), lambda packet: packet.type == 2),
        XShortField("reliability", 0xFFFF),
    ]


class FrameRelay(Packet):
    """Frame Relay with a two-byte address and Cisco's EtherType (Q.922, Cisco encapsulation)."""

    name = "Frame Relay"
    fields_desc = [
        BitField("dlci_high", 0, 6),
        BitField("command_response", 0, 1),
        BitEnumField("extended_high", 0, 1, {0: "more", 1: "last"}),
        BitField("dlci_low", 0, 4),
        BitField("fecn", 0, 1),
        BitField("becn", 0, 1),
        BitField("discard_eligible", 0, 1),
        BitEnumField("extended_low", 1, 1, {0: "more", 1: "last"}),
        XShortField("proto", 0x0800),
    ]

    @property
    def dlci(self) -> int:
        """The circuit's number."""
        return int(self.dlci_high << 4 | self.dlci_low)


for carrier in (CiscoHDLC, FrameRelay):
    bind_layers(carrier, IP, proto=0x0800)
    bind_layers(carrier, IPv6, proto=0x86DD)
bind_layers(CiscoHDLC, SLARP, proto=0x8035)
conf.l2types.register(CISCO_HDLC, CiscoHDLC)
conf.l2types.register(FRAME_RELAY, FrameRelay)
