"""RADIUS, TACACS+, EAP."""

from __future__ import annotations

from gns3server_copilot.packets.dissect.base import Context, Fields, dissects, ip, named, text, tlvs, u16, u32

RADIUS_CODES = {
    1: "Access-Request",
    2: "Access-Accept",
    3: "Access-Reject",
    4: "Accounting-Request",
    5: "Accounting-Response",
    11: "Access-Challenge",
    12: "Status-Server",
    40: "Disconnect-Request",
    41: "Disconnect-ACK",
    42: "Disconnect-NAK",
    43: "CoA-Request",
    44: "CoA-ACK",
    45: "CoA-NAK",
}
RADIUS_TEXTS = {1: "user", 18: "message", 30: "called_station", 31: "calling_station", 32: "nas_identifier"}
TACACS_TYPES = {1: "Authentication", 2: "Authorization", 3: "Accounting"}
EAP_CODES = {1: "Request", 2: "Response", 3: "Success", 4: "Failure"}
EAP_TYPES = {
    1: "Identity",
    2: "Notification",
    3: "Nak",
    4: "MD5-Challenge",
    13: "TLS",
    21: "TTLS",
    25: "PEAP",
    26: "MSCHAPv2",
    43: "FAST",
}
EAPOL_TYPES = {0: "EAP", 1: "Start", 2: "Logoff", 3: "Key"}


@dissects(
    "radius",
    "code code_number id user nas_ip nas_identifier called_station calling_station message framed_ip src dst",
)
def radius(data: bytes, context: Context) -> list[Fields]:
    """Code and the attributes that say who; passwords are not among them."""
    found: Fields = {
        "code": named(RADIUS_CODES, data[0]),
        "code_number": data[0],
        "id": data[1],
        "src": context.source,
        "dst": context.destination,
    }
    for kind, value in tlvs(data[20 : u16(data, 2)], inclusive=True):
        if kind in RADIUS_TEXTS:
            found[RADIUS_TEXTS[kind]] = text(value)
        elif kind in (4, 8) and len(value) == 4:
            found["nas_ip" if kind == 4 else "framed_ip"] = ip(value)
    return [found]


@dissects("tacacs", "type version sequence encrypted session_id length src dst")
def tacacs(data: bytes, context: Context) -> list[Fields]:
    """The header of TACACS+; the rest is mostly encrypted."""
    return [
        {
            "type": named(TACACS_TYPES, data[1]),
            "version": f"{data[0] >> 4}.{data[0] & 15}",
            "sequence": data[2],
            "encrypted": not data[3] & 1,
            "session_id": u32(data, 4),
            "length": u32(data, 8),
            "src": context.source,
            "dst": context.destination,
        }
    ]


@dissects("eap", "code id type type_name identity src dst")
def eap(data: bytes, context: Context) -> list[Fields]:
    """Code, method, and the identity that a client gives."""
    found: Fields = {
        "code": named(EAP_CODES, data[0]),
        "id": data[1],
        "src": context.source,
        "dst": context.destination,
    }
    if data[0] in (1, 2) and len(data) > 4:
        found |= {"type": data[4], "type_name": named(EAP_TYPES, data[4])}
        if data[0] == 2 and data[4] == 1:
            found["identity"] = text(data[5 : u16(data, 2)])
    return [found]


@dissects("eapol", "version type type_name src")
def eapol(data: bytes, context: Context) -> list[Fields]:
    """EAP over LAN."""
    return [
        {"version": data[0], "type": data[1], "type_name": named(EAPOL_TYPES, data[1]), "src": context.source},
    ]
