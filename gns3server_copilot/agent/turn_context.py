"""What belongs to the running turn alone: set when it starts, reset when it ends, never in the graph's state.

Whatever is in the state is in the checkpoint, and so on disk. Tools do not read these variables: they are handed a
`ToolContext`, because context variables do not reach worker processes and executor threads.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from gns3server_copilot.llm.config import LLMConfig
from gns3server_copilot.schemas.identity import ProjectRef, User
from gns3server_copilot.schemas.modes import Mode

if TYPE_CHECKING:
    from gns3server_copilot.agent.turn import Turn

jwt_token: ContextVar[str] = ContextVar("jwt_token")
llm_config: ContextVar[LLMConfig] = ContextVar("llm_config")
user: ContextVar[User] = ContextVar("user")
project: ContextVar[ProjectRef] = ContextVar("project")
mode: ContextVar[Mode] = ContextVar("mode")
turn: ContextVar[Turn] = ContextVar("turn")


@contextmanager
def turn_context(running: Turn) -> Iterator[None]:
    """Set all variables for a turn and reset them when it is over, however it ends."""
    values: list[tuple[ContextVar[Any], Any]] = [
        (jwt_token, running.request.token),
        (llm_config, running.request.config),
        (user, running.request.user),
        (project, running.request.project),
        (mode, running.request.mode),
        (turn, running),
    ]
    with ExitStack() as stack:
        for variable, value in values:
            stack.callback(variable.reset, variable.set(value))
        yield
