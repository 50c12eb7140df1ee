"""Answers about what the copilot knows."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field


class FileProblem(BaseModel):
    """A file, or a part of the admin's directory, that is left out."""

    file: str = Field(description="As `<kind>/<name>`.")
    line: int = Field(description="0 when it is no line's fault.")
    message: str


class ReloadAnswer(BaseModel):
    """What is loaded after a reload. The counts are of all files, packaged ones and an admin's own."""

    success: bool = Field(
        description="False when nothing could be loaded anew and what was loaded before stays. Files that are wrong by "
        "themselves are left out, are told in `errors`, and do not make it false."
    )
    skills: bool = Field(description="Whether there are any.")
    skill_count: int = Field(description="Device skills and areas of faults.")
    prompts: bool = Field(description="Whether there are any.")
    prompt_count: int
    protocols: bool = Field(description="Whether there are any.")
    protocol_count: int
    families: int = Field(description="How many device families.")
    faults: int = Field(description="How many areas of faults.")
    forbidden_commands: int = Field(description="Commands that the families keep from devices.")
    version: str = Field(description="Changes exactly when a loaded file does.")
    errors: list[FileProblem]


class KnowledgeEntry(BaseModel):
    """One loaded file."""

    key: str = Field(description="The file's name without its ending.")
    names: list[str] = Field(description="Further names by which tools find it.")
    source: Literal["packaged", "overridden", "added"] = Field(
        description="overridden: an admin's file in place of a packaged one; added: an admin's beside them."
    )


class KnowledgeAnswer(BaseModel):
    """Everything that is loaded, by kind."""

    version: str
    kinds: dict[str, list[KnowledgeEntry]]
    directory: str | None = Field(description="Where an admin's own files are looked for. Told to superadmins alone.")
    errors: list[FileProblem] | None = Field(description="What is left out, and why. Told to superadmins alone.")
