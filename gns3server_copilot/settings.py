"""The `[Copilot]` section of gns3_server.conf."""

from __future__ import annotations

import configparser
from collections.abc import Iterable
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from gns3server_copilot.errors import SettingsError
from gns3server_copilot.schemas.url_patterns import UrlPattern, parse_patterns

SECTION = "Copilot"
DEFAULT_KNOWLEDGE_PATH = "copilot"

Seconds = Annotated[float, Field(gt=0)]
Count = Annotated[int, Field(ge=1)]


def _patterns(text: str) -> str:
    parse_patterns(text)
    return text


def _switch(value: object) -> str:
    word = str(value).lower()
    return {"1": "true", "yes": "true", "on": "true", "0": "false", "no": "false", "off": "false"}.get(word, word)


Switch = Annotated[Literal["auto", "true", "false"], BeforeValidator(_switch)]

UrlPatterns = Annotated[str, AfterValidator(_patterns)]


class Settings(BaseModel):
    """All settings with their defaults. Each is described in docs/configuration.md (a test compares the two)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    enabled: bool = Field(True, description="Load the copilot with the server.")
    topology_tool_everywhere: bool = Field(
        False,
        description="Offer the topology tool in every mode. Without it the teaching and automation modes see the "
        "topology in their prompt only.",
    )
    heartbeat_seconds: Seconds = Field(
        10.0, description="Longest silence of an event stream before a heartbeat event, in seconds (at most 15).", le=15
    )
    max_turns_per_user: Count = Field(5, description="Turns that one user may have running at once.")
    max_turns: Count = Field(100, description="Turns that the server runs at once.")
    tool_rounds: Count = Field(25, description="Rounds of tool calls in one turn.")
    injection_tool_rounds: Count = Field(100, description="Rounds of tool calls in one fault injection turn.")
    model_idle_seconds: Seconds = Field(
        60.0, description="Longest wait for the model's next piece of an answer, in seconds."
    )
    detached_turn_seconds: Seconds = Field(
        120.0,
        description="How long a turn goes on without a reader, in seconds, when the request said "
        "on_disconnect = continue.",
    )
    idle_project_seconds: Seconds = Field(
        1800.0, description="A project's chat database is closed after this many seconds without use."
    )
    console_command_seconds: Seconds = Field(
        60.0, description="Longest time that one command on a device may take, in seconds; then it is interrupted."
    )
    console_wait_seconds: Seconds = Field(
        20.0, description="Longest wait for a device's console that another chat is using, in seconds."
    )
    allowed_base_urls: UrlPatterns = Field(
        "*",
        description="Where users who are not superadmins may point configurations: URL patterns with commas between "
        "them, like https://*.example.com or http://10.0.0.5:*/v1. The providers' own addresses count as well.",
    )
    aws_ambient_credentials: bool = Field(
        False,
        description="Let configurations of the provider aws that hold no credentials use those of the server itself "
        "(its environment, its AWS files, its instance's role).",
    )

    knowledge_path: str = Field(
        DEFAULT_KNOWLEDGE_PATH,
        description="The directory whose files override and add to the copilot's prompts, device families and so on; "
        "a relative path starts at the server's configuration directory.",
        min_length=1,
    )
    trust_guard_overrides: bool = Field(
        False,
        description="Let files in knowledge_path also loosen what may be sent to devices. Without it they can only "
        "tighten it.",
    )

    redact_secrets: Switch = Field(
        "auto",
        description="Take passwords, keys and the like out of what devices say before a model, a stream or a history "
        "gets it. auto: unless the model runs on the server's own machine.",
    )
    audit_days: Count = Field(90, description="How long the audit log of tool calls is kept, in days.")

    @property
    def base_url_patterns(self) -> tuple[UrlPattern, ...]:
        """The patterns of `allowed_base_urls`."""
        return parse_patterns(self.allowed_base_urls)


def load_settings(files: Iterable[str]) -> Settings:
    """Read the `[Copilot]` section as gns3-server reads its own: later files win.

    `files` are gns3-server's configuration files in its own order; unreadable ones are skipped, as it does.
    Raises SettingsError that names the wrong setting.
    """
    parser = configparser.ConfigParser(interpolation=None, default_section="")
    try:
        parser.read(list(files), encoding="utf-8")
    except (configparser.Error, UnicodeDecodeError) as error:
        first_line = str(error).splitlines()[0]
        raise SettingsError(f"gns3_server.conf cannot be read: {first_line}") from error
    values = dict(parser[SECTION]) if parser.has_section(SECTION) else {}
    try:
        return Settings.model_validate(values)
    except ValidationError as error:
        wrong = "; ".join(_wrong(one["loc"], one["type"], one["msg"]) for one in error.errors())
        raise SettingsError(f"gns3_server.conf, section [{SECTION}]: {wrong}.") from None


def _wrong(loc: tuple[int | str, ...], kind: str, message: str) -> str:
    name = loc[0]
    return f"there is no setting {name}" if kind == "extra_forbidden" else f"{name}: {message}"
