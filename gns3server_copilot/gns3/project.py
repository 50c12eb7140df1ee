"""Whether a project can be changed now."""

from __future__ import annotations

from gns3server_copilot.errors import ToolError
from gns3server_copilot.schemas.identity import ProjectRef


def require_open(project: ProjectRef) -> None:
    """Raise ToolError unless the project is open: a closed one can be read, but shows its nodes without their ports."""
    # Imported here because outside of gns3-server (command line, documentation) it takes more than a second.
    from gns3server_copilot.gns3.host import is_opened

    if not is_opened(project.project_id):
        raise ToolError("The project is not opened, so nothing was changed. Open it in GNS3, then ask again.")
