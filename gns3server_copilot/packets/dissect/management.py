"""NTP, SNMP, syslog, TFTP."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gns3server_copilot.packets.dissect.base import Context, Fields, dissects, named, text, u16, u32

NTP_MODES = {
    0: "reserved",
    1: "sym-active",
    2: "sym-passive",
    3: "client",
    4: "server",
    5: "broadcast",
    6: "control",
    7: "private",
}
SNMP_VERSIONS = {0: "v1", 1: "v2c", 3: "v3"}
PDU_TYPES = {
    0xA0: "get-request",
    0xA1: "get-next",
    0xA2: "response",
    0xA3: "set",
    0xA4: "trap",
    0xA5: "get-bulk",
    0xA6: "inform",
    0xA7: "trap-v2",
    0xA8: "report",
}
SNMP_ERRORS = {0: "noError", 1: "tooBig", 2: "noSuchName", 3: "badValue", 4: "readOnly", 5: "genErr", 6: "noAccess"}
SEQUENCE, INTEGER, OCTETS, OBJECT_ID = 0x30, 0x02, 0x04, 0x06
TFTP_OPCODES = {1: "RRQ", 2: "WRQ", 3: "DATA", 4: "ACK", 5: "ERROR", 6: "OACK"}
PRIORITY = re.compile(rb"<(\d{1,3})>")


@dissects("ntp", "version mode stratum leap reference_id poll root_delay synchronized src dst")
def ntp(data: bytes, context: Context) -> list[Fields]:
    """The header of time packets; of control and private ones only version and mode."""
    mode = data[0] & 7
    found: Fields = {
        "version": data[0] >> 3 & 7,
        "mode": named(NTP_MODES, mode),
        "src": context.source,
        "dst": context.destination,
    }
    if mode in (1, 2, 3, 4, 5):
        found |= {
            "leap": data[0] >> 6,
            "stratum": data[1],
            "poll": data[2],
            "reference_id": text(data[12:16]) if data[1] < 2 else ".".join(map(str, data[12:16])),
            "root_delay": round(u32(data, 4) / 65536, 6),
            "synchronized": data[0] >> 6 != 3 and 0 < data[1] < 16,
        }
    return [found]


@dissects("snmp", "version community pdu_type request_id error oids user engine_id security src dst")
def snmp(data: bytes, context: Context) -> list[Fields]:
    """Versions 1 and 2c, and of version 3 what is not encrypted."""
    _, whole, _ = _ber(data, 0)
    parts = list(_each(whole))
    version = int.from_bytes(parts[0][1])
    found: Fields = {
        "version": named(SNMP_VERSIONS, version),
        "src": context.source,
        "dst": context.destination,
    }
    if version == 3:
        found |= _version3(parts)
        scoped = parts[3]
        if scoped[0] == SEQUENCE:
            pdus = [part for part in _each(scoped[1]) if part[0] in PDU_TYPES]
            if pdus:
                found |= _pdu(*pdus[0])
    else:
        found["community"] = text(parts[1][1])
        found |= _pdu(*parts[2])
    return [found]


def _version3(parts: list[tuple[int, bytes]]) -> Fields:
    header = list(_each(parts[1][1]))
    flags = header[2][1][0]
    _, parameters, _ = _ber(parts[2][1], 0)
    security = list(_each(parameters))
    found: Fields = {"security": ("auth" if flags & 1 else "noAuth") + ("Priv" if flags & 2 else "NoPriv")}
    if len(security) > 3:
        found["engine_id"] = security[0][1].hex()
        user = text(security[3][1])
        if user:
            found["user"] = user
    return found


def _pdu(kind: int, value: bytes) -> Fields:
    found: Fields = {"pdu_type": named(PDU_TYPES, kind)}
    parts = list(_each(value))
    if kind == 0xA4:
        found["oids"] = [_object_id(parts[0][1])]
        bindings = parts[-1]
    else:
        found |= {"request_id": int.from_bytes(parts[0][1], signed=True)}
        if kind != 0xA5:
            found["error"] = named(SNMP_ERRORS, int.from_bytes(parts[1][1]))
        bindings = parts[3]
    for _, binding in _each(bindings[1]):
        pair = list(_each(binding))
        if pair and pair[0][0] == OBJECT_ID:
            found.setdefault("oids", []).append(_object_id(pair[0][1]))
    return found


def _ber(data: bytes, at: int) -> tuple[int, bytes, int]:
    """Read a tag, its value (what is there of it) and where it ends."""
    tag, length = data[at], data[at + 1]
    at += 2
    if length & 0x80:
        size = length & 0x7F
        length = int.from_bytes(data[at : at + size])
        at += size
    return tag, data[at : at + length], at + length


def _each(value: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + 1 < len(value):
        tag, inner, at = _ber(value, at)
        yield tag, inner


def _object_id(raw: bytes) -> str:
    numbers = [raw[0] // 40, raw[0] % 40]
    current = 0
    for byte in raw[1:]:
        current = current << 7 | byte & 0x7F
        if not byte & 0x80:
            numbers.append(current)
            current = 0
    return ".".join(map(str, numbers))


@dissects("syslog", "facility severity message src dst")
def syslog(data: bytes, context: Context) -> list[Fields]:
    """Facility and severity, where there are any, and the text."""
    found: Fields = {"src": context.source, "dst": context.destination}
    priority = PRIORITY.match(data)
    if priority:
        number = int(priority[1])
        found |= {"facility": number >> 3, "severity": number & 7}
        data = data[priority.end() :]
    return [found | {"message": text(data).strip()}]


@dissects("tftp", "opcode file mode block error error_code size src dst")
def tftp(data: bytes, context: Context) -> list[Fields]:
    """Requests, blocks, errors."""
    kind = u16(data)
    found: Fields = {
        "opcode": named(TFTP_OPCODES, kind),
        "src": context.source,
        "dst": context.destination,
    }
    if kind in (1, 2):
        words = data[2:].split(b"\0")
        found |= {"file": text(words[0]), "mode": text(words[1]) if len(words) > 1 else ""}
    elif kind in (3, 4):
        found["block"] = u16(data, 2)
        if kind == 3:
            found["size"] = len(data) - 4
    elif kind == 5:
        found |= {"error_code": u16(data, 2), "error": text(data[4:])}
    return [found]
