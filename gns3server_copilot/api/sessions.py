"""The routes of stored conversations, under both prefixes."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Query, Request, Response

from gns3server_copilot.agent.manager import AgentManager
from gns3server_copilot.api.dependencies import current_user, opened_project, runtime
from gns3server_copilot.api.routing import CopilotRoute
from gns3server_copilot.errors import NotFoundError
from gns3server_copilot.schemas.chat import HistoryAnswer, HistoryMessage, SessionAnswer
from gns3server_copilot.schemas.identity import ProjectRef, User
from gns3server_copilot.schemas.modes import Mode

if TYPE_CHECKING:
    from gns3server_copilot.agent.service import AgentService

router = APIRouter(route_class=CopilotRoute, tags=["Copilot chat"])


@router.get("/sessions")
async def list_sessions(
    request: Request,
    response: Response,
    user: Annotated[User, Depends(current_user)],
    project: Annotated[ProjectRef, Depends(opened_project)],
    copilot_mode: Annotated[Mode | None, Query(description="Only conversations in this mode.")] = None,
    limit: Annotated[int | None, Query(ge=1, le=500, description="Most to give; without it all.")] = None,
    offset: Annotated[int, Query(ge=0)] = 0,
    q: Annotated[str | None, Query(description="Only titles that hold this text.")] = None,
    pinned: Annotated[bool | None, Query()] = None,
) -> list[SessionAnswer]:
    """The caller's conversations in this project: pinned ones first, then the last used first.

    Their number before paging is in the header `X-Total-Count`.
    """
    service = await runtime(request).manager.existing_service(project)
    if service is None:
        response.headers["X-Total-Count"] = "0"
        return []
    sessions, total = await service.sessions(user, mode=copilot_mode, limit=limit, offset=offset, q=q, pinned=pinned)
    response.headers["X-Total-Count"] = str(total)
    return [SessionAnswer(**asdict(one), running=service.running_turn(one.thread_id) is not None) for one in sessions]


@router.get("/sessions/{session_id}")
async def get_session(
    request: Request,
    session_id: UUID,
    user: Annotated[User, Depends(current_user)],
    project: Annotated[ProjectRef, Depends(opened_project)],
) -> SessionAnswer:
    """One conversation."""
    service = await _service(runtime(request).manager, project)
    session = await service.session(str(session_id), user)
    return SessionAnswer(**asdict(session), running=service.running_turn(session.thread_id) is not None)


@router.get("/sessions/{session_id}/history", response_model_exclude_none=True)
async def get_history(
    request: Request,
    session_id: UUID,
    user: Annotated[User, Depends(current_user)],
    project: Annotated[ProjectRef, Depends(opened_project)],
    limit: Annotated[int | None, Query(ge=1, description="Only the last so many messages.")] = None,
    before: Annotated[str | None, Query(description="Only messages before the one with this id.")] = None,
) -> HistoryAnswer:
    """The messages of one conversation, the oldest first."""
    service = await _service(runtime(request).manager, project)
    session = await service.session(str(session_id), user)
    messages = await service.history(session.thread_id)
    if before is not None:
        ids = [message["id"] for message in messages]
        if before not in ids:
            raise NotFoundError("There is no message with the id given as before in this conversation.")
        messages = messages[: ids.index(before)]
    if limit is not None:
        messages = messages[-limit:]
    return HistoryAnswer(
        thread_id=session.thread_id,
        title=session.title,
        messages=[HistoryMessage(**message) for message in messages],
        created_at=session.created_at,
        updated_at=session.updated_at,
        llm_calls=session.llm_calls_count,
    )


async def _service(manager: AgentManager, project: ProjectRef) -> AgentService:
    service = await manager.existing_service(project)
    if service is None:
        raise NotFoundError("There is no such conversation in this project.")
    return service
