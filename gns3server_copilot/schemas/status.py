"""What `GET /v3/copilot/status` answers."""

from __future__ import annotations

from pydantic import BaseModel, Field


class StatusAnswer(BaseModel):
    """The state of the copilot on this server, as far as any active user may know it."""

    version: str = Field(description="Version of the plugin.")
    knowledge: dict[str, int] = Field(description="How many data files of each kind are loaded.")
    providers: list[str] = Field(description="Providers whose package is installed.")
    llm_configured: bool = Field(description="Whether the caller has a language model to chat with.")
