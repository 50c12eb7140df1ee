"""The project as the person who asks may see it: the one way in which prompts and the topology tool read it."""

from __future__ import annotations

from gns3server_copilot.gns3.topology import Topology, read_topology
from gns3server_copilot.tools.base import ToolContext


async def lab_view(context: ToolContext) -> Topology:
    """Read the topology as it is now. Raises GNS3Error where the person may not see it."""
    return await read_topology(context.gns3, context.project.project_id)
