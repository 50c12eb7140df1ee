"""Sums a protocol's messages up, as its definition says: distinct values, counts by value, how many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from gns3server_copilot.packets.conditions import all_hold, condition_from
from gns3server_copilot.packets.rows import Row

#: Distinct values told of one field.
MOST_VALUES = 40


def facts_of(definition: Mapping[str, Any], rows: Iterable[Row]) -> dict[str, Any]:
    """Give the facts by name; those that no message has anything for are left out."""
    found = {}
    listed = list(rows)
    for name, fact in definition.get("facts", {}).items():
        conditions = [condition_from(raw) for raw in fact.get("when", ())]
        chosen = [row for row in listed if all_hold(conditions, row.fields)] if conditions else listed
        value = _fact(fact, chosen)
        if value not in (None, [], {}, 0):
            found[name] = value
    return found


def _fact(fact: Mapping[str, Any], rows: list[Row]) -> Any:
    kind, field = fact["as"], fact.get("field", "")
    if kind == "frames":
        return len({row.number for row in rows})
    if kind == "messages":
        return len(rows)
    if kind == "sequence":
        return [row.get(field) for row in rows if row.get(field) is not None][:MOST_VALUES]
    if kind == "pairs":
        return _pairs(rows, field, fact["other"])
    if kind == "map":
        return _map(rows, field, fact["other"])
    values = list(_values(rows, field))
    if kind == "counts":
        return dict(Counter(map(str, values)).most_common(MOST_VALUES))
    if kind == "max":
        return max(values, default=None)
    if kind == "any":
        return any(values)
    return _distinct(values)


def _pairs(rows: list[Row], one: str, other: str) -> list[list[str]]:
    """Distinct pairs of two fields' values, in whichever order."""
    found = {tuple(sorted((str(row.get(one)), str(row.get(other))))) for row in rows if row.get(one) and row.get(other)}
    return [list(pair) for pair in sorted(found)[:MOST_VALUES]]


def _map(rows: list[Row], one: str, other: str) -> dict[str, list[str]]:
    """The distinct values of the other field for each value of the one."""
    found: dict[str, set[str]] = {}
    for row in rows:
        if row.get(one) is not None and row.get(other) is not None:
            found.setdefault(str(row.get(one)), set()).add(str(row.get(other)))
    return {key: sorted(found[key]) for key in sorted(found)[:MOST_VALUES]}


def _values(rows: list[Row], field: str) -> Iterator[Any]:
    for row in rows:
        value = row.get(field)
        if isinstance(value, list):
            yield from value
        elif value is not None:
            yield value


def _distinct(values: list[Any]) -> list[Any]:
    try:
        return sorted(set(values))[:MOST_VALUES]
    except TypeError:
        return sorted({str(value) for value in values})[:MOST_VALUES]
