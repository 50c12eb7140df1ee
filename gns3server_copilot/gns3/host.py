"""What we read of gns3-server itself and not through its API: what has nothing to do with a user's rights."""

from __future__ import annotations

import os
from typing import Any

from gns3server.compute.notification_manager import NotificationManager
from gns3server.controller import Controller
from gns3server.db.models import User
from sqlalchemy import select

from gns3server_copilot.gns3.topology import LOCAL
from gns3server_copilot.utils.reading import read


async def user_ids(app: Any) -> set[str]:
    """Give the ids of all users there are, as UUID text with dashes."""
    users = select(User.user_id)
    return await read(app.state._db_engine, lambda connection: {str(one) for one in connection.scalars(users)})


def is_opened(project_id: str) -> bool:
    """Tell whether the project exists and is open now."""
    project = Controller.instance().projects.get(project_id)
    return project is not None and project.status == "opened"


def compute_host(compute_id: str) -> str | None:
    """Give the address at which the controller reaches a compute; None for its own and for unknown ones."""
    compute = Controller.instance().computes.get(compute_id)
    return None if compute is None or compute_id == LOCAL else str(compute.host)


def project_folders() -> list[str]:
    """Give the directories of all projects, opened or not. May be called in any thread."""
    return [project.path for project in list(Controller.instance().projects.values())]


def has_own_folder(project_id: str) -> bool:
    """Tell whether the project's directory is no other project's. Blocks.

    gns3-server lets whoever may modify a project set its directory to another one's; the one that is named after the
    directory is then its owner.
    """
    projects = dict(Controller.instance().projects)
    own = os.path.realpath(projects.pop(project_id).path)
    return os.path.basename(own) == project_id or own not in {os.path.realpath(one.path) for one in projects.values()}


def wake_notification_streams() -> None:
    """Have every stream of gns3-server's notifications look up now: of a stop they learn at a ping, every 5 s."""
    usage = dict.fromkeys(("cpu_usage_percent", "memory_usage_percent", "disk_usage_percent"), 0)
    NotificationManager.instance().emit("ping", usage)
    notification = Controller.instance().notification
    notification.controller_emit("ping", usage)
    notification.project_emit("ping", usage)
