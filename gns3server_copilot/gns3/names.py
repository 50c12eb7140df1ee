"""How people and models name things of a lab: by id, by name, in any case, and with the nearest names when wrong."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol, TypeVar

from gns3server_copilot.errors import ToolError
from gns3server_copilot.gns3.text import clipped, printable

MAX_SUGGESTIONS = 5
#: An error that has no near name to offer lists the names there are, up to this many.
MAX_LISTED = 10


class Named(Protocol):
    """A thing with an id that gns3-server gave and a name that people see."""

    @property
    def id(self) -> str:
        """UUID text."""

    @property
    def name(self) -> str:
        """Printable text."""


T = TypeVar("T", bound=Named)


def find(wanted: str, things: Sequence[T], kind: str) -> T:
    """Give the thing that `wanted` names: by id, else by exact name, else whatever the case and spaces.

    `kind` is the thing's name in messages, such as "node". Raises ToolError that names the nearest things, or the ids
    of those that fit equally well.
    """
    wanted = printable(wanted)
    ways: tuple[Callable[[T], bool], ...] = (
        lambda thing: thing.id == wanted.lower(),
        lambda thing: thing.name == wanted,
        lambda thing: loose(thing.name) == loose(wanted),
    )
    for fits in ways:
        found = [thing for thing in things if fits(thing)]
        if len(found) == 1:
            return found[0]
        if found:
            which = ", ".join(f"{thing.name} ({thing.id})" for thing in found[:MAX_SUGGESTIONS])
            raise ToolError(f"{clipped(wanted, 60)} may mean {which}: name the {kind} by its id.")
    raise ToolError(_unknown(wanted, [thing.name for thing in things], kind))


def loose(name: str) -> str:
    """Give `name` without case, spaces and underscores, which GNS3 users and models mix up."""
    return "".join(name.casefold().replace("_", " ").split())


def nearest(wanted: str, names: Iterable[str]) -> list[str]:
    """Give the names that `wanted` may have been meant to be, best first; a word of a name counts as well."""
    by_key: dict[str, list[str]] = {}
    for name in names:
        for key in {loose(name), *name.casefold().split()}:
            by_key.setdefault(key, []).append(name)
    close = difflib.get_close_matches(loose(wanted), by_key, n=MAX_SUGGESTIONS, cutoff=0.5)
    return list(dict.fromkeys(name for key in close for name in by_key[key]))[:MAX_SUGGESTIONS]


def _unknown(wanted: str, names: Sequence[str], kind: str) -> str:
    said = f"There is no {kind} called {clipped(wanted, 60) or '(empty)'}."
    near = nearest(wanted, names)
    if near:
        return f"{said} Nearest: {', '.join(near)}."
    if not names:
        return f"{said} There is none at all yet."
    more = f" and {len(names) - MAX_LISTED} more" if len(names) > MAX_LISTED else ""
    return f"{said} There are: {', '.join(sorted(names)[:MAX_LISTED])}{more}."
