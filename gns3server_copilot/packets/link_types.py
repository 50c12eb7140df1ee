"""Names of link types, as LINKTYPE numbers of capture files (the list of the tcpdump project)."""

from __future__ import annotations

NULL = 0
ETHERNET = 1
SLIP = 8
PPP = 9
PPP_HDLC = 50
PPPOE = 51
RAW = 101
CISCO_HDLC = 104
FRAME_RELAY = 107
LOOP = 108
LINUX_SLL = 113
JUNIPER_ETHER = 178
RAW_IPV4 = 228
RAW_IPV6 = 229
LINUX_SLL2 = 276

#: Numbers that some systems write for raw IP.
RAW_NUMBERS = (12, 14, RAW)

NAMES = {
    NULL: "BSD loopback",
    ETHERNET: "Ethernet",
    3: "AX.25",
    6: "Token Ring",
    7: "ARCNET",
    SLIP: "SLIP",
    PPP: "PPP",
    10: "FDDI",
    11: "ATM RFC 1483",
    12: "raw IP",
    14: "raw IP",
    PPP_HDLC: "PPP in HDLC-like framing",
    PPPOE: "PPPoE",
    100: "ATM RFC 1483",
    RAW: "raw IP",
    CISCO_HDLC: "Cisco HDLC",
    105: "IEEE 802.11",
    FRAME_RELAY: "Frame Relay",
    LOOP: "OpenBSD loopback",
    LINUX_SLL: "Linux cooked capture v1",
    114: "LocalTalk",
    117: "OpenBSD pflog",
    119: "IEEE 802.11 with Prism header",
    123: "SunATM",
    127: "IEEE 802.11 with radiotap header",
    129: "ARCNET Linux",
    143: "DOCSIS",
    147: "private use",
    JUNIPER_ETHER: "Juniper Ethernet",
    182: "Juniper Multilink Frame Relay",
    187: "Bluetooth HCI",
    189: "USB Linux",
    192: "PPI",
    195: "IEEE 802.15.4",
    220: "USB Linux, padded",
    227: "SocketCAN",
    RAW_IPV4: "raw IPv4",
    RAW_IPV6: "raw IPv6",
    231: "D-Bus",
    239: "Linux netfilter log",
    249: "USBPcap",
    253: "Linux netlink",
    LINUX_SLL2: "Linux cooked capture v2",
}


def link_type_name(number: int) -> str:
    """Give the link type's name, or its number for one that has none here."""
    return NAMES.get(number, f"link type {number}")
