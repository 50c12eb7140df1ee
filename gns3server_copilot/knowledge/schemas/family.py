"""A family of devices: how its console looks and is spoken to, as data (docs/families.md explains every field).

Patterns are Python regular expressions. Those of prompts must match a whole last line, without its trailing spaces; all
others are searched.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from pydantic import Field

from gns3server_copilot.knowledge.guard_override import tightens
from gns3server_copilot.knowledge.schemas.base import KnowledgeFile, KnowledgeModel
from gns3server_copilot.knowledge.schemas.guard import GuardRules
from gns3server_copilot.settings import Settings

Pattern = re.Pattern[str]


class Hints(KnowledgeModel):
    """How a node of the family is recognised when nobody has said what it is."""

    node_types: tuple[str, ...] = Field((), description="Emulators that run nothing else, such as vpcs.")
    names: tuple[Pattern, ...] = Field((), description="Searched in names of templates and disk images, in any case.")
    console: tuple[Pattern, ...] = Field((), description="Searched in what the console shows, line by line.")


class Prompts(KnowledgeModel):
    """The prompts by state. What a family does not have is left out."""

    user: Pattern | None = Field(None, description="Fewer rights than `privileged`; `console.privileged` leads out.")
    privileged: Pattern = Field(description="Where show commands are typed.")
    config: Pattern | None = None
    shell: Pattern | None = Field(None, description="A shell below the command line; `console.shell` leads out.")
    config_banner: Pattern | None = Field(
        None, description="The banner above a prompt of the configuration mode, where the prompt itself is the same."
    )
    banner: Pattern | None = Field(None, description="A line of its own that belongs to the prompt below it.")


class Answer(KnowledgeModel):
    """A question that has one right answer."""

    question: Pattern
    answer: str = ""
    enter: bool = Field(True, description="Whether Enter follows the answer.")


class Step(KnowledgeModel):
    """A command that the copilot types by itself, and the questions that it is known to ask."""

    command: str
    answers: tuple[Answer, ...] = ()


class Pager(KnowledgeModel):
    """A prompt between two pages."""

    prompt: Pattern
    more: str = Field(" ", description="The key for the next page.")


class Credentials(KnowledgeModel):
    """A login that new devices of the family take."""

    username: str
    password: str = ""


class Login(KnowledgeModel):
    """The prompts of a login, and what new devices take."""

    username: Pattern = re.compile(r"(?i)\b(?:login|username|user name|user)\s*:\s*$")
    password: Pattern = re.compile(r"(?i)\bpass(?:word|code|phrase)\b[^:]{0,60}:\s*$")
    defaults: tuple[Credentials, ...] = Field((), max_length=2)


class Configuration(KnowledgeModel):
    """The configuration mode. Without `enter`, configuration is typed at the privileged prompt."""

    enter: Step | None = None
    leave: Step | None = Field(None, description="The whole way out, from any depth.")
    inside: str | None = Field(
        None,
        description="How a show command is typed within it, `{command}` standing for it; without it, it cannot be.",
    )
    pending: Pattern | None = Field(
        None, description="What the device says on entering when changes of somebody else wait for a commit."
    )
    commit: Step | None = Field(None, description="Makes the changes effective; nothing is before.")
    discard: Step | None = Field(None, description="Forgets changes that were not committed.")


class Save(Step):
    """Makes the running configuration outlive a restart."""

    in_configuration: bool = Field(False, description="Whether it is typed within the configuration mode.")


class RunningConfig(KnowledgeModel):
    """Shows the running configuration."""

    command: str
    volatile: tuple[Pattern, ...] = Field((), description="Lines that differ between two looks without a change.")


class ConsoleRules(KnowledgeModel):
    """Everything about the console."""

    enter: str = Field("\r", description="What the Enter key sends.")
    prompts: Prompts
    look_key: str = Field("", description="A key that repaints the line and does nothing else, in every state.")
    pagers: tuple[Pager, ...] = ()
    quit_pager: str = "q"
    break_keys: tuple[str, ...] = Field(("\x03",), description="What ends a running command; tried in this order.")
    login: Login = Login()
    privileged: Step | None = Field(None, description="Leads from the user prompt to the privileged one.")
    shell: Step | None = Field(None, description="Leads from the shell prompt to the command line.")
    session: tuple[str, ...] = Field((), description="Typed at the beginning of a session: no paging, wide lines.")
    dialogs: tuple[Answer, ...] = Field((), description="Questions of a device that has just started.")
    configuration: Configuration = Configuration()
    save: Save | None = None
    keeps_changes: bool = Field(False, description="Whether changes outlive a restart without being saved.")
    running_config: RunningConfig | None = None
    errors: tuple[Pattern, ...] = Field((), description="Lines by which a device refuses what was typed.")
    status: Step | None = Field(None, description="Prints the status of the last command; 0 is success.")
    press_return: tuple[Pattern, ...] = (
        re.compile(r"(?i)press\s+(?:<?(?:return|enter)>?|any key)\s+to\s+(?:get|contin|activ|beg)"),
    )
    boot_loader: tuple[Pattern, ...] = (
        re.compile(r"^rommon(?: ?#?\d+)? ?>"),
        re.compile(r"^(?:loader|\(boot\)|switch|grub|minibios|u-boot|=)\s?>"),
        re.compile(r"^(?:switch: ?|Aboot# ?)$"),
    )


class Family(KnowledgeFile):
    """One file of knowledge/families."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    title: str = Field(description="For people: vendor and system.")
    aliases: tuple[str, ...] = Field((), description="Other names by which people and models call it.")
    netmiko: tuple[str, ...] = Field((), description="Its names in netmiko and in GNS3's appliance files.")
    hints: Hints = Hints()
    console: ConsoleRules
    guard: GuardRules = GuardRules()

    def names(self) -> Sequence[str]:
        """Give the names by which a device's declared type may call the family."""
        return (self.name, *self.aliases, *self.netmiko)

    def check_override(self, packaged: Family | None, settings: Settings) -> Sequence[str]:
        """Give what an admin's file would allow that the packaged one refuses, unless that is trusted."""
        if packaged is None or settings.trust_guard_overrides:
            return ()
        return tightens(packaged.guard, self.guard)

    def forbidden_commands(self) -> int:
        """Count the beginnings of lines that are refused."""
        return sum(len(patterns) for patterns in self.guard.config.refuse.values())
