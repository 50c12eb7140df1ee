"""Asks gns3-server whether a user may do what its API does not check because we do it ourselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gns3server_copilot.schemas.identity import User

if TYPE_CHECKING:
    from gns3server_copilot.gns3.client import GNS3Client


async def may_read_console(client: GNS3Client, user: User, project_id: str, node_id: str) -> bool:
    """Tell whether the user holds `Node.Console` on the node now; consoles are reached around the API."""
    if user.is_superadmin:
        return True
    # Imported here because outside of gns3-server (command line, documentation) it takes more than a second.
    from gns3server_copilot.gns3.host import is_granted

    return await is_granted(client.app, user.user_id, f"/projects/{project_id}/nodes/{node_id}", "Node.Console")
