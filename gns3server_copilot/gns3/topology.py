"""A project's nodes, links and notes, read fresh, and their compact text for prompts.

Names are made printable here, once: whoever can name a node could otherwise write lines into a prompt. Later calls
go by id.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from gns3server_copilot.errors import GNS3Error
from gns3server_copilot.gns3.device_types import declared_device_type
from gns3server_copilot.gns3.drawings import svg_text
from gns3server_copilot.gns3.runs import in_runs, natural_order
from gns3server_copilot.gns3.text import clipped, printable

if TYPE_CHECKING:
    from gns3server_copilot.gns3.client import GNS3Client

#: The id of gns3-server's own compute, whose files are on this machine.
LOCAL = "local"
#: Characters of a drawing's text in a prompt.
MAX_NOTE = 120
#: Console types that need no mention.
USUAL_CONSOLES = ("telnet", "none", "")
#: A port among all nodes of a project: node id, adapter and port number.
Place = tuple[str, int, int]
HOW_TO_SEE_MORE = "For details ask gns3_topology_reader about single nodes, where that tool is offered."


@dataclass(frozen=True)
class Port:
    """A node's port. `link_id` and `peer` (`R2:g0/1`) are None while it is free; `media` is ethernet or serial."""

    name: str
    short_name: str
    media: str
    adapter_number: int
    port_number: int
    link_id: str | None = None
    peer: str | None = None

    @property
    def used(self) -> bool:
        """Whether a link is plugged in."""
        return self.link_id is not None


@dataclass(frozen=True)
class Node:
    """A node. `type` is the emulator, `device_type` what was declared (`gns3.device_types`), `console` a TCP port.

    `images` are the names of the images that it runs. A locked node can be neither moved nor deleted in GNS3.
    """

    id: str
    name: str
    type: str
    device_type: str
    status: str
    console: int | None
    console_type: str
    console_host: str
    x: int
    y: int
    template_id: str
    compute_id: str
    locked: bool
    ports: tuple[Port, ...]
    images: tuple[str, ...] = ()


@dataclass(frozen=True)
class LinkEnd:
    """Where a link is plugged in; `port` is the port's short name."""

    node_id: str
    node_name: str
    port: str
    adapter_number: int
    port_number: int

    @property
    def place(self) -> Place:
        """Where it is, whatever the port is called."""
        return (self.node_id, self.adapter_number, self.port_number)

    def __str__(self) -> str:
        return f"{self.node_name}:{self.port}"


@dataclass(frozen=True)
class Link:
    """A link with its two ends. `filters` as gns3-server has them, by filter type."""

    id: str
    media: str
    ends: tuple[LinkEnd, ...]
    filters: Mapping[str, Any]
    suspended: bool
    capturing: bool

    @property
    def name(self) -> str:
        """Both ends: `R1:g0/0–R2:g0/0`."""
        return "–".join(str(end) for end in self.ends)

    @property
    def places(self) -> frozenset[Place]:
        """Where both ends are."""
        return frozenset(end.place for end in self.ends)

    @property
    def marks(self) -> tuple[str, ...]:
        """What is unusual about it: suspended, capturing, filtered."""
        marks = {"suspended": self.suspended, "capturing": self.capturing, "filtered": bool(self.filters)}
        return tuple(mark for mark, holds in marks.items() if holds)


@dataclass(frozen=True)
class Drawing:
    """A drawing that holds words."""

    id: str
    text: str


@dataclass(frozen=True)
class Topology:
    """Everything that a project's canvas shows."""

    nodes: tuple[Node, ...]
    links: tuple[Link, ...]
    drawings: tuple[Drawing, ...]


async def read_topology(client: GNS3Client, project_id: str) -> Topology:
    """Read the project's topology as it is now. Raises GNS3Error where the user may not see it."""
    canvas = await client.canvas(project_id)
    return parse_topology(canvas.nodes, canvas.links, canvas.drawings)


async def read_nodes(client: GNS3Client, project_id: str) -> tuple[Node, ...]:
    """Read the nodes alone; their ports all look free."""
    return parse_topology(await client.get(f"/projects/{project_id}/nodes"), [], []).nodes


async def read_node(client: GNS3Client, project_id: str, node_id: str) -> Node:
    """Read one node; its ports all look free."""
    return parse_node(await client.get(f"/projects/{project_id}/nodes/{node_id}"))


def parse_node(answer: Any) -> Node:
    """Make a Node of gns3-server's answer about one; its ports all look free. Raises GNS3Error when it is none."""
    nodes = parse_topology([answer], [], []).nodes
    if not nodes:
        raise GNS3Error("gns3-server's answer is not a node.", HTTPStatus.INTERNAL_SERVER_ERROR.value)
    return nodes[0]


def parse_topology(nodes: Any, links: Any, drawings: Any) -> Topology:
    """Make a Topology of gns3-server's three lists; what is missing or of an unknown kind is left empty."""
    raw_nodes = _mappings(nodes)
    port_names = {
        (_node_id(raw), *_place(port)): _short_name(port) for raw in raw_nodes for port in _mappings(raw.get("ports"))
    }
    node_names = {_node_id(raw): printable(raw.get("name")) for raw in raw_nodes}
    parsed_links: list[Link] = []
    plugged: dict[Place, tuple[str, str]] = {}
    for raw in _mappings(links):
        places = [(_node_id(end), *_place(end)) for end in _mappings(raw.get("nodes"))]
        ends = tuple(
            LinkEnd(
                place[0], node_names.get(place[0], "?"), port_names.get(place, f"{place[1]}/{place[2]}"), *place[1:]
            )
            for place in places
        )
        for index, place in enumerate(places):
            peers = [str(end) for end in ends[:index] + ends[index + 1 :]]
            plugged[place] = (printable(raw.get("link_id")), ", ".join(peers) or "?")
        parsed_links.append(_link(raw, ends))
    texts = ((printable(raw.get("drawing_id")), svg_text(str(raw.get("svg") or ""))) for raw in _mappings(drawings))
    return Topology(
        nodes=tuple(_node(raw, plugged) for raw in raw_nodes),
        links=tuple(parsed_links),
        drawings=tuple(Drawing(drawing_id, text) for drawing_id, text in texts if text),
    )


