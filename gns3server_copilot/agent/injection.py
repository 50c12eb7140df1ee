"""Whether a turn that was to put a fault into the lab has done so.

The fault dialog of the GNS3 web UI takes the `done` event for success, whatever the answer says.
"""

from __future__ import annotations

import json

from langchain_core.messages import ToolMessage

from gns3server_copilot.agent.turn import Turn
from gns3server_copilot.errors import CopilotError, InvalidRequestError
from gns3server_copilot.tools.registry import ALL_TOOLS

NOTHING_APPLIED = "No fault was put in: nothing in the lab was changed. The answer in this conversation may say why."


def failure(turn: Turn) -> CopilotError | None:
    """Give why an injection has failed; None when at least one change to the lab has succeeded."""
    read_only = {tool.name for tool in ALL_TOOLS if tool.read_only}
    results = [one for one in turn.produced if isinstance(one, ToolMessage) and one.name not in read_only]
    return None if any(map(_has_changed_something, results)) else InvalidRequestError(NOTHING_APPLIED)


def _has_changed_something(result: ToolMessage) -> bool:
    # by the count: of three changes two may have failed, and the third is a fault all the same
    response = json.loads(str(result.content))
    return bool(response["successful"])
