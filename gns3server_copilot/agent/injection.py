"""Whether a turn that was to put a fault into the lab has done so.

The fault dialog of the GNS3 web UI takes the `done` event for success, whatever the answer says.
"""

from __future__ import annotations

import json

from langchain_core.messages import ToolMessage

from gns3server_copilot.agent.turn import Turn
from gns3server_copilot.errors import CopilotError, InvalidRequestError

NOTHING_APPLIED = "No fault was put in: nothing in the lab was changed. The answer in this conversation may say why."


def failure(turn: Turn) -> CopilotError | None:
    """Give why an injection has failed; None when at least one change has been applied to the lab."""
    results = [one for one in turn.produced if isinstance(one, ToolMessage)]
    return None if any(map(_has_applied_something, results)) else InvalidRequestError(NOTHING_APPLIED)


def _has_applied_something(result: ToolMessage) -> bool:
    # reading and trying succeed too, and of three changes two may have failed: so the tools say of each item
    return any(item.get("applied") for item in json.loads(str(result.content))["data"])
