"""A project's nodes, links and drawings, straight from gns3-server's controller.

Before every model call the topology is read anew. Through the API that is three requests, each with its validation,
its own look at the user and an encoding of all ports: ten times what the reading itself takes. The rights are looked
at here as the API's own dependencies do, by the same code of gns3-server.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from uuid import UUID

from gns3server.controller import Controller
from gns3server.db.repositories.rbac import RbacRepository
from sqlalchemy.ext.asyncio import AsyncSession

from gns3server_copilot.errors import GNS3Error, NotAuthenticatedError
from gns3server_copilot.gns3.login import user_of
from gns3server_copilot.utils.uncancelled import uncancelled

LOGIN_ENDED = "The GNS3 login has ended or is not valid. Log in to GNS3 again."


@dataclass(frozen=True)
class Canvas:
    """The three lists as the API gives them (`GET /projects/<id>/nodes` and so on)."""

    nodes: list[dict[str, Any]]
    links: list[dict[str, Any]]
    drawings: list[dict[str, Any]]


@uncancelled
async def read_canvas(app: Any, token: str, project_id: str) -> Canvas:
    """Read a project as the token's user may see it; without the right to its drawings there are none.

    Raises GNS3Error with the status that the API would answer: 401, 403, 404.
    """
    sees_drawings = await _rights(app, token, f"/projects/{project_id}")
    project = Controller.instance().projects.get(project_id)
    if project is None:
        raise GNS3Error(f"Project {project_id} does not exist.", HTTPStatus.NOT_FOUND.value)
    await project.wait_loaded()
    drawings = list(project.drawings.values()) if sees_drawings else []
    # a large drawing is kept in a file, which is read for its dict
    as_dicts = await asyncio.to_thread(_as_dicts, drawings) if drawings else []
    return Canvas(_as_dicts(project.nodes.values()), _as_dicts(project.links.values()), as_dicts)


async def _rights(app: Any, token: str, project: str) -> bool:
    """Raise GNS3Error unless the token's user may see nodes and links, and tell whether also drawings."""
    try:
        user = await user_of(app, token)
    except NotAuthenticatedError:
        raise GNS3Error(LOGIN_ENDED, HTTPStatus.UNAUTHORIZED.value) from None
    if user.is_superadmin:
        return True
    async with AsyncSession(app.state._db_engine, expire_on_commit=False) as session:
        rbac, user_id = RbacRepository(session), UUID(user.user_id)
        for kind in ("Node", "Link"):
            if not await rbac.check_user_has_privilege(user_id, f"{project}/{kind.lower()}s", f"{kind}.Audit"):
                raise GNS3Error(f"Permission denied (privilege {kind}.Audit is required)", HTTPStatus.FORBIDDEN.value)
        sees_drawings: bool = await rbac.check_user_has_privilege(user_id, f"{project}/drawings", "Drawing.Audit")
        return sees_drawings


def _as_dicts(values: Any) -> list[dict[str, Any]]:
    # a closed project's are dicts already
    return [value if isinstance(value, dict) else value.asdict() for value in values]
