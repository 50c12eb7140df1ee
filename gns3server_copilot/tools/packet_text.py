"""What packets say is whoever sent them's to choose: made printable and short before a model reads it."""

from __future__ import annotations

from typing import Any

from gns3server_copilot.gns3.text import clipped, printable
from gns3server_copilot.redaction.placeholders import placeholder

MAX_TEXT = 240
MAX_LIST = 40

#: Fields and facts of a protocol that are secrets, or hold what people type as one.
SECRETS = {
    "hsrp": ("auth",),
    "rip": ("password",),
    "snmp": ("community", "communities"),
    "telnet": ("text",),
}


def without_secrets(answer: dict[str, Any]) -> dict[str, Any]:
    """Give the answer about a protocol with placeholders for its secrets; equal ones have equal placeholders."""
    names = SECRETS.get(str(answer.get("protocol")), ())
    if not names:
        return answer
    facts = answer.get("facts", {})
    packets = answer.get("packets", [])
    return answer | {"facts": _hidden(facts, names), "packets": [_hidden(packet, names) for packet in packets]}


def _hidden(fields: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: _placeholders(value) if name in names else value for name, value in fields.items()}


def _placeholders(value: Any) -> Any:
    return [placeholder(str(one)) for one in value] if isinstance(value, list) else placeholder(str(value))


def tidy(value: Any) -> Any:
    """Give plain data with every text on one line, without control characters, and with long texts and lists cut."""
    if isinstance(value, str):
        return clipped(printable(value), MAX_TEXT)
    if isinstance(value, dict):
        return {clipped(printable(key), MAX_TEXT): tidy(member) for key, member in value.items()}
    if isinstance(value, list | tuple):
        members = [tidy(member) for member in value]
        return members if len(members) <= MAX_LIST else [*members[:MAX_LIST], f"… {len(members) - MAX_LIST} more"]
    return value
