"""How people and models name a node's ports: in full, shortened (`Gi0/0`, `g0/0`, `e0`), in any case, or `auto`."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable

from gns3server_copilot.errors import ToolError
from gns3server_copilot.gns3.names import loose
from gns3server_copilot.gns3.runs import in_runs
from gns3server_copilot.gns3.text import clipped, printable
from gns3server_copilot.gns3.topology import Node, Place, Port

#: What stands for the first free port of a fitting kind.
AUTO = "auto"
#: `gigabitethernet` and `0/0` of `gigabitethernet0/0`; `ge` and `0/0/1` of `ge-0/0/1`.
KIND_AND_NUMBER = re.compile(r"([^\d]*?)[-.]?(\d.*)?")
#: What people write before a port's name.
LEADING_WORD = re.compile(r"^(?:interface|port)\s+", re.IGNORECASE)
#: Interface types whose beginnings are common abbreviations, also of ports that are themselves named shortly.
INTERFACE_TYPES = (
    "ethernet",
    "fastethernet",
    "gigabitethernet",
    "tengigabitethernet",
    "twentyfivegige",
    "fortygigabitethernet",
    "hundredgige",
    "management",
    "serial",
    "atm",
    "pos",
    "framerelay",
)
CAPITAL = re.compile(r"[A-Z]")
MAX_LISTED = 400


def place_of(node: Node, port: Port) -> Place:
    """Give where a link to this port is plugged in."""
    return (node.id, port.adapter_number, port.port_number)


def find_port(wanted: str, node: Node) -> Port:
    """Give the node's port that `wanted` names: exactly, else whatever the case and spaces, else as an abbreviation.

    Raises ToolError that names the free ports, or those that fit equally well.
    """
    said = LEADING_WORD.sub("", printable(wanted))
    key = loose(said)
    kind, number = _parts(key)
    ways: tuple[Callable[[Port], bool], ...] = (
        lambda port: said in (port.name, port.short_name),
        lambda port: key in (loose(port.name), loose(port.short_name)),
        lambda port: any(_abbreviates(kind, number, name) for name in (port.name, port.short_name)),
    )
    for fits in ways if key else ():
        found = [port for port in node.ports if fits(port)]
        if len(found) == 1:
            return found[0]
        if found:
            raise ToolError(f"{clipped(said, 60)} of {node.name} may mean {_listed(found)}: give the whole name.")
    raise ToolError(f"{node.name} has no port {clipped(said, 60) or '(empty)'}. {free_ports_text(node)}")


def first_free(node: Node, media: str, taken: Collection[Place]) -> Port | None:
    """Give the node's first port of this media that has no link and is not `taken`."""
    return next((port for port in free_ports(node, taken) if port.media == media), None)


def free_ports(node: Node, taken: Collection[Place] = ()) -> list[Port]:
    """Give the ports that have no link and are not `taken`."""
    return [port for port in node.ports if not port.used and place_of(node, port) not in taken]


def free_ports_text(node: Node, taken: Collection[Place] = (), media: str | None = None) -> str:
    """Say which ports are free, of this media when one is given, as a sentence for an error."""
    kind = f"{media} " if media else ""
    if not node.ports:
        if node.type in ("frame_relay_switch", "atm_switch"):
            return f"{node.name} has no ports yet: they come with the mappings that are configured in GNS3."
        return f"{node.name} has no ports."
    free = [port for port in free_ports(node, taken) if media in (None, port.media)]
    if not free:
        return f"{node.name} has no free {kind}port."
    return f"Free {kind}ports of {node.name}: {_listed(free)}."


def _listed(ports: Iterable[Port]) -> str:
    return clipped(", ".join(in_runs(port.name for port in ports)), MAX_LISTED)


def _parts(key: str) -> tuple[str, str]:
    found = KIND_AND_NUMBER.fullmatch(key)
    return (found[1], found[2] or "") if found else (key, "")


def _abbreviates(kind: str, number: str, name: str) -> bool:
    its_kind, its_number = _parts(loose(name))
    if number != its_number or not number:
        return False
    if its_kind.startswith(kind):
        return True
    # GigabitEthernet is also written ge
    initials = "".join(CAPITAL.findall(name)).casefold()
    return kind == initials or not _types(kind).isdisjoint(_types(its_kind))


def _types(kind: str) -> set[str]:
    return {whole for whole in INTERFACE_TYPES if kind and whole.startswith(kind)}
