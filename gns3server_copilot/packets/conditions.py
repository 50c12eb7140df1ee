"""Conditions that narrow an analysis down: `{field, op, value}`, all of which must hold.

They are compared here, value by value; nothing of them reaches an interpreter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

ORDERS: dict[str, Callable[[float, float], bool]] = {
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}


@dataclass(frozen=True)
class Condition:
    """`field` is a name as rows have it; `value` is text or a number, whichever was written."""

    field: str
    op: str
    value: str | float | bool

    def holds(self, fields: Mapping[str, Any]) -> bool:
        """Whether it holds for these fields; for a list, whether it does for one of its members (`ne`: for all)."""
        found = fields.get(self.field)
        if self.op == "exists":
            return (found is not None) == _truth(self.value)
        if found is None:
            return False
        members = found if isinstance(found, list | tuple) else [found]
        if self.op == "ne":
            return all(not _same(member, self.value) for member in members)
        return any(self._fits(member) for member in members)

    def _fits(self, member: Any) -> bool:
        if self.op == "eq":
            return _same(member, self.value)
        if self.op == "contains":
            return str(self.value).casefold() in str(member).casefold()
        ours, theirs = number(self.value), number(member)
        return ours is not None and theirs is not None and ORDERS[self.op](theirs, ours)


def condition_from(raw: Mapping[str, Any]) -> Condition:
    """Give the condition that plain data describes; it has been validated before."""
    return Condition(str(raw["field"]), str(raw["op"]), raw.get("value", True))


def all_hold(conditions: Iterable[Condition], fields: Mapping[str, Any]) -> bool:
    """Whether every condition holds."""
    return all(condition.holds(fields) for condition in conditions)


def number(value: Any) -> float | None:
    """Give a number, or a text that is one (`0x…` too), as a number; None for anything else."""
    if isinstance(value, bool):
        return float(value)
    if isinstance(value, int | float):
        return float(value)
    try:
        return float(int(value, 16)) if value[:2].casefold() == "0x" else float(value)
    except (TypeError, ValueError):
        return None


def _same(member: Any, value: Any) -> bool:
    if isinstance(member, bool):
        return member == _truth(value)
    ours, theirs = number(value), number(member)
    if ours is not None and theirs is not None:
        return ours == theirs
    return str(member).casefold() == str(value).casefold()


def _truth(value: Any) -> bool:
    return value if isinstance(value, bool) else str(value).strip().casefold() not in ("false", "no", "0", "")
