"""Telnet, SSH, HTTP, TLS."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gns3server_copilot.packets.dissect.base import Context, Fields, dissects, named, text, tlvs, u16

TELNET_COMMANDS = {
    240: "SE",
    241: "NOP",
    242: "Data Mark",
    243: "Break",
    244: "Interrupt",
    246: "Are You There",
    249: "Go Ahead",
    250: "SB",
    251: "WILL",
    252: "WONT",
    253: "DO",
    254: "DONT",
}
TELNET_OPTIONS = {
    1: "echo",
    3: "suppress go ahead",
    5: "status",
    24: "terminal type",
    31: "window size",
    34: "line mode",
}
IAC = 255
LONGEST_TEXT = 200
SSH_MESSAGES = {20: "key exchange init", 21: "new keys", 1: "disconnect"}
HTTP_REQUEST = re.compile(rb"([A-Z]{3,10}) (\S+) (HTTP/\d(?:\.\d)?)\r?\n")
HTTP_ANSWER = re.compile(rb"(HTTP/\d(?:\.\d)?) (\d{3})([^\r\n]*)")
TLS_TYPES = {20: "change cipher spec", 21: "alert", 22: "handshake", 23: "application data"}
TLS_VERSIONS = {0x0300: "SSL 3.0", 0x0301: "TLS 1.0", 0x0302: "TLS 1.1", 0x0303: "TLS 1.2", 0x0304: "TLS 1.3"}
HANDSHAKES = {
    1: "client hello",
    2: "server hello",
    4: "new session ticket",
    11: "certificate",
    12: "server key exchange",
    14: "server hello done",
    16: "client key exchange",
    20: "finished",
}
ALERTS = {
    0: "close notify",
    10: "unexpected message",
    20: "bad record MAC",
    40: "handshake failure",
    42: "bad certificate",
    45: "certificate expired",
    46: "certificate unknown",
    48: "unknown CA",
    70: "protocol version",
    80: "internal error",
    112: "unrecognised name",
}


@dissects("telnet", "commands options text src dst")
def telnet(data: bytes, context: Context) -> list[Fields]:
    """Commands with their options, and the text between them."""
    commands, options, plain = [], [], bytearray()
    at = 0
    while at < len(data):
        if data[at] != IAC:
            plain.append(data[at])
            at += 1
        elif at + 1 < len(data) and data[at + 1] in TELNET_COMMANDS:
            command = data[at + 1]
            commands.append(TELNET_COMMANDS[command])
            at += 2
            if command in (251, 252, 253, 254, 250) and at < len(data):
                options.append(f"{TELNET_COMMANDS[command]} {named(TELNET_OPTIONS, data[at])}")
                at += 1
            if command == 250:
                at = _end_of_option(data, at)
        else:
            at += 2
    found: Fields = {"src": context.source, "dst": context.destination}
    if commands:
        found |= {"commands": commands, "options": options}
    if plain:
        found["text"] = plain.decode("utf-8", "replace")[:LONGEST_TEXT]
    return [found]


def _end_of_option(data: bytes, at: int) -> int:
    end = data.find(b"\xff\xf0", at)
    return end if end >= 0 else len(data)


@dissects("ssh", "banner message src dst")
def ssh(data: bytes, context: Context) -> list[Fields]:
    """Banners, and the few messages before encryption."""
    found: Fields = {"src": context.source, "dst": context.destination}
    if data.startswith(b"SSH-"):
        found["banner"] = data.split(b"\n", 1)[0].rstrip(b"\r").decode("utf-8", "replace")[:LONGEST_TEXT]
    elif len(data) > 5 and 0 < int.from_bytes(data[:4]) <= 35000 and data[5] in SSH_MESSAGES:
        found["message"] = SSH_MESSAGES[data[5]]
    return [found]


@dissects("http", "method uri version host user_agent status reason content_type server src dst")
def http(data: bytes, context: Context) -> list[Fields]:
    """The first line and a few headers."""
    found: Fields = {"src": context.source, "dst": context.destination}
    request = HTTP_REQUEST.match(data)
    answer = HTTP_ANSWER.match(data)
    if request:
        found |= {"method": text(request[1]), "uri": text(request[2])[:LONGEST_TEXT], "version": text(request[3])}
    elif answer:
        found |= {"version": text(answer[1]), "status": int(answer[2]), "reason": text(answer[3]).strip()}
    for line in data.split(b"\r\n\r\n", 1)[0].split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        key = {b"host": "host", b"user-agent": "user_agent", b"content-type": "content_type", b"server": "server"}.get(
            name.strip().lower()
        )
        if key:
            found[key] = text(value.strip())[:LONGEST_TEXT]
    return [found]


@dissects("tls", "content_type version handshake server_name alert alert_level src dst")
def tls(data: bytes, context: Context) -> list[Fields]:
    """Each record of the segment; of handshakes the kind, and the name that the client asks for."""
    found = []
    for kind, version, body in _records(data):
        record: Fields = {
            "content_type": named(TLS_TYPES, kind),
            "version": named(TLS_VERSIONS, version),
            "src": context.source,
            "dst": context.destination,
        }
        if kind == 22 and body:
            record["handshake"] = named(HANDSHAKES, body[0])
            if body[0] == 1:
                record |= _server_name(body)
        elif kind == 21 and len(body) == 2:
            record |= {"alert_level": named({1: "warning", 2: "fatal"}, body[0]), "alert": named(ALERTS, body[1])}
        found.append(record)
    return found


def _records(data: bytes) -> Iterator[tuple[int, int, bytes]]:
    at = 0
    while at + 5 <= len(data) and data[at] in TLS_TYPES:
        length = u16(data, at + 3)
        yield data[at], u16(data, at + 1), data[at + 5 : at + 5 + length]
        at += 5 + length


def _server_name(hello: bytes) -> Fields:
    """The server name extension of a client hello that may be cut."""
    try:
        at = 4 + 2 + 32
        at += 1 + hello[at]
        at += 2 + u16(hello, at)
        at += 1 + hello[at]
        for kind, value in tlvs(hello[at + 2 :], "!HH"):
            if kind == 0 and len(value) > 5:
                return {"server_name": text(value[5 : 5 + u16(value, 3)])}
    except (IndexError, ValueError):
        pass
    return {}
