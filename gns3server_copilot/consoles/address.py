"""Where a node's console is, or why it has none that can be used."""

from __future__ import annotations

from gns3server_copilot.errors import ConsoleError
from gns3server_copilot.gns3.topology import Node

#: Addresses of a server that listens everywhere, or that mean the machine itself.
EVERYWHERE = ("", "0.0.0.0", "::", "localhost")
LOOPBACK = {"::": "::1"}
#: Devices of GNS3's own: what they call a console answers to nobody.
WITHOUT_CONSOLE = {
    "ethernet_switch": "an Ethernet switch of GNS3",
    "ethernet_hub": "a hub",
    "frame_relay_switch": "a Frame Relay switch",
    "atm_switch": "an ATM switch",
    "nat": "a NAT node",
}


def console_address(node: Node, compute_host: str | None) -> tuple[str, int]:
    """Give host and port of a started node's telnet console. Raises ConsoleError that says why there is none.

    `compute_host` is where the controller reaches the node's compute; None for the controller's own.
    """
    if node.type in WITHOUT_CONSOLE:
        raise ConsoleError(f"It is {WITHOUT_CONSOLE[node.type]} and has no command line.")
    if node.console_type in ("", "none") or node.console is None:
        raise ConsoleError("It has no console.")
    if node.console_type != "telnet":
        raise ConsoleError(f"Its console is of type {node.console_type}; only telnet consoles have a command line.")
    if node.status != "started":
        raise ConsoleError(f"It is {node.status}, so its console does not answer. Start it first.")
    host = node.console_host
    if host.lower() in EVERYWHERE:
        host = compute_host or LOOPBACK.get(host, "127.0.0.1")
    return host, node.console