def compact_text(topology: Topology, max_chars: int) -> str:
    """Give the topology as terse lines for a prompt, or names and counts where those exceed `max_chars`."""
    marks = {link.id: link.marks for link in topology.links if link.marks}
    full = "\n".join([_headline(topology), *(_node_line(node, marks) for node in topology.nodes), *_notes(topology)])
    if len(full) <= max_chars:
        return full
    by_type: dict[str, list[str]] = {}
    for node in topology.nodes:
        by_type.setdefault(node.type, []).append(node.name)
    lines = [
        f"{_headline(topology)} Too many to show in full here. {HOW_TO_SEE_MORE}",
        *(
            f"{kind} ({len(names)}): {', '.join(in_runs(sorted(names, key=natural_order)))}"
            for kind, names in by_type.items()
        ),
    ]
    return clipped("\n".join(lines), max(max_chars, 1))


def _node(raw: Mapping[str, Any], plugged: Mapping[tuple[str, int, int], tuple[str, str]]) -> Node:
    node_id = _node_id(raw)
    console = raw.get("console")
    ports = []
    for port in _mappings(raw.get("ports")):
        link_id, peer = plugged.get((node_id, *_place(port)), (None, None))
        media = printable(port.get("link_type")) or "ethernet"
        ports.append(Port(printable(port.get("name")), _short_name(port), media, *_place(port), link_id, peer))
    return Node(
        id=node_id,
        name=printable(raw.get("name")),
        type=printable(raw.get("node_type")) or "unknown",
        device_type=declared_device_type(raw),
        status=printable(raw.get("status")) or "unknown",
        console=console if isinstance(console, int) else None,
        console_type=printable(raw.get("console_type")),
        console_host=printable(raw.get("console_host")),
        x=_number(raw.get("x")),
        y=_number(raw.get("y")),
        template_id=printable(raw.get("template_id")),
        compute_id=printable(raw.get("compute_id")),
        locked=bool(raw.get("locked")),
        ports=tuple(ports),
        images=_images(raw.get("properties")),
    )


def _images(properties: Any) -> tuple[str, ...]:
    if not isinstance(properties, Mapping):
        return ()
    named = [value for key, value in properties.items() if key.endswith("_image") or key in ("image", "path")]
    return tuple(printable(value) for value in named if isinstance(value, str) and value)


def _link(raw: Mapping[str, Any], ends: tuple[LinkEnd, ...]) -> Link:
    filters = raw.get("filters")
    return Link(
        id=printable(raw.get("link_id")),
        media=printable(raw.get("link_type")) or "ethernet",
        ends=ends,
        filters=dict(filters) if isinstance(filters, Mapping) else {},
        suspended=bool(raw.get("suspend")),
        capturing=bool(raw.get("capturing")),
    )


def _mappings(raw: Any) -> list[Mapping[str, Any]]:
    return [entry for entry in raw if isinstance(entry, Mapping)] if isinstance(raw, list) else []


def _node_id(raw: Mapping[str, Any]) -> str:
    return printable(raw.get("node_id"))


def _place(port: Mapping[str, Any]) -> tuple[int, int]:
    return _number(port.get("adapter_number")), _number(port.get("port_number"))


def _short_name(port: Mapping[str, Any]) -> str:
    return printable(port.get("short_name")) or printable(port.get("name"))


def _number(value: Any) -> int:
    return int(value) if isinstance(value, int | float) else 0


def _headline(topology: Topology) -> str:
    if not topology.nodes:
        return "The project is empty: no nodes."
    statuses = Counter(node.status for node in topology.nodes)
    counts = ", ".join(f"{count} {status}" for status, count in statuses.items())
    return f"Nodes: {len(topology.nodes)} ({counts}). Links: {len(topology.links)}."


def _node_line(node: Node, marks: Mapping[str, tuple[str, ...]]) -> str:
    kinds = [node.type, node.status, f"at {node.x},{node.y}"]
    if node.device_type and node.device_type != node.type:
        kinds.insert(1, node.device_type)
    if node.console_type not in USUAL_CONSOLES:
        kinds.append(f"{node.console_type} console")
    used = [_plug(port, marks.get(port.link_id or "", ())) for port in node.ports if port.used]
    free = in_runs(port.short_name for port in node.ports if not port.used)
    parts = [", ".join(used)] if used else []
    parts += [f"free {' '.join(free)}"] if free else []
    return f"{node.name} ({', '.join(kinds)}): {'; '.join(parts) or 'no ports'}"


def _plug(port: Port, marks: tuple[str, ...]) -> str:
    return f"{port.short_name}–{port.peer}" + (f" [{', '.join(marks)}]" if marks else "")


def _notes(topology: Topology) -> list[str]:
    if not topology.drawings:
        return []
    return ["Notes: " + "; ".join(f'"{clipped(drawing.text, MAX_NOTE)}"' for drawing in topology.drawings)]
