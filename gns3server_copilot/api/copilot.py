"""The routes that belong to no project: what the copilot is and can do here."""

from __future__ import annotations

from dataclasses import asdict
from datetime import date
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Query, Request

from gns3server_copilot import __version__
from gns3server_copilot.api.dependencies import current_user, runtime
from gns3server_copilot.api.routing import CopilotRoute
from gns3server_copilot.errors import ForbiddenError
from gns3server_copilot.knowledge.kinds import KIND_NAMES
from gns3server_copilot.llm.providers import installed_providers
from gns3server_copilot.schemas.identity import User
from gns3server_copilot.schemas.status import StatusAnswer
from gns3server_copilot.schemas.usage import UsageAnswer, UsageDay, UsageFigures

router = APIRouter(prefix="/v3/copilot", route_class=CopilotRoute, tags=["Copilot"])


@router.get("/status")
async def status(request: Request, user: Annotated[User, Depends(current_user)]) -> StatusAnswer:
    """What is installed and loaded, and whether the caller has a language model."""
    knowledge = await runtime(request).knowledge.current()
    configs = await runtime(request).configs.user_configs(user.user_id)
    return StatusAnswer(
        version=__version__,
        knowledge={kind: len(knowledge.keys(kind)) for kind in KIND_NAMES},
        providers=installed_providers(),
        llm_configured=configs.default is not None,
    )


@router.get("/usage")
async def usage(
    request: Request,
    user: Annotated[User, Depends(current_user)],
    user_id: Annotated[UUID | None, Query(description="Only this user's.")] = None,
    since: Annotated[date | None, Query(description="From this day (UTC) on.")] = None,
    until: Annotated[date | None, Query(description="Up to this day (UTC).")] = None,
) -> UsageAnswer:
    """Turns, model calls and tokens by configuration and day: the caller's own; a superadmin gets everybody's."""
    whose = str(user_id) if user_id else None
    if not user.is_superadmin:
        if whose not in (None, user.user_id):
            raise ForbiddenError("Only a superadmin can see what others have used.")
        whose = user.user_id
    days = [UsageDay(**asdict(day)) for day in await runtime(request).usage.read(whose, since=since, until=until)]
    total = {name: sum(getattr(day, name) for day in days) for name in UsageFigures.model_fields}
    return UsageAnswer(usage=days, total=UsageFigures(**total))
