"""Whether a turn that was to put a fault into the lab has done so.

The fault dialog of the GNS3 web UI takes the `done` event for success, whatever the answer says.
"""

from __future__ import annotations

from typing import Any

from gns3server_copilot.agent.turn import Turn
from gns3server_copilot.errors import CopilotError, InvalidRequestError

NOTHING_APPLIED = "No fault was put in: nothing in the lab was changed. The answer in this conversation may say why."


def failure(turn: Turn) -> CopilotError | None:
    """Give why an injection has failed; None when at least one change has been applied to the lab."""
    return None if turn.applied else InvalidRequestError(NOTHING_APPLIED)


def has_applied(response: dict[str, Any]) -> bool:
    """Tell whether a tool has put something into the lab. Not to be asked of its text, from which much may be cut."""
    # reading and trying succeed too, and of three changes two may have failed: so the tools say of each item
    return any(item.get("applied") for item in response["data"])
