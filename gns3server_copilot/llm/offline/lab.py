"""The lab as the system prompt tells it: the lines that `gns3.topology.compact_text` writes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from gns3server_copilot.llm.offline.markdown import block, inline, table

#: `R1 (qemu, cisco_ios, started, at 0,-100): g0/0–R2:g0/0; free g0/1`. The place on the drawing marks such a line:
#: a name may hold brackets too.
NODE_LINE = re.compile(r"(?P<name>.+?) \((?P<kinds>[^()]+), at -?\d+,-?\d+[^()]*\): (?P<ports>.+)")
#: `g0/0–R2:g0/0 [filtered]`, as `gns3.topology.Link.name` without the first node.
PLUG = re.compile(r"(?P<port>.+?)–(?P<peer>.+):(?P<peer_port>[^:\[]+?)(?: \[(?P<marks>.*)\])?")
PLUG_END = re.compile(r", (?![^\[]*\])")
STATUSES = ("started", "stopped", "suspended")
NOTES = "Notes: "
EMPTY = "The project is empty"


@dataclass(frozen=True)
class LabNode:
    """A node as its line tells it; `plugs` are the used ports with what they lead to, `free` the others."""

    name: str
    type: str
    status: str
    plugs: str
    free: str


@dataclass(frozen=True)
class LabLink:
    """A link: its name as tools take it, the nodes that it joins, and whether it has a packet filter."""

    name: str
    ends: frozenset[str]
    filtered: bool


@dataclass(frozen=True)
class Lab:
    """What the prompt tells about the lab. `nodes` is empty for a lab too large to be told node by node."""

    text: str = ""
    nodes: tuple[LabNode, ...] = ()
    links: tuple[LabLink, ...] = ()
    notes: str = ""

    @property
    def is_empty(self) -> bool:
        """Whether the prompt says that there is nothing in the lab."""
        return self.text.startswith(EMPTY)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the nodes."""
        return tuple(node.name for node in self.nodes)

    def type_of(self, name: str) -> str:
        """Give the type of the node with this name in any case; "" when it is not known."""
        return next((node.type for node in self.nodes if node.name.casefold() == name.casefold()), "")

    def link_named(self, name: str) -> str:
        """Give the full name of the only link between the nodes of `R1-R2`; else what was given."""
        wanted = name.casefold()
        found = [
            link.name
            for link in self.links
            if wanted in {f"{a}-{b}".casefold() for a in link.ends for b in link.ends if a != b}
        ]
        return found[0] if len(found) == 1 else name

    def in_words(self) -> str:
        """Give the lab in a sentence and a table."""
        if not self.text:
            return "I was not told anything about the lab."
        if not self.nodes and "\n" in self.text:
            return f"This is what I was told about the lab:\n\n{block(self.text)}"
        if not self.nodes:
            return inline(self.text)
        rows = [(node.name, node.type, node.status, node.plugs or "–", node.free or "–") for node in self.nodes]
        parts = [
            f"{counted(len(self.nodes), 'node')} in this lab: {listed(inline(name) for name in self.names)}.",
            table(("Node", "Type", "Status", "Connected to", "Free ports"), rows),
        ]
        if self.notes:
            parts.append(f"Notes on the drawing: {inline(self.notes)}")
        return "\n\n".join(parts)


def read_lab(text: str) -> Lab:
    """Read the topology section of a prompt."""
    nodes, notes = [], ""
    for line in text.splitlines():
        found = NODE_LINE.fullmatch(line)
        if found:
            nodes.append(_node(found))
        elif line.startswith(NOTES):
            notes = line.removeprefix(NOTES)
    return Lab(text.strip(), tuple(nodes), tuple(_links(nodes)), notes)


def counted(number: int, noun: str) -> str:
    """Give `1 node`, `2 nodes`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def listed(names: Iterable[str]) -> str:
    """Give `R1, R2 and R3`."""
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def _links(nodes: Iterable[LabNode]) -> Iterator[LabLink]:
    seen = set()
    for node in nodes:
        for plug in PLUG_END.split(node.plugs):
            found = PLUG.fullmatch(plug)
            if found is None:
                continue
            here, there = f"{node.name}:{found['port']}", f"{found['peer']}:{found['peer_port']}"
            if there not in seen:  # each link stands on the lines of both its nodes
                seen.add(here)
                filtered = "filtered" in (found["marks"] or "")
                yield LabLink(f"{here}–{there}", frozenset({node.name, found["peer"]}), filtered)


def _node(line: re.Match[str]) -> LabNode:
    kinds = line["kinds"].split(", ")
    plugs, _, free = line["ports"].rpartition("; free ")
    if not plugs and free.startswith("free "):
        free = free.removeprefix("free ")
    elif not plugs:
        plugs, free = free, ""
    return LabNode(
        name=line["name"],
        type=kinds[0],
        status=next((kind for kind in kinds if kind in STATUSES), kinds[-1]),
        plugs="" if plugs == "no ports" else plugs,
        free=free,
    )
