"""What is kept of every tool call: who did what to which nodes, and how it ended. Nothing of what was said or seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from pydantic import BaseModel, Field


class Verdict(StrEnum):
    """How a tool call ended."""

    DONE = "done"
    #: some of what was asked for was done
    PARTLY = "partly"
    FAILED = "failed"
    #: by the mode, the project, the guard, the budget or the user's privileges; nothing was carried out
    REFUSED = "refused"
    #: the turn ended while it ran
    INTERRUPTED = "interrupted"


@dataclass(frozen=True)
class ToolCall:
    """One tool call. `targets` are names of nodes, links and the like; `seconds` is how long it took."""

    time: datetime
    user_id: str
    username: str
    project_id: str
    project_name: str
    mode: str
    tool: str
    targets: Sequence[str]
    verdict: Verdict
    seconds: float


class AuditEntry(BaseModel):
    """One tool call."""

    id: int
    time: str = Field(description="When it ended, in UTC.")
    user_id: str
    username: str
    project_id: str
    project_name: str
    mode: str
    tool: str
    targets: list[str] = Field(description="Names of the nodes, links and so on.")
    verdict: Verdict
    seconds: float


class AuditAnswer(BaseModel):
    """A page of calls, the newest first."""

    calls: list[AuditEntry]
    next_before: int | None = Field(description="Give this as `before` for the next page; null on the last one.")


class AuditFilter(BaseModel):
    """Which calls are asked for. Every field narrows."""

    user_id: str | None = None
    project_id: str | None = None
    tool: str | None = None
    target: str | None = None
    verdict: Verdict | None = None
    since: datetime | None = None
    until: datetime | None = None
