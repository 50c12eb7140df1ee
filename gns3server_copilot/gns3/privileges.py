"""What gns3-server lets a user do right now: asked anew each time, since an admin may change it during a turn."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from gns3server.db.repositories.rbac import RbacRepository
from gns3server.db.repositories.users import UsersRepository
from sqlalchemy.ext.asyncio import AsyncSession


async def has_privilege_now(app: Any, user_id: str, resource: str, privilege: str) -> bool:
    """Tell whether the user exists, is active, and has this privilege on a resource such as `/projects/{id}`."""
    async with AsyncSession(app.state._db_engine, expire_on_commit=False) as session:
        user = await UsersRepository(session).get_user(UUID(user_id))
        if user is None:
            return False
        if user.is_superadmin:
            return True
        if not user.is_active:
            return False
        granted: bool = await RbacRepository(session).check_user_has_privilege(user.user_id, resource, privilege)
    return granted
