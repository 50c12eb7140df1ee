"""Checks links that are asked for against the lab as it is, and against each other, before any is made."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gns3server_copilot.errors import ToolError
from gns3server_copilot.gns3.link_creation import NewLink, Plug
from gns3server_copilot.gns3.names import find
from gns3server_copilot.gns3.ports import AUTO, find_port, first_free, free_ports, free_ports_text, place_of
from gns3server_copilot.gns3.text import clipped, printable
from gns3server_copilot.gns3.topology import Link, Node, Place, Port, Topology

#: gns3-server joins none of these to each other.
TO_THE_OUTSIDE = ("cloud", "nat")


@dataclass(frozen=True)
class LinkRequest:
    """A link as somebody asked for it: nodes by name or id, ports as `gns3.ports` takes them."""

    node_a: str
    port_a: str
    node_b: str
    port_b: str

    @property
    def name(self) -> str:
        """Both ends as asked for."""
        ends = ((self.node_a, self.port_a), (self.node_b, self.port_b))
        return "–".join(f"{clipped(printable(node), 60)}:{clipped(printable(port), 60)}" for node, port in ends)


@dataclass(frozen=True)
class Refusal:
    """Why a link cannot be made; `existing_id` is the link that is there already, "" when that is not the reason."""

    reason: str
    existing_id: str = ""


def plan_links(asked: Sequence[LinkRequest], topology: Topology) -> list[NewLink | Refusal]:
    """Give for each link asked for what to create, or why not. Ports that are named go before those for `auto`."""
    planner = _Planner(topology)
    plans: list[NewLink | Refusal | None] = [None] * len(asked)
    half: dict[int, _Ends] = {}
    for index, request in enumerate(asked):
        try:
            ends = half[index] = planner.ends(request)
            planner.take(index, ends)
        except ToolError as error:
            plans[index] = planner.refusal(half.pop(index, None), error)
    for index, ends in half.items():
        try:
            plans[index] = planner.complete(ends)
        except ToolError as error:
            plans[index] = Refusal(error.message)
    return [plan for plan in plans if plan is not None]


@dataclass(frozen=True)
class _Ends:
    """Both nodes, and their ports; None for `auto`."""

    a: Node
    port_a: Port | None
    b: Node
    port_b: Port | None

    @property
    def named(self) -> list[tuple[Node, Port]]:
        return [(node, port) for node, port in ((self.a, self.port_a), (self.b, self.port_b)) if port is not None]


class _Planner:
    def __init__(self, topology: Topology) -> None:
        self._topology = topology
        self._taken: dict[Place, str] = {}

    def ends(self, request: LinkRequest) -> _Ends:
        """Give the ends that are asked for. Raises ToolError that says everything that is wrong with them."""
        wrong: list[str] = []
        a, port_a = self._end(request.node_a, request.port_a, wrong)
        b, port_b = self._end(request.node_b, request.port_b, wrong)
        if a is not None and b is not None:
            wrong = _pairing(a, b) or wrong
        if wrong or a is None or b is None:
            raise ToolError(" ".join(dict.fromkeys(wrong)))
        return _Ends(a, port_a, b, port_b)

    def take(self, index: int, ends: _Ends) -> None:
        """Take the ports that are named. Raises ToolError when one of them is not free, or they do not fit."""
        wrong = []
        for node, port in ends.named:
            where = place_of(node, port)
            if port.used:
                wrong.append(f"{port.name} of {node.name} is used: it leads to {port.peer}. {self._free(node)}")
            elif where in self._taken:
                wrong.append(f"{port.name} of {node.name} is asked for by {self._taken[where]} too. {self._free(node)}")
        if ends.port_a and ends.port_b and ends.port_a.media != ends.port_b.media:
            wrong.append(_unlike(ends.a, ends.port_a, ends.b, ends.port_b))
            wrong += [self._free(ends.a, ends.port_b.media), self._free(ends.b, ends.port_a.media)]
        if wrong:
            raise ToolError(" ".join(wrong))
        for node, port in ends.named:
            self._taken[place_of(node, port)] = f"links[{index}]"

    def complete(self, ends: _Ends) -> NewLink:
        """Choose the ports that are left to us. Raises ToolError when there is none of a fitting kind."""
        for media in self._medias(ends):
            port_a = ends.port_a or first_free(ends.a, media, self._taken)
            port_b = ends.port_b or first_free(ends.b, media, self._taken)
            if port_a is not None and port_b is not None:
                link = NewLink(Plug(ends.a, port_a), Plug(ends.b, port_b))
                self._taken.update(dict.fromkeys(link.places, link.name))
                return link
        needed = [(ends.a, ends.port_a, ends.port_b), (ends.b, ends.port_b, ends.port_a)]
        said = [self._free(node, other.media if other else None) for node, port, other in needed if port is None]
        if present := self.links_between(ends.a, ends.b):
            said.append(f"They are linked already: {', '.join(link.name for link in present)}.")
        raise ToolError(f"There is no pair of free ports that fit. {' '.join(said)}")

    def links_between(self, a: Node, b: Node) -> list[Link]:
        nodes = {a.id, b.id}
        return [link for link in self._topology.links if {end.node_id for end in link.ends} == nodes]

    def refusal(self, ends: _Ends | None, error: ToolError) -> Refusal:
        """Give why not; the link that was asked for may be there already."""
        places = {place_of(node, port) for node, port in ends.named} if ends else set()
        for link in self._topology.links:
            if len(places) == len(link.ends) and places == link.places:
                return Refusal(f"This link exists already: {link.name} (id {link.id}).", link.id)
        return Refusal(error.message)

    def _end(self, node_name: str, port_name: str, wrong: list[str]) -> tuple[Node | None, Port | None]:
        node = None
        try:
            node = find(node_name, self._topology.nodes, "node")
            port = None if printable(port_name).casefold() == AUTO else find_port(port_name, node)
        except ToolError as error:
            wrong.append(error.message)
            return node, None
        return node, port

    def _medias(self, ends: _Ends) -> Iterable[str]:
        if ends.named:
            return [ends.named[0][1].media]
        found = dict.fromkeys(port.media for port in free_ports(ends.a, self._taken))
        return sorted(found, key=lambda media: media != "ethernet")

    def _free(self, node: Node, media: str | None = None) -> str:
        return free_ports_text(node, self._taken, media)


def _pairing(a: Node, b: Node) -> list[str]:
    if a.id == b.id:
        return [f"{a.name} cannot be linked to itself: name two different nodes."]
    if a.type in TO_THE_OUTSIDE and b.type in TO_THE_OUTSIDE:
        return [f"{a.name} ({a.type}) and {b.name} ({b.type}) cannot be joined directly: put a switch between them."]
    return []


def _unlike(a: Node, port_a: Port, b: Node, port_b: Port) -> str:
    return (
        f"{port_a.name} of {a.name} is {port_a.media} and {port_b.name} of {b.name} is {port_b.media}: "
        "only ports of one kind can be linked."
    )
