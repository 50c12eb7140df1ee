"""What can be set for a node of a project, and what is answered about it."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr


def _one_line(text: str) -> str:
    if not text.isprintable():
        raise ValueError("must be one line without control characters")
    return text


def _secret_line(secret: SecretStr) -> SecretStr:
    _one_line(secret.get_secret_value())
    return secret


Line = Annotated[str, Field(max_length=200), AfterValidator(_one_line)]
Secret = Annotated[SecretStr, Field(max_length=200), AfterValidator(_secret_line)]


class DeviceSettingChange(BaseModel):
    """What to set for a node: what is left out stays as it is, null clears it. Secrets are never given back."""

    model_config = ConfigDict(extra="forbid")

    family: Line | None = Field(None, description="Name or alias of a family, or null: it is found out.")
    username: Line | None = Field(None, description="For a login at the console.")
    password: Secret | None = Field(None, description="For a login at the console; may be empty.")
    enable_password: Secret | None = Field(None, description="For what a user prompt does not allow.")


class DeviceConsole(BaseModel):
    """A node's console as gns3-server tells it."""

    type: str
    port: int | None


class DeviceAnswer(BaseModel):
    """A node, and what the copilot takes it for."""

    node_id: str
    name: str
    status: str
    family: str | None = Field(description="Null when only the console can tell.")
    found_by: str = Field(description="How the family was found.")
    console: DeviceConsole
    usable: bool = Field(description="Whether the node has a command line that the copilot can use now.")
    problem: str | None = Field(description="Why it has not.")
    has_credentials: bool


class DeviceList(BaseModel):
    """All nodes of a project, and the families that can be set."""

    devices: list[DeviceAnswer]
    families: list[str]
