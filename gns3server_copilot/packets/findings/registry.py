"""Which module finds what is wrong with which protocol; modules are loaded at first use."""

from __future__ import annotations

import importlib
from collections.abc import Iterator

from gns3server_copilot.packets.findings.base import Finding, Rows

MODULES = {
    "arp": "arp",
    "dhcp": "dhcp",
    "dns": "requests",
    "hsrp": "redundancy",
    "icmp": "requests",
    "icmpv6": "requests",
    "ospf": "ospf",
    "ospfv3": "ospf",
    "stp": "stp",
    "vrrp": "redundancy",
}


def find_all(rows: Rows) -> Iterator[Finding]:
    """Give what is wrong with one protocol's messages, beside what its definition checks."""
    module = MODULES.get(rows.protocol)
    if module is not None:
        finders = importlib.import_module(f"gns3server_copilot.packets.findings.{module}")
        yield from finders.find(rows)
