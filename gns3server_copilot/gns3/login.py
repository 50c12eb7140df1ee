"""Who is behind a GNS3 login, looked up anew each time."""

from __future__ import annotations

from typing import Any

from fastapi import HTTPException
from gns3server.db.models import User as UserRow
from gns3server.services import auth_service
from sqlalchemy import bindparam, select

from gns3server_copilot.errors import NotAuthenticatedError
from gns3server_copilot.schemas.identity import User
from gns3server_copilot.utils.reading import read

# built once, and of the four columns that count: every request and every model call asks this
_USER = select(UserRow.user_id, UserRow.username, UserRow.is_active, UserRow.is_superadmin).where(
    UserRow.username == bindparam("username")
)


async def user_of(app: Any, token: str) -> User:
    """Give the active user whose token this is. Raises NotAuthenticatedError."""
    try:
        username = auth_service.get_username_from_token(token)
    except HTTPException:
        raise NotAuthenticatedError("The login is not valid or has expired. Log in again.") from None
    query = {"username": username}
    found = await read(app.state._db_engine, lambda connection: connection.execute(_USER, query).first())
    if found is None:
        raise NotAuthenticatedError("The user of this login does not exist any more.")
    if not (found.is_active or found.is_superadmin):
        raise NotAuthenticatedError("This user is not active. An admin can activate it.")
    return User(str(found.user_id), found.username, bool(found.is_superadmin))
