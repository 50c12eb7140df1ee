"""Names of fields as models write them: checked against what the protocol files list, with near names when unknown."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from typing import Any

from gns3server_copilot.errors import ToolError
from gns3server_copilot.gns3.text import clipped, printable
from gns3server_copilot.knowledge.schemas.protocol import Protocol
from gns3server_copilot.knowledge.snapshot import Knowledge
from gns3server_copilot.packets.conditions import ORDERS, number
from gns3server_copilot.packets.dissect.registry import PROTOCOLS
from gns3server_copilot.packets.rows import ALIASES, FRAME_FIELDS

MAX_FOUND = 40
MAX_NEAR = 5


def find_protocol(wanted: str, knowledge: Knowledge) -> str:
    """Give the key of the protocol's file. Raises ToolError that names the nearest ones."""
    protocols = knowledge.of(Protocol)
    for entry in protocols.entries:
        if protocols.find(wanted) is entry.value:
            if entry.key not in PROTOCOLS:
                raise ToolError(f"{entry.key} is described, but packets of it cannot be taken apart.")
            return entry.key
    near = difflib.get_close_matches(wanted.casefold(), [entry.key for entry in protocols.entries], MAX_NEAR, 0.4)
    hint = f"Nearest: {', '.join(near)}." if near else "packet_analysis_skills lists those there are."
    raise ToolError(f"There is no protocol called {clipped(printable(wanted), 60)}. {hint}")


def known_field(name: str, protocol: str | None, knowledge: Knowledge) -> str:
    """Give the field's whole name, as `ospf.area` or `frame.number`. Raises ToolError with near names."""
    name = name.strip()
    whole = ALIASES.get(name.casefold(), name.casefold())
    if whole in FRAME_FIELDS:
        return whole
    own = knowledge.of(Protocol)[protocol].fields if protocol else {}
    bare = whole.removeprefix(f"{protocol}.") if protocol else whole
    if bare in own:
        return f"{protocol}.{bare}"
    if f"frame.{whole}" in FRAME_FIELDS:
        return f"frame.{whole}"
    candidates = [*FRAME_FIELDS, *(f"{protocol}.{field}" for field in own)]
    raise ToolError(f"There is no field {clipped(printable(name), 60)}{_near(whole, candidates, protocol)}")


def _near(name: str, candidates: Sequence[str], protocol: str | None) -> str:
    last = {candidate.partition(".")[2]: candidate for candidate in candidates}
    close = [last[one] for one in difflib.get_close_matches(name.rpartition(".")[2], last, MAX_NEAR, 0.45)]
    close += difflib.get_close_matches(name, candidates, MAX_NEAR, 0.5)
    near = list(dict.fromkeys(close))[:MAX_NEAR]
    where = f" of {protocol}" if protocol else ", without a protocol only those of every frame can be used"
    return f"{where}. Nearest: {', '.join(near)}." if near else f"{where}. search_fields finds names."


def check_value(field: str, op: str, value: str | None) -> None:
    """Raise ToolError when an operator cannot do with the value."""
    if op == "exists":
        return
    if value is None:
        raise ToolError(f"The condition on {field} with {op} needs a value.")
    if op in ORDERS and number(value) is None:
        raise ToolError(f"The condition on {field} with {op} needs a number, not {clipped(printable(value), 60)}.")


def search_fields(query: str, protocol: str | None, knowledge: Knowledge) -> list[dict[str, Any]]:
    """Give the fields whose name or description holds all words of the query, best first; near names when none does."""
    fields = [("", name, meaning) for name, meaning in FRAME_FIELDS.items()]
    for entry in knowledge.of(Protocol).entries:
        if protocol in (None, entry.key):
            fields += [(entry.key, f"{entry.key}.{name}", meaning) for name, meaning in entry.value.fields.items()]
    words = query.casefold().replace("_", " ").replace(".", " ").split()
    scored = []
    for key, name, meaning in fields:
        told = f"{name.replace('_', ' ').replace('.', ' ')} {meaning}".casefold()
        if all(word in told for word in words):
            scored.append((_rank(words, name), name, key, meaning))
    if not scored:
        names = [name for _, name, _ in fields]
        close = difflib.get_close_matches(query.casefold(), names, MAX_NEAR, 0.4)
        scored = [((close.index(name), 0), name, key, meaning) for key, name, meaning in fields if name in close]
    return [_told(name, key, meaning) for _, name, key, meaning in sorted(scored)[:MAX_FOUND]]


def _rank(words: Iterable[str], name: str) -> tuple[int, int]:
    """Whole names before parts of names before descriptions."""
    parts = name.replace(".", "_").split("_")
    return (-sum(word in parts for word in words), len(name))


def _told(name: str, protocol: str, meaning: str) -> dict[str, Any]:
    return {"field": name, "protocol": protocol or "every frame", "description": meaning}
