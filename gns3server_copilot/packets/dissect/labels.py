"""LDP, which hands out MPLS labels, and BFD."""

from __future__ import annotations

from gns3server_copilot.packets.dissect.base import (
    Context,
    Fields,
    dissects,
    ip,
    named,
    prefix4,
    prefix6,
    tlvs,
    u16,
    u32,
)

MESSAGES = {
    0x0001: "Notification",
    0x0100: "Hello",
    0x0200: "Initialization",
    0x0201: "KeepAlive",
    0x0300: "Address",
    0x0301: "AddressWithdraw",
    0x0400: "LabelMapping",
    0x0401: "LabelRequest",
    0x0402: "LabelWithdraw",
    0x0403: "LabelRelease",
    0x0404: "LabelAbort",
}
STATUS = {
    0: "success",
    1: "bad LDP identifier",
    2: "bad protocol version",
    8: "hold timer expired",
    9: "shutdown",
    16: "session rejected: no hello",
    17: "session rejected: advertisement mode",
    18: "session rejected: PDU length",
    19: "session rejected: label range",
    20: "keepalive timer expired",
    25: "session rejected: keepalive time",
}
FEC, ADDRESSES, LABEL, STATUS_TLV = 0x0100, 0x0101, 0x0200, 0x0300
HELLO_PARAMETERS, SESSION_PARAMETERS, TRANSPORT = 0x0400, 0x0500, 0x0401
#: Whether a router that does not know the type ignores it: not part of it.
TYPE_BITS = 0x3FFF

BFD_STATES = {0: "AdminDown", 1: "Down", 2: "Init", 3: "Up"}
BFD_DIAGNOSTICS = {
    0: "none",
    1: "control detection time expired",
    2: "echo function failed",
    3: "neighbour signalled session down",
    4: "forwarding plane reset",
    5: "path down",
    6: "concatenated path down",
    7: "administratively down",
    8: "reverse concatenated path down",
}


@dissects(
    "ldp",
    "message lsr_id message_id hello_hold targeted transport_address keepalive_time fec_prefixes label addresses "
    "status fatal src dst",
)
def ldp(data: bytes, context: Context) -> list[Fields]:
    """Each message of each PDU."""
    found = []
    at = 0
    while at + 10 <= len(data) and u16(data, at) == 1:
        end = at + 4 + u16(data, at + 2)
        lsr_id = ip(data, at + 4)
        for kind, value in tlvs(data[at + 10 : end], "!HH", type_mask=0x7FFF):
            message: Fields = {
                "message": named(MESSAGES, kind),
                "lsr_id": lsr_id,
                "src": context.source,
                "dst": context.destination,
            }
            if len(value) >= 4:
                message |= {"message_id": u32(value), **_parameters(value[4:])}
            found.append(message)
        at = end
    return found


def _parameters(raw: bytes) -> Fields:
    found: Fields = {}
    for kind, value in tlvs(raw, "!HH", type_mask=TYPE_BITS):
        if kind == HELLO_PARAMETERS and len(value) >= 4:
            found |= {"hello_hold": u16(value), "targeted": bool(value[2] & 0x80)}
        elif kind == TRANSPORT and len(value) == 4:
            found["transport_address"] = ip(value)
        elif kind == SESSION_PARAMETERS and len(value) >= 4:
            found["keepalive_time"] = u16(value, 2)
        elif kind == FEC:
            found["fec_prefixes"] = _prefixes(value)
        elif kind == LABEL and len(value) == 4:
            found["label"] = u32(value)
        elif kind == ADDRESSES:
            found["addresses"] = [ip(value, at) for at in range(2, len(value) - 3, 4)]
        elif kind == STATUS_TLV and len(value) >= 4:
            code = u32(value)
            found |= {"status": named(STATUS, code & 0x3FFFFFFF), "fatal": bool(code & 0x80000000)}
    return found


def _prefixes(value: bytes) -> list[str]:
    found = []
    at = 0
    while at + 4 <= len(value) and value[at] == 2:
        length = value[at + 3]
        size = (length + 7) // 8
        write = prefix4 if u16(value, at + 1) == 1 else prefix6
        found.append(write(value[at + 4 : at + 4 + size], length))
        at += 4 + size
    return found


@dissects(
    "bfd",
    "state diagnostic diagnostic_name version detect_multiplier my_discriminator your_discriminator min_transmit "
    "min_receive min_echo auth_type poll final demand src dst",
)
def bfd(data: bytes, context: Context) -> list[Fields]:
    """Control packets; intervals in microseconds."""
    flags = data[1]
    found: Fields = {
        "version": data[0] >> 5,
        "diagnostic": data[0] & 31,
        "diagnostic_name": named(BFD_DIAGNOSTICS, data[0] & 31),
        "state": BFD_STATES[flags >> 6],
        "poll": bool(flags & 0x20),
        "final": bool(flags & 0x10),
        "demand": bool(flags & 2),
        "detect_multiplier": data[2],
        "my_discriminator": u32(data, 4),
        "your_discriminator": u32(data, 8),
        "min_transmit": u32(data, 12),
        "min_receive": u32(data, 16),
        "min_echo": u32(data, 20),
        "src": context.source,
        "dst": context.destination,
    }
    if flags & 4 and len(data) > 24:
        found["auth_type"] = data[24]
    return [found]
