"""Requests and answers of the chat routes (docs/developer/http-api.md)."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, StrictBool, model_validator

from gns3server_copilot.schemas.modes import Mode
from gns3server_copilot.schemas.titles import Title
from gns3server_copilot.schemas.unicode import ValidText


class ChatRequest(BaseModel):
    """One question. Unknown keys are ignored, as the web UI of another version may send them."""

    message: ValidText = Field(description="What the person asks; at most 100,000 characters.")
    session_id: UUID | None = Field(None, description="The conversation to go on with; a new id begins one.")
    stream: bool = Field(True, description="False: one JSON answer when the turn is over.")
    temperature: Annotated[float, Field(ge=0, le=2, allow_inf_nan=False)] | None = Field(
        None, description="Instead of the configuration's, for this turn."
    )
    mode: Literal["text"] = "text"
    copilot_mode: Mode | None = Field(None, description="Instead of the configuration's, for this turn.")
    config_id: UUID | None = Field(None, description="Instead of the user's default configuration, for this turn.")
    on_disconnect: Literal["abort", "continue"] = Field(
        "abort", description="What the turn does when its last reader has left."
    )


class InjectRequest(ChatRequest):
    """A request for a fault. Everything may be left out."""

    message: ValidText = Field("", description="What fault to put in; without it one that the copilot chooses.")
    copilot_mode: Literal[Mode.INJECTION] | None = Field(None, description="No other mode is possible here.")


class SessionChange(BaseModel):
    """What a person changes of a conversation: at least one of the two."""

    model_config = ConfigDict(extra="forbid")

    title: Title | None = Field(None, description="At most 255 characters; no automatic title replaces it.")
    pinned: StrictBool | None = None

    @model_validator(mode="after")
    def _something(self) -> Self:
        if self.title is None and self.pinned is None:
            raise ValueError("give a title, pinned, or both")
        return self


class ChatAnswer(BaseModel):
    """A whole turn as one JSON object (`stream: false`)."""

    session_id: str
    message: str = Field(description="The text of the answer; parts between tool calls are paragraphs.")
    tool_calls: list[dict[str, Any]] = Field(description="The calls, in the order asked, each with its result.")
    usage: dict[str, Any]


class SessionAnswer(BaseModel):
    """A conversation as the lists show it. Times are ISO 8601 in UTC and end in `+00:00`."""

    id: int
    thread_id: str
    user_id: str
    project_id: str
    title: str
    message_count: int
    llm_calls_count: int
    input_tokens: int
    output_tokens: int
    total_tokens: int
    last_message_at: str | None
    created_at: str
    updated_at: str
    metadata: dict[str, Any]
    stats: dict[str, Any]
    pinned: bool
    running: bool = Field(description="Whether a turn is running in it now.")


class HistoryMessage(BaseModel):
    """A message in the OpenAI shape."""

    id: str
    role: Literal["user", "assistant", "system", "tool"]
    content: str
    created_at: str | None = None
    name: str | None = None
    tool_call_id: str | None = None
    tool_calls: list[dict[str, Any]] | None = None
    metadata: dict[str, Any] = {}


class HistoryAnswer(BaseModel):
    """A conversation's messages, the oldest first."""

    thread_id: str
    title: str
    messages: list[HistoryMessage]
    created_at: str
    updated_at: str
    llm_calls: int


class AbortAnswer(BaseModel):
    """Answer to an abort, also when nothing was running."""

    status: Literal["ok"] = "ok"
    session_id: str
