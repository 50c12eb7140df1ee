"""What must hold for the names of every node's ports, wherever the list comes from."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gns3server_copilot.errors import ToolError
from gns3server_copilot.gns3.ports import find_port
from gns3server_copilot.gns3.topology import Node, Port

KIND = re.compile(r"([A-Za-z]+)([\d/]+)")


def check_port_names(node: Node) -> None:
    """Every way to write a port's name finds that port, or says that it may mean several."""
    for port in node.ports:
        for spelling in spellings(port):
            try:
                found = find_port(spelling, node)
            except ToolError as error:
                assert "may mean" in error.message, f"{spelling}: {error.message}"
                assert _number_of_fitting(spelling, node) > 1, f"{spelling} is not ambiguous among {node.ports}"
            else:
                # an abbreviation of one port may be the whole name of another
                whole = spelling.strip().casefold() in (found.name.casefold(), found.short_name.casefold())
                assert found == port or whole, f"{spelling} of {node.name} gave {found.name}, not {port.name}"


def spellings(port: Port) -> Iterator[str]:
    """Give ways in which people write a port's name."""
    for name in (port.name, port.short_name):
        yield from (name, name.lower(), name.upper(), f" {name} ", f"interface {name}")
        if kind := KIND.fullmatch(name):
            word, number = kind.groups()
            yield f"{word} {number}"
            yield from (f"{word[:length]}{number}" for length in range(1, len(word)))


def _number_of_fitting(spelling: str, node: Node) -> int:
    wanted = spelling.strip().casefold().removeprefix("interface").strip().replace(" ", "")
    number = wanted.lstrip("abcdefghijklmnopqrstuvwxyz")
    return sum(port.name.casefold().endswith(number) or port.short_name.casefold() == wanted for port in node.ports)
