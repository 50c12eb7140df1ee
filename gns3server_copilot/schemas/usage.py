"""Answers about usage."""

from __future__ import annotations

from datetime import date

from pydantic import BaseModel, Field


class UsageFigures(BaseModel):
    """What was used."""

    turns: int = Field(description="Questions that were put to the model, whether they were answered or not.")
    model_calls: int
    input_tokens: int
    output_tokens: int


class UsageDay(UsageFigures):
    """What one user has used of one configuration on one day."""

    user_id: str
    username: str
    config_id: str
    config_name: str | None = Field(description="Null when the configuration is deleted.")
    day: date = Field(description="In UTC.")


class UsageAnswer(BaseModel):
    """The figures asked for, the latest days first, and their sum."""

    usage: list[UsageDay]
    total: UsageFigures
