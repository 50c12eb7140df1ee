"""What a node or a template says about the kind of device it is."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from gns3server_copilot.gns3.text import printable

USAGE_LINE = re.compile(r"^\s*device_type\s*:\s*([\w.-]+)\s*$", re.MULTILINE | re.IGNORECASE)
TAG_PREFIX = "device_type:"


def declared_device_type(raw: Mapping[str, Any]) -> str:
    """Give the declared type, such as `cisco_ios_telnet`; `vpcs` for VPCS; "" when nothing is declared.

    `raw` is a node or template as gns3-server answers it. 3.0.6 drops tags but keeps unknown properties and the usage
    text, so an admin can declare the type there: `device_type: arista_eos`.
    """
    properties = raw.get("properties")
    if not isinstance(properties, Mapping):
        properties = {}
    if declared := printable(properties.get("device_type") or raw.get("device_type")):
        return declared
    usage = properties.get("usage") or raw.get("usage")
    if isinstance(usage, str) and (line := USAGE_LINE.search(usage)):
        return line[1]
    for tag in _tags(raw) + _tags(properties):
        if tag.startswith(TAG_PREFIX):
            return tag.removeprefix(TAG_PREFIX).strip()
    return "vpcs" if "vpcs" in (raw.get("node_type"), raw.get("template_type")) else ""


def _tags(raw: Mapping[str, Any]) -> list[str]:
    tags = raw.get("tags")
    return [printable(tag) for tag in tags] if isinstance(tags, list) else []
