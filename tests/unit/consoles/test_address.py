"""Where consoles are, and why some nodes have none."""

from __future__ import annotations

from typing import Any

import pytest

from gns3server_copilot.consoles.address import console_address
from gns3server_copilot.errors import ConsoleError
from gns3server_copilot.gns3.topology import Node, parse_topology


def node(**raw: Any) -> Node:
    usual = {
        "node_id": "n",
        "name": "R1",
        "node_type": "qemu",
        "status": "started",
        "console": 5000,
        "console_type": "telnet",
        "console_host": "127.0.0.1",
    }
    return parse_topology([{**usual, **raw}], [], []).nodes[0]


@pytest.mark.parametrize(
    ("console_host", "compute_host", "host"),
    [
        ("127.0.0.1", None, "127.0.0.1"),
        ("0.0.0.0", None, "127.0.0.1"),
        ("::", None, "::1"),
        ("localhost", None, "127.0.0.1"),
        ("0.0.0.0", "10.0.0.7", "10.0.0.7"),
        ("::", "fd00::7", "fd00::7"),
        ("localhost", "vm.example", "vm.example"),
        ("10.0.0.9", "10.0.0.7", "10.0.0.9"),
        ("fd00::9", None, "fd00::9"),
    ],
)
def test_a_console_is_where_its_compute_is(console_host: str, compute_host: str | None, host: str) -> None:
    assert console_address(node(console_host=console_host), compute_host) == (host, 5000)


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ({"status": "stopped"}, "It is stopped"),
        ({"status": "suspended"}, "It is suspended"),
        ({"console_type": "vnc"}, "of type vnc"),
        ({"console_type": "spice"}, "of type spice"),
        ({"console_type": "http"}, "of type http"),
        ({"console_type": "none"}, "no console"),
        ({"console": None}, "no console"),
        ({"node_type": "ethernet_switch"}, "no command line"),
        ({"node_type": "nat"}, "no command line"),
    ],
)
def test_other_nodes_are_refused_with_the_reason(raw: dict[str, Any], reason: str) -> None:
    with pytest.raises(ConsoleError, match=reason):
        console_address(node(**raw), None)
