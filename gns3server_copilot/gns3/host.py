"""What we read of gns3-server itself and not through its API: what that has no route for."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from gns3server.controller import Controller
from gns3server.db.models import User
from gns3server.db.repositories.rbac import RbacRepository
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession


async def user_ids(app: Any) -> set[str]:
    """Give the ids of all users there are, as UUID text with dashes."""
    async with app.state._db_engine.connect() as connection:
        return {str(user_id) for user_id in await connection.scalars(select(User.user_id))}


def is_opened(project_id: str) -> bool:
    """Tell whether the project exists and is open now."""
    project = Controller.instance().projects.get(project_id)
    return project is not None and project.status == "opened"


async def is_granted(app: Any, user_id: str, resource: str, privilege: str) -> bool:
    """Tell whether gns3-server grants the user, who is no superadmin, this privilege on e.g. `/projects/{id}`."""
    async with AsyncSession(app.state._db_engine, expire_on_commit=False) as session:
        granted: bool = await RbacRepository(session).check_user_has_privilege(UUID(user_id), resource, privilege)
    return granted
