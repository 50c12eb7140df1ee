"""What every tool of the model is: a name, a flat schema of arguments, the modes it belongs to, and one async call.

A new tool is one module with a subclass of Tool, and one line in `tools.registry`. A tool knows nothing of modes,
project pins, validation, time or the model: `tools.dispatch` does that before and after `run`.
"""

from __future__ import annotations

import abc
import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Generic

from pydantic import BaseModel, ConfigDict

# typing's own TypeVar has no default before Python 3.13
from typing_extensions import TypeVar

from gns3server_copilot.knowledge.loader import packaged_knowledge
from gns3server_copilot.knowledge.snapshot import Knowledge
from gns3server_copilot.packets.worker import Analyses
from gns3server_copilot.schemas.audit import ToolCall
from gns3server_copilot.schemas.identity import ProjectRef, User
from gns3server_copilot.schemas.modes import Mode
from gns3server_copilot.settings import Settings
from gns3server_copilot.tools.schema import plain_schema
from gns3server_copilot.tools.scope import TurnScope

if TYPE_CHECKING:
    from gns3server_copilot.consoles.service import Consoles
    from gns3server_copilot.gns3.client import GNS3Client

BUILDING_MODES = frozenset({Mode.TEACHING, Mode.LAB_AUTOMATION})


@dataclass(frozen=True)
class ToolContext:
    """Who asks, about which project and in which mode, and the way to gns3-server as that user."""

    project: ProjectRef
    user: User
    mode: Mode
    gns3: GNS3Client
    settings: Settings
    #: what the turn's tools keep open between their calls
    scope: TurnScope = field(default_factory=TurnScope)
    #: what was loaded when the turn began, an admin's files included
    knowledge: Knowledge = field(default_factory=packaged_knowledge)
    #: the way to the devices' consoles
    consoles: Consoles | None = None
    #: whether secrets are taken out of what tools answer
    redact: bool = True
    #: gets a record of every call
    audit: Callable[[ToolCall], None] = field(default=lambda call: None)
    #: the server's worker processes for packet captures
    analyses: Analyses = field(default_factory=Analyses)


class ToolArguments(BaseModel):
    """Base of all arguments. Each field's description says what it is and ends with an example, `e.g. PC1`."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True, allow_inf_nan=False, populate_by_name=True)


ArgumentsT = TypeVar("ArgumentsT", bound=ToolArguments, default=Any)


class Tool(abc.ABC, Generic[ArgumentsT]):
    """A tool that the model can call."""

    name: ClassVar[str]
    #: For the model: what it does, when to use it, what comes back.
    description: ClassVar[str]
    arguments: type[ArgumentsT]
    modes: ClassVar[frozenset[Mode]]
    #: Calls of read-only tools may run side by side.
    read_only: ClassVar[bool]
    #: Whether its answers hold anything that comes from a lab. Those of others are our own texts, and stay as they are.
    tells_of_the_lab: ClassVar[bool] = True

    @abc.abstractmethod
    async def run(self, arguments: ArgumentsT, context: ToolContext) -> list[dict[str, Any]]:
        """Do it and give one item of `tools.response` for each thing asked for, in the order asked.

        One thing that fails is a failed item. Raises ToolError or GNS3Error when nothing at all could be done.
        """

    def offered(self, mode: Mode, settings: Settings) -> bool:
        """Whether the tool exists in `mode`."""
        return mode in self.modes

    def definition(self) -> dict[str, Any]:
        """Give the tool in the form that chat models take: a function with plain JSON Schema parameters.

        It is made once for each tool, since every model call takes all of them; callers must not change it.
        """
        return _definition(self)


@functools.cache
def _definition(tool: Tool) -> dict[str, Any]:
    arguments: type[ToolArguments] = tool.arguments
    return {
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.description,
            "parameters": plain_schema(arguments),
        },
    }
