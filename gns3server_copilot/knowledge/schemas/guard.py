"""What the guard allows and refuses on a family's devices (docs/guard.md explains every field for admins).

A pattern is a line of words. A word stands for itself and, where the family abbreviates, for its beginnings; `a|b` for
either; `=word` for itself alone; `~regex` for a word that matches wholly; `<host>`, `<number>`, `<word>` for such a
word; `*` for any word, `...` for any number of words, `$` for the end of a pattern that otherwise goes on.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from gns3server_copilot.knowledge.guard_patterns import check_pattern, check_value

#: Why something is refused. Each has its sentence, with what to do by hand instead, in consoles/guard/reasons.py.
Category = Literal[
    "restarts",
    "erases",
    "files",
    "boots",
    "users",
    "access",
    "shells",
    "sessions",
    "modes",
    "multiline",
    "later",
    "floods",
    "resets",
    "saves",
    "asks",
]


PatternText = Annotated[str, AfterValidator(check_pattern)]
ValueText = Annotated[str, AfterValidator(check_value)]
Refusals = dict[Category, tuple[PatternText, ...]]


class Rules(BaseModel):
    """Base of the guard's parts: unknown keys are mistakes."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Program(Rules):
    """A command of which every option is known: ping and traceroute everywhere, everything on Linux."""

    flags: str = Field("", description="Letters of short options without a value, which may stand together: -tln.")
    options: dict[str, ValueText] = Field(
        default_factory=dict,
        description="Option to its values: `flag` for none, else one of host, word, number, `1-20`, ~regex for each.",
    )
    words: tuple[PatternText, ...] = Field(("",), description="What else may stand on the line, one pattern of these.")
    needs: tuple[str, ...] = Field((), description="Options of which one has to be given where there is no other word.")
    without: tuple[str, ...] = Field((), description="Words that may not stand on the line.")
    add: dict[str, str] = Field(default_factory=dict, description="Options put in with this value where not given.")
    add_first: bool = Field(False, description="Whether these stand before the other words.")
    stop_after: int | None = Field(
        None, ge=1, le=60, description="Seconds after which it must be broken off: it has no bound of its own."
    )


class ReadRules(Rules):
    """The read tool: what is not allowed is refused."""

    commands: tuple[str, ...] = Field(
        (), description="All first words, for telling which abbreviations are unambiguous."
    )
    allow: tuple[PatternText, ...] = Field((), description="Whole lines, without what follows a pipe.")
    refuse: Refusals = Field(default_factory=dict, description="Beginnings of lines, refused though `allow` has them.")
    filters: dict[str, ValueText] = Field(
        default_factory=dict,
        description="What may follow a pipe: `flag`, `pattern`, `optional`, or values as in options.",
    )
    bad_filters: tuple[str, ...] = Field((), description="Other words that can follow a pipe, for abbreviations.")
    alternation: Literal["no", "bare", "quoted"] = Field(
        "no", description="Where `a|b` in a filter's pattern means either: nowhere, anywhere, in quotes."
    )
    programs: dict[str, Program] = Field(default_factory=dict)
    characters: str = Field("", description="Characters that no line may have, besides those refused everywhere.")


class ConfigRules(Rules):
    """The configuration tool: what is not refused is allowed, but on Linux, where only `programs` are."""

    allow: tuple[PatternText, ...] = Field((), description="If not empty: beginnings of lines; all others are refused.")
    refuse: Refusals = Field(default_factory=dict, description="Beginnings of lines.")
    characters: str = Field("", description="Characters that no line may have.")
    quotes: str = Field("", description="Quotes that need a second one, or the device would ask for more lines.")
    tree: bool = Field(False, description="Whether a line about a branch is one about all below it: delete system.")
    keywords: tuple[str, ...] = Field((), description="Words that are no abbreviations of refused ones.")
    negations: tuple[str, ...] = Field((), description="Words before a line: the rest is judged too.")
    modes: tuple[PatternText, ...] = Field((), description="Beginnings of lines after which one `exit` is in place.")
    inner_modes: tuple[PatternText, ...] = Field((), description="The same, one level deeper.")
    inside: tuple[PatternText, ...] = Field((), description="Beginnings of lines that are refused outside such modes.")
    exit: tuple[str, ...] = Field((), description="Leaves such a mode; refused where there is none to leave.")
    leave: tuple[str, ...] = Field((), description="Leaves the configuration mode; taken as the last line only.")
    programs: dict[str, Program] = Field(default_factory=dict)


class GuardRules(Rules):
    """The key `guard` of a family's file. Left out, nothing is allowed."""

    language: Literal["words", "menus", "shell", "vpcs"] = Field(
        "words", description="How a line is read: words that may be abbreviated, RouterOS menus, a shell's, VPCS."
    )
    abbreviations: bool = True
    comments: tuple[str, ...] = Field((), description="What a line begins with that the device does not run.")
    runs: tuple[str, ...] = Field((), description="Words before a command of the upper mode: do, run.")
    read: ReadRules = ReadRules()
    config: ConfigRules = ConfigRules()
