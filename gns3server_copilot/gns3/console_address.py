"""Where a node's console can be reached from the controller."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gns3server_copilot.errors import ToolError
from gns3server_copilot.gns3.text import printable
from gns3server_copilot.gns3.topology import Node

if TYPE_CHECKING:
    from gns3server_copilot.gns3.client import GNS3Client

#: A compute says so when it listens on all its addresses.
EVERYWHERE = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1", "localhost": "127.0.0.1"}
LOCAL_COMPUTE = "local"


async def console_address(client: GNS3Client, node: Node) -> tuple[str, int]:
    """Give host and TCP port of the node's telnet console. Raises ToolError that says why there is none."""
    if node.console_type != "telnet":
        kind = f"a {node.console_type}" if node.console_type not in ("", "none") else "no"
        raise ToolError(f"{node.name} has {kind} console, not a text console.")
    if node.console is None:
        raise ToolError(f"{node.name} has no console port.")
    host = node.console_host.strip("[]")
    if host not in EVERYWHERE:
        return host, node.console
    if node.compute_id in (LOCAL_COMPUTE, ""):
        return EVERYWHERE[host], node.console
    compute = await client.get(f"/computes/{node.compute_id}")
    return printable(compute.get("host")).strip("[]") or EVERYWHERE[host], node.console
