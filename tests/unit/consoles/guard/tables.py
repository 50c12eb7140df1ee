"""Reads the tables of lines in `lines/`, one file for each family, and the families' own rules.

A table has the sections `[read]`, `[config]` and `[vpcs]`. `+ line` is allowed and sent as it stands, `+ line => other`
as the other one, `- line` is refused. `\\n`, `\\t`, `\\xNN` and `\\uNNNN` stand for such characters. `#` begins
a comment.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

import yaml

from gns3server_copilot.consoles.guard import FamilyGuard
from gns3server_copilot.knowledge.schemas.guard import GuardRules

LINES = Path(__file__).parent / "lines"
ESCAPE = re.compile(r"\\(?:[nrt]|x[0-9a-f]{2}|u[0-9a-f]{4})")


@dataclass(frozen=True)
class Row:
    family: str
    section: str
    allowed: bool
    line: str
    sent: str

    def __str__(self) -> str:
        return (
            f"{self.family}-{self.section}-{'+' if self.allowed else '-'}-{self.line.encode('unicode_escape').decode()}"
        )


#: The families that have rules, and those that have a table.
FAMILIES = sorted(
    path.name.removesuffix(".yaml") for path in files("gns3server_copilot.knowledge").joinpath("families").iterdir()
)
TABLES = sorted(path.stem for path in LINES.glob("*.txt") if path.stem != "everywhere")


def rows(family: str) -> list[Row]:
    section = ""
    found = []
    for text in (LINES / f"{family}.txt").read_text(encoding="utf-8").split("\n"):
        if text.startswith("["):
            section = text.strip("[]")
        elif text[:2] in ("+ ", "- "):
            line, _, sent = text[2:].partition(" => ")
            line = ESCAPE.sub(lambda escape: escape[0].encode().decode("unicode_escape"), line)
            found.append(Row(family, section, text[0] == "+", line, sent or line.split("\n")[-1].strip()))
        else:
            assert not text or text.startswith("#"), f"{family}: {text}"
    return found


@cache
def family_rules(family: str) -> GuardRules:
    text = files("gns3server_copilot.knowledge").joinpath("families", f"{family}.yaml").read_text(encoding="utf-8")
    return GuardRules.model_validate(yaml.safe_load(text)["guard"])


@cache
def family_guard(family: str) -> FamilyGuard:
    return FamilyGuard(family_rules(family))
