"""Which names gns3-server takes for a node."""

from __future__ import annotations

import re

from gns3server_copilot.errors import ToolError
from gns3server_copilot.gns3.text import clipped, printable

MAX_NAME = 253
#: A host name of RFC 1123: labels of letters, digits and hyphens; the last one not only digits.
HOST_NAME = re.compile(r"(?!-)[a-z0-9-]{1,63}(?<!-)(\.(?!-)[a-z0-9-]{1,63}(?<!-))*", re.IGNORECASE)
IOS_NAME = re.compile(r"[a-z]([a-z0-9-]{0,61}[a-z0-9])?", re.IGNORECASE)


def node_name(wanted: str, node_type: str) -> str:
    """Give the name as gns3-server will keep it: without spaces.

    Raises ToolError when a node of `node_type` cannot have it, so that this is said before the node exists.
    """
    name = wanted.replace(" ", "")
    shown = clipped(printable(name), 60)
    if not name.isprintable():
        raise ToolError(f"{shown or 'The name'} holds control or invisible characters, which no node name can have.")
    if not 1 <= len(name) <= MAX_NAME:
        raise ToolError(f"A node name has 1 to {MAX_NAME} characters, not {len(name)}.")
    if "{" in name or "}" in name:
        raise ToolError("A node name cannot hold braces: GNS3 takes them for a number to fill in.")
    if node_type in ("qemu", "docker") and not _is_host_name(name):
        raise ToolError(
            f"{shown} cannot be the name of a {node_type} node: only letters, digits, hyphens and dots, no hyphen at "
            "either end, and not digits alone."
        )
    if node_type in ("dynamips", "iou") and not IOS_NAME.fullmatch(name):
        raise ToolError(
            f"{shown} cannot be the name of a {node_type} node: a letter first, then letters, digits and hyphens, at "
            "most 63, no hyphen at the end."
        )
    return name


def _is_host_name(name: str) -> bool:
    name = name.removesuffix(".")
    return HOST_NAME.fullmatch(name) is not None and not name.rpartition(".")[2].isdigit()
