"""The route of the audit log."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Query, Request

from gns3server_copilot.api.dependencies import runtime, superadmin
from gns3server_copilot.api.routing import CopilotRoute
from gns3server_copilot.schemas.audit import AuditAnswer, AuditFilter, Verdict

router = APIRouter(prefix="/v3/copilot", route_class=CopilotRoute, tags=["Copilot"])


@router.get("/audit", dependencies=[Depends(superadmin)])
async def audit(
    request: Request,
    user_id: Annotated[UUID | None, Query(description="Only this user's.")] = None,
    project_id: Annotated[UUID | None, Query(description="Only in this project.")] = None,
    tool: Annotated[str | None, Query(description="Only of this tool.", max_length=64)] = None,
    node: Annotated[
        str | None, Query(description="Only about a node, link and so on of this name.", max_length=64)
    ] = None,
    verdict: Annotated[Verdict | None, Query(description="Only those that ended so.")] = None,
    since: Annotated[datetime | None, Query(description="From this time on; without a zone it is in UTC.")] = None,
    until: Annotated[datetime | None, Query(description="Up to this time.")] = None,
    limit: Annotated[int, Query(description="How many at most.", ge=1, le=500)] = 100,
    before: Annotated[int | None, Query(description="Only those with a smaller id: the next page.", ge=1)] = None,
) -> AuditAnswer:
    """Tool calls of all users, the newest first: who, what, where, and how it ended."""
    wanted = AuditFilter(
        user_id=str(user_id) if user_id else None,
        project_id=str(project_id) if project_id else None,
        tool=tool,
        target=node,
        verdict=verdict,
        since=_in_utc(since),
        until=_in_utc(until),
    )
    calls = await runtime(request).audit.read(wanted, limit=limit + 1, before=before)
    page = list(calls[:limit])
    return AuditAnswer(calls=page, next_before=page[-1].id if len(calls) > limit else None)


def _in_utc(time: datetime | None) -> datetime | None:
    return time.replace(tzinfo=UTC) if time is not None and time.tzinfo is None else time
