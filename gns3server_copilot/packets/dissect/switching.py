"""Spanning tree, link aggregation, VTP, DTP, UDLD."""

from __future__ import annotations

from gns3server_copilot.packets.dissect.base import Context, Fields, dissects, ip, mac, named, text, tlvs, u16, u32
from gns3server_copilot.packets.layers import switching as layers

LACP_BITS = "EFDCSGSA"
VTP_CODES = {1: "summary", 2: "subset", 3: "request", 4: "join"}
DTP_STATUS = {1: "on", 2: "off", 3: "desirable", 4: "auto"}
DTP_TYPES = {0: "negotiated", 1: "native", 2: "ISL", 5: "802.1Q"}
PVST_VLAN_TLV = 0


@dissects(
    "stp",
    "version bpdu_type flags topology_change tc_ack proposal agreement learning forwarding port_role root "
    "root_priority root_ext root_cost bridge bridge_priority bridge_ext port message_age max_age hello forward_delay "
    "pvst_vlan region msti_count src",
)
def stp(data: bytes, context: Context) -> list[Fields]:
    """BPDUs of all versions, Cisco's per VLAN ones too. Times in seconds."""
    packet = layers.BPDU(data)
    found: Fields = {
        "version": named(layers.VERSIONS, packet.version),
        "bpdu_type": named(layers.TYPES, packet.type),
        "src": context.source,
    }
    if packet.type == 0x80:
        return [found]
    flags = packet.flags
    found |= {
        "flags": flags,
        "topology_change": bool(flags & layers.TOPOLOGY_CHANGE),
        "tc_ack": bool(flags & layers.ACKNOWLEDGED),
        "root": packet.root,
        "root_priority": packet.root_priority << 12,
        "root_ext": packet.root_extension,
        "root_cost": packet.root_cost,
        "bridge": packet.bridge,
        "bridge_priority": packet.bridge_priority << 12,
        "bridge_ext": packet.bridge_extension,
        "port": packet.port,
        "message_age": _seconds(packet.message_age),
        "max_age": _seconds(packet.max_age),
        "hello": _seconds(packet.hello),
        "forward_delay": _seconds(packet.forward_delay),
    }
    if packet.version >= 2:
        found |= {
            "proposal": bool(flags & layers.PROPOSAL),
            "agreement": bool(flags & layers.AGREEMENT),
            "learning": bool(flags & layers.LEARNING),
            "forwarding": bool(flags & layers.FORWARDING),
            "port_role": layers.ROLES[flags >> 2 & 3],
        }
    carrier = context.below("pvst")
    if carrier is not None:
        found |= _pvst_vlan(data[36 if packet.version >= 2 else 35 :])
    elif packet.version == 3 and len(data) >= 102:
        # region name, revision, digest; then the common tree, then 16 bytes for each instance
        found |= {"region": text(data[39:71]), "msti_count": max(0, (u16(data, 36) - 64) // 16)}
    return [found]


def _seconds(raw: int) -> float:
    """A time in 1/256 seconds, as an integer where it is one."""
    return raw // 256 if raw % 256 == 0 else round(raw / 256, 2)


def _pvst_vlan(raw: bytes) -> Fields:
    for kind, value in tlvs(raw, "!HH"):
        if kind == PVST_VLAN_TLV and len(value) >= 2:
            return {"pvst_vlan": u16(value)}
    # some switches leave a padding byte before the TLV
    return {"pvst_vlan": u16(raw, 5)} if raw[1:5] == b"\0\0\0\x02" and len(raw) >= 7 else {}


@dissects(
    "lacp",
    "actor_system actor_priority actor_key actor_port actor_port_priority actor_state actor_flags partner_system "
    "partner_priority partner_key partner_port partner_state partner_flags src",
)
def lacp(data: bytes, context: Context) -> list[Fields]:
    """Both partners; states as eight letters, `*` for a bit that is not set."""
    found: Fields = {"src": context.source}
    for name, at in (("actor", 4), ("partner", 24)):
        state = data[at + 14]
        found |= {
            f"{name}_priority": u16(data, at),
            f"{name}_system": mac(data, at + 2),
            f"{name}_key": u16(data, at + 8),
            f"{name}_port": u16(data, at + 12),
            f"{name}_state": "".join(letter if state & 0x80 >> bit else "*" for bit, letter in enumerate(LACP_BITS)),
            f"{name}_flags": state,
        }
    found["actor_port_priority"] = u16(data, 14)
    return [found]


@dissects("vtp", "version code domain revision updater followers src")
def vtp(data: bytes, context: Context) -> list[Fields]:
    """Advertisements."""
    found: Fields = {
        "version": data[0],
        "code": named(VTP_CODES, data[1]),
        "domain": text(data[4 : 4 + min(data[3], 32)]),
        "src": context.source,
    }
    if data[1] in (1, 2):
        found["revision"] = u32(data, 36)
    if data[1] == 1:
        found |= {"updater": ip(data, 40), "followers": data[2]}
    return [found]


@dissects("dtp", "domain status operating_status trunk_type operating_type sender_id src")
def dtp(data: bytes, context: Context) -> list[Fields]:
    """How a port would have its trunk, and how it has it."""
    found: Fields = {"src": context.source}
    for kind, value in tlvs(data[1:], "!HH", inclusive=True):
        if kind == 1:
            found["domain"] = text(value)
        elif kind == 2 and value:
            found |= {"status": named(DTP_STATUS, value[0] & 7), "operating_status": value[0] >> 7}
        elif kind == 3 and value:
            found |= {"trunk_type": named(DTP_TYPES, value[0] & 7), "operating_type": value[0] >> 5}
        elif kind == 4 and len(value) == 6:
            found["sender_id"] = mac(value)
    return [found]


@dissects("udld", "opcode device_id port_id echo device_name sequence src")
def udld(data: bytes, context: Context) -> list[Fields]:
    """Probes and echoes."""
    packet = layers.UDLD(data)
    found: Fields = {"opcode": packet.opcode, "src": context.source}
    for kind, value in tlvs(data[4:], "!HH", inclusive=True):
        name = {1: "device_id", 2: "port_id", 6: "device_name"}.get(kind)
        if name:
            found[name] = text(value)
        elif kind == 3:
            found["echo"] = _echoes(value)
        elif kind == 7 and len(value) == 4:
            found["sequence"] = u32(value)
    return [found]


def _echoes(value: bytes) -> list[str]:
    """Give device and port of each neighbour that the sender hears."""
    found = []
    at = 4
    for _ in range(u32(value)):
        words = []
        for _ in range(2):
            length = u16(value, at)
            words.append(text(value[at + 2 : at + 2 + length]))
            at += 2 + length
        found.append(" ".join(words))
    return found
