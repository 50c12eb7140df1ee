"""ESP, AH, and ISAKMP of both IKE versions."""

from __future__ import annotations

from gns3server_copilot.packets.dissect.base import Context, Fields, dissects, named, u16, u32

EXCHANGES = {
    1: "IKEv1-Base",
    2: "IKEv1-MainMode",
    3: "IKEv1-AuthenticationOnly",
    4: "IKEv1-Aggressive",
    5: "IKEv1-Informational",
    32: "IKEv1-QuickMode",
    34: "IKE_SA_INIT",
    35: "IKE_AUTH",
    36: "CREATE_CHILD_SA",
    37: "INFORMATIONAL",
}
NOTIFY_IKE1, NOTIFY_IKE2 = 11, 41
ENCRYPTED_IKE2 = (46, 53)
NOTIFY_NAMES = {
    1: "unsupported critical payload",
    7: "invalid syntax",
    14: "no proposal chosen",
    17: "invalid key exchange payload",
    18: "invalid identity",
    24: "authentication failed",
    34: "single pair required",
    35: "no additional SAs",
    36: "internal address failure",
    38: "traffic selectors unacceptable",
    16388: "NAT detection source",
    16389: "NAT detection destination",
    16390: "cookie",
    16404: "multiple authentication supported",
    16406: "redirect supported",
    16407: "redirect",
    16430: "fragmentation supported",
    16431: "signature hash algorithms",
}
#: Notifications below are errors.
FIRST_STATUS = 8192


@dissects("esp", "spi sequence src dst")
def esp(data: bytes, context: Context) -> list[Fields]:
    """What is not encrypted."""
    found: Fields = {"spi": u32(data), "src": context.source, "dst": context.destination}
    return [found | ({"sequence": u32(data, 4)} if len(data) >= 8 else {})]


@dissects("ah", "spi sequence src dst")
def ah(data: bytes, context: Context) -> list[Fields]:
    """The authentication header."""
    return [{"spi": u32(data, 4), "sequence": u32(data, 8), "src": context.source, "dst": context.destination}]


@dissects(
    "isakmp",
    "version ike exchange initiator_spi responder_spi message_id initiator response encrypted payloads notify_types "
    "notify_names error src dst",
)
def isakmp(data: bytes, context: Context) -> list[Fields]:
    """The header, and notifications that are not encrypted."""
    version, exchange, flags = data[17], data[18], data[19]
    second = version >> 4 == 2
    found: Fields = {
        "version": version,
        "ike": version >> 4,
        "exchange": named(EXCHANGES, exchange),
        "initiator_spi": data[:8].hex(),
        "responder_spi": data[8:16].hex(),
        "message_id": u32(data, 20),
        "encrypted": not second and bool(flags & 1),
        "src": context.source,
        "dst": context.destination,
    }
    if second:
        found |= {"initiator": bool(flags & 8), "response": bool(flags & 0x20)}
    kinds, notifications = [], []
    kind, at = data[16], 28
    while kind and at + 4 <= len(data) and not found["encrypted"]:
        kinds.append(kind)
        length = u16(data, at + 2)
        if kind == (NOTIFY_IKE2 if second else NOTIFY_IKE1) and length >= 8:
            # version 1 has four bytes of domain of interpretation before
            notifications.append(u16(data, at + (6 if second else 10)))
        if length < 4 or (second and kind in ENCRYPTED_IKE2):
            found["encrypted"] = second and kind in ENCRYPTED_IKE2
            break
        kind, at = data[at], at + length
    found["payloads"] = kinds
    if notifications:
        found |= {"notify_types": notifications, "notify_names": [named(NOTIFY_NAMES, one) for one in notifications]}
        errors = [named(NOTIFY_NAMES, one) for one in notifications if one < FIRST_STATUS]
        if errors:
            found["error"] = errors[0]
    return [found]
