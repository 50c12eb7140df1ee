"""Who may: what every route asks before it does anything (docs/developer/http-api.md, "Who may").

Checks use database sessions of their own, closed before the answer begins. gns3-server's own dependencies keep
theirs open until a stream has ended, which costs a connection and a thread for each open chat; and its privilege
check derives the resource from the URL, which is the wrong one under /v3/copilot.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated
from uuid import UUID

from fastapi import Depends, Query, Request
from gns3server.api.routes.controller.dependencies.authentication import oauth2_scheme
from gns3server.controller import Controller
from gns3server.db.repositories.rbac import RbacRepository
from sqlalchemy.ext.asyncio import AsyncSession

from gns3server_copilot.api.runtime import Runtime
from gns3server_copilot.errors import (
    ForbiddenError,
    NoSuchSessionError,
    NotAuthenticatedError,
    NotFoundError,
    UnavailableError,
)
from gns3server_copilot.gns3.login import user_of
from gns3server_copilot.schemas.identity import ProjectRef, User

if TYPE_CHECKING:
    from gns3server_copilot.agent.service import AgentService


@dataclass(frozen=True)
class Caller:
    """The user behind a request and the token that came with it."""

    user: User
    token: str = field(repr=False)


def runtime(request: Request) -> Runtime:
    """Give what the plugin has set up for this application. Raises UnavailableError when its start failed."""
    set_up: Runtime | None = getattr(request.app.state, "copilot", None)
    if set_up is None:
        reason = getattr(request.app.state, "copilot_failure", "the server is still starting")
        raise UnavailableError(f"The copilot could not be started: {reason}")
    return set_up


async def caller(
    request: Request,
    bearer: Annotated[str | None, Depends(oauth2_scheme)] = None,
    token: Annotated[str | None, Query(include_in_schema=False)] = None,
) -> Caller:
    """Give the active user whose token came as bearer or as `?token=`; the bearer wins, as in gns3-server."""
    token = bearer or token
    if not token:
        raise NotAuthenticatedError("Not authenticated. Log in first.")
    user = await user_of(request.app, token)
    if set_up := getattr(request.app.state, "copilot", None):
        # whoever looks at conversations or configurations may soon ask something
        set_up.manager.get_ready()
    return Caller(user, token)


async def current_user(who: Annotated[Caller, Depends(caller)]) -> User:
    """Give the active user behind the request."""
    return who.user


async def superadmin(user: Annotated[User, Depends(current_user)]) -> User:
    """Give the user behind the request, who has to be a superadmin."""
    if not user.is_superadmin:
        raise ForbiddenError("Only a superadmin may do this.")
    return user


async def has_privilege(request: Request, user: User, resource: str, privilege: str) -> bool:
    """Tell whether gns3-server grants the user this privilege on this resource, e.g. `/projects/{id}`."""
    if user.is_superadmin:
        return True
    async with AsyncSession(request.app.state._db_engine, expire_on_commit=False) as session:
        granted: bool = await RbacRepository(session).check_user_has_privilege(UUID(user.user_id), resource, privilege)
    return granted


async def require_privilege(request: Request, user: User, resource: str, privilege: str) -> None:
    """Raise ForbiddenError unless gns3-server grants the user this privilege on this resource."""
    if not await has_privilege(request, user, resource, privilege):
        raise ForbiddenError(f"Permission denied (privilege {privilege} is required). An admin can grant it.")


@dataclass(frozen=True)
class ProjectChats:
    """The chats of the path's project, for the user who asks; what every chat route starts from."""

    user: User
    token: str = field(repr=False)
    project: ProjectRef
    runtime: Runtime

    async def existing_agent(self) -> AgentService | None:
        """Give the project's agent if the project has ever had a chat."""
        return await self.runtime.manager.existing_service(self.project)

    async def agent(self) -> AgentService:
        """Give the project's agent. Raises NoSuchSessionError when the project has never had a chat."""
        agent = await self.existing_agent()
        if agent is None:
            raise NoSuchSessionError
        return agent


async def project_chats(
    request: Request,
    project_id: UUID,
    who: Annotated[Caller, Depends(caller)],
    copilot: Annotated[Runtime, Depends(runtime)],
) -> ProjectChats:
    """Give the chats of the path's project, which must exist, be open, and be the user's to audit, at any prefix."""
    project = await _opened_project(request, project_id, who.user)
    return ProjectChats(who.user, who.token, project, copilot)


Chats = Annotated[ProjectChats, Depends(project_chats)]


async def _opened_project(request: Request, project_id: UUID, user: User) -> ProjectRef:
    await require_privilege(request, user, f"/projects/{project_id}", "Project.Audit")
    project = Controller.instance().projects.get(str(project_id))
    if project is None:
        raise NotFoundError(f"Project {project_id} does not exist.")
    if project.status != "opened":
        raise ForbiddenError(f"The project {project.name} is not opened. Open it, then ask again.")
    return ProjectRef(project.id, project.name, project.path)
