"""First hop redundancy: HSRP, VRRP, GLBP."""

from __future__ import annotations

from gns3server_copilot.packets.dissect.base import Context, Fields, dissects, ip, ip6, named, text, u16
from gns3server_copilot.packets.layers import redundancy as layers

HSRP1_STATES = {0: "Initial", 1: "Learn", 2: "Listen", 4: "Speak", 8: "Standby", 16: "Active"}
HSRP1_OPCODES = {0: "Hello", 1: "Coup", 2: "Resign", 3: "Advertise"}


@dissects("hsrp", "version opcode state group priority hello hold virtual_ip auth auth_type identifier src")
def hsrp(data: bytes, context: Context) -> list[Fields]:
    """Both versions; timers of version 1 are in seconds, of version 2 in milliseconds."""
    found: Fields = {"src": context.source}
    if data[0] == 0 and data[1] == 3:
        # version 1's advertisement of its interfaces, which has no group
        return [found | {"version": 1, "opcode": "Advertise"}]
    if data[0] == 0:
        return [
            found
            | {
                "version": 1,
                "opcode": named(HSRP1_OPCODES, data[1]),
                "state": named(HSRP1_STATES, data[2]),
                "hello": data[3],
                "hold": data[4],
                "priority": data[5],
                "group": data[6],
                "auth": text(data[8:16]),
                "virtual_ip": ip(data, 16),
            }
        ]
    found["version"] = 2
    at = 0
    while at + 2 <= len(data):
        kind, length = data[at], data[at + 1]
        if kind == 1 and length >= 40:
            found |= _group_state(data[at : at + 42])
        elif kind == 3:
            found |= {"auth_type": "text", "auth": text(data[at + 2 : at + 2 + length])}
        elif kind == 4:
            found["auth_type"] = "MD5"
        at += 2 + length
    return [found]


def _group_state(raw: bytes) -> Fields:
    group = layers.HSRPv2Group(raw)
    return {
        "opcode": named(layers.HSRP_OPCODES, group.opcode),
        "state": named(layers.HSRP_STATES, group.state),
        "group": group.group,
        "identifier": group.identifier,
        "priority": group.priority,
        "hello": group.hello,
        "hold": group.hold,
        "virtual_ip": ip(group.virtual_ip) if group.ip_version == 4 else ip6(group.virtual_ip),
    }


@dissects("vrrp", "version vrid priority virtual_ips adver_int auth_type master src resigning")
def vrrp(data: bytes, context: Context) -> list[Fields]:
    """Versions 2 and 3; the interval is in seconds in version 2, in hundredths of seconds in version 3."""
    version = data[0] >> 4
    size = 16 if ":" in context.source else 4
    read = ip6 if size == 16 else ip
    found: Fields = {
        "version": version,
        "vrid": data[1],
        "priority": data[2],
        "adver_int": u16(data, 4) & 0xFFF if version == 3 else data[5],
        "virtual_ips": [read(data, 8 + size * number) for number in range(data[3])],
        "src": context.source,
        "master": context.source,
        "resigning": data[2] == 0,
    }
    if version == 2:
        found["auth_type"] = data[4]
    return [found]


@dissects(
    "glbp",
    "group owner tlv_types gateway_state priority hello hold virtual_ip forwarders forwarder_states weights "
    "virtual_macs src gateway_state_code",
)
def glbp(data: bytes, context: Context) -> list[Fields]:
    """The gateway's state, and its forwarders. Timers in milliseconds."""
    packet = layers.GLBP(data)
    found: Fields = {
        "group": packet.group,
        "owner": packet.owner,
        "tlv_types": [tlv.type for tlv in packet.tlvs],
        "src": context.source,
    }
    forwarders = [tlv for tlv in packet.tlvs if isinstance(tlv, layers.GLBPForwarder)]
    for tlv in packet.tlvs:
        if isinstance(tlv, layers.GLBPHello):
            found |= {
                "gateway_state": named(layers.GLBP_STATES, tlv.state),
                "gateway_state_code": tlv.state,
                "priority": tlv.priority,
                "hello": tlv.hello,
                "hold": tlv.hold,
                "virtual_ip": tlv.virtual_ip,
            }
    if forwarders:
        found |= {
            "forwarders": [one.forwarder for one in forwarders],
            "forwarder_states": [named(layers.GLBP_STATES, one.state) for one in forwarders],
            "weights": [one.weight for one in forwarders],
            "virtual_macs": [one.virtual_mac for one in forwarders],
        }
    return [found]
