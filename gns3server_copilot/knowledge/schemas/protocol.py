"""Protocols as packet analysis knows them: their fields, ready conditions, what sums them up, and checks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from gns3server_copilot.knowledge.schemas.base import KnowledgeFile, KnowledgeModel

Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$", max_length=40)]
Text = Annotated[str, StringConstraints(min_length=2, max_length=400)]
Value = str | int | float | bool

PLACEHOLDER = re.compile(r"\{(?:(a|b)\.)?(\w+)\}")
BRACES = re.compile(r"\{[^}]*\}")


class Condition(KnowledgeModel):
    """A comparison of a field with a value; `exists` takes true or false."""

    field: Name
    op: Literal["eq", "ne", "lt", "le", "gt", "ge", "contains", "exists"] = "eq"
    value: Value = True


class CheckCondition(KnowledgeModel):
    """As Condition; over neighbours also `differs` and `same`, which compare the two."""

    field: Name
    op: Literal["eq", "ne", "lt", "le", "gt", "ge", "contains", "exists", "differs", "same"] = "eq"
    value: Value = True


class Fact(KnowledgeModel):
    """How messages are summed up under a name: the distinct values of a field, how often each, how many messages."""

    field: Name | None = None
    as_: Literal["values", "counts", "frames", "messages", "max", "any", "sequence", "pairs", "map"] = Field(
        "values", alias="as"
    )
    #: the second field of pairs and maps
    other: Name | None = None
    when: tuple[Condition, ...] = ()

    @model_validator(mode="after")
    def _has_field(self) -> Self:
        if self.field is None and self.as_ not in ("frames", "messages"):
            raise ValueError(f"a fact as {self.as_} needs a field")
        if (self.other is None) == (self.as_ in ("pairs", "map")):
            raise ValueError("pairs and maps, and only they, need a field `other`")
        return self


class Filter(KnowledgeModel):
    """Ready conditions to narrow an analysis down with."""

    name: Name
    description: Text
    where: tuple[Condition, ...] = Field(min_length=1)


class Check(KnowledgeModel):
    """Something wrong that shows in one message, or in the last messages of two neighbours on the same link.

    `speaker` is the field that tells neighbours apart, `within` are fields that the two must have in common. The
    message has `{field}` placeholders; over neighbours `{a.field}` and `{b.field}`.
    """

    id: Name
    over: Literal["packet", "neighbours"] = "packet"
    when: tuple[CheckCondition, ...] = Field(min_length=1)
    speaker: Name = "src"
    within: tuple[Name, ...] = ()
    severity: Literal["info", "warning", "error"]
    message: Text

    @model_validator(mode="after")
    def _fits_its_kind(self) -> Self:
        compares = [condition for condition in self.when if condition.op in ("differs", "same")]
        if self.over == "packet" and compares:
            raise ValueError("differs and same compare neighbours: say `over: neighbours`")
        if self.over == "neighbours" and not compares:
            raise ValueError("a check over neighbours compares a field: give one `op: differs` or `op: same`")
        for found in BRACES.findall(self.message):
            placeholder = PLACEHOLDER.fullmatch(found)
            if placeholder is None or bool(placeholder[1]) != (self.over == "neighbours"):
                form = "{a.field} or {b.field}" if self.over == "neighbours" else "{field}"
                raise ValueError(f"{found} is no placeholder of this check: write {form}")
        return self

    @property
    def named_fields(self) -> set[str]:
        """Every field that the check names."""
        conditions = {condition.field for condition in self.when}
        placeholders = {found[1] for found in PLACEHOLDER.findall(self.message)}
        return conditions | placeholders | set(self.within) | ({self.speaker} if self.over == "neighbours" else set())


class Protocol(KnowledgeFile):
    """One protocol. The file's stem is the name of its dissector."""

    name: Text
    description: Text
    aliases: tuple[str, ...] = ()
    fields: dict[Name, Text] = Field(min_length=1)
    columns: tuple[Name, ...] = Field(min_length=1)
    facts: dict[Name, Fact] = Field(default_factory=dict)
    filters: tuple[Filter, ...] = ()
    checks: tuple[Check, ...] = ()

    def names(self) -> Sequence[str]:
        """The name and its aliases."""
        return (self.name, *self.aliases)

    @model_validator(mode="after")
    def _names_its_own_fields(self) -> Self:
        used = set(self.columns)
        used |= {name for fact in self.facts.values() for name in (fact.field, fact.other) if name}
        conditions = [*(one.when for one in self.facts.values()), *(one.where for one in self.filters)]
        used |= {condition.field for group in conditions for condition in group}
        for check in self.checks:
            used |= check.named_fields
        unknown = sorted(used - set(self.fields))
        if unknown:
            raise ValueError(f"there is no field {', '.join(unknown)} among the fields")
        ids = [check.id for check in self.checks]
        if len(set(ids)) < len(ids):
            raise ValueError("two checks have the same id")
        return self
