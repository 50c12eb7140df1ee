"""What the guard allows and refuses on a family's devices."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class GuardRules(BaseModel):
    """The rules of a family's file."""

    model_config = ConfigDict(extra="forbid", frozen=True)
