"""How people and models name a link: by its id, by its two nodes, by its ports."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from gns3server_copilot.errors import ToolError
from gns3server_copilot.gns3.names import MAX_LISTED, MAX_SUGGESTIONS, loose, nearest
from gns3server_copilot.gns3.text import clipped, printable
from gns3server_copilot.gns3.topology import Link, LinkEnd, Topology

#: Characters of what somebody may call a link: two names of nodes, each with a port.
LONGEST_LINK = 1000
#: What stands between two ends: dashes and arrows of every kind, "to", "and", commas.
BETWEEN = re.compile(r"\s*(?:<?[-–—−=]+>?|[↔→←⇄⟷]|\bto\b|\band\b|,)\s*")


def find_link(wanted: str, topology: Topology) -> Link:
    """Give the link that `wanted` names: its id, `R1-R2`, `R1:g0/0-R2:g0/1`, or one end: `R1:g0/0`, `PC1`.

    Raises ToolError that lists the links it may mean, or those there are.
    """
    wanted = printable(wanted)
    for link in topology.links:
        if link.id == wanted.lower():
            return link
    key = _key(wanted)
    for exact in (True, False):
        found = [link for link in topology.links if key in set(_names(link, topology, exact))]
        if len(found) == 1:
            return found[0]
        if found:
            raise ToolError(
                f"{clipped(wanted, 60)} may mean {_listed(found[:MAX_SUGGESTIONS])}: name the link by its id."
            )
    raise ToolError(_unknown(wanted, topology.links))


def _names(link: Link, topology: Topology, both_ends: bool) -> Iterator[str]:
    """Give the keys that name the link by both its ends, in either order, or by one of them."""
    spellings = [list(_spellings(end, topology)) for end in link.ends]
    if not both_ends:
        for ways in spellings:
            yield from map(_key, ways)
    elif len(spellings) == 2:
        for one in spellings[0]:
            for other in spellings[1]:
                yield _key(f"{one}-{other}")
                yield _key(f"{other}-{one}")


def _spellings(end: LinkEnd, topology: Topology) -> Iterator[str]:
    yield end.node_name
    node = next((node for node in topology.nodes if node.id == end.node_id), None)
    ports = {end.port, *(port.name for port in node.ports if port.short_name == end.port)} if node else {end.port}
    for port in ports:
        yield f"{end.node_name}:{port}"
        yield f"{end.node_name} {port}"


def _key(name: str) -> str:
    """Give `name` without case and spaces, and with one kind of dash; dashes inside names go the same way."""
    return loose(BETWEEN.sub("-", name)).replace(":", "")


def _listed(links: Sequence[Link]) -> str:
    return ", ".join(f"{link.name} ({link.id})" for link in links)


def _unknown(wanted: str, links: Sequence[Link]) -> str:
    said = f"There is no link called {clipped(wanted, 60)}."
    if not links:
        return f"{said} The project has no links yet."
    by_name = {link.name: link for link in links}
    near = nearest(wanted, by_name)
    if near:
        return f"{said} Nearest: {_listed([by_name[name] for name in near])}."
    more = f" and {len(links) - MAX_LISTED} more" if len(links) > MAX_LISTED else ""
    return f"{said} There are: {_listed(links[:MAX_LISTED])}{more}."
