"""The routes of stored conversations, under both prefixes."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query, Response

from gns3server_copilot.api.dependencies import Chats, ProjectChats
from gns3server_copilot.api.routing import CHATS, CopilotRoute, refusals
from gns3server_copilot.schemas.chat import HistoryAnswer, HistoryMessage, SessionAnswer, SessionChange
from gns3server_copilot.schemas.modes import Mode
from gns3server_copilot.storage.sessions import Session

if TYPE_CHECKING:
    from gns3server_copilot.agent.service import AgentService

#: SQLite's integers end there, and no conversation comes near it.
LARGEST = 2**31

router = APIRouter(prefix=CHATS, route_class=CopilotRoute, tags=["Copilot chat"], responses=refusals())


@router.get("/sessions")
async def list_sessions(
    response: Response,
    chats: Chats,
    copilot_mode: Annotated[Mode | None, Query(description="Only conversations in this mode.")] = None,
    limit: Annotated[int | None, Query(ge=1, le=500, description="Most to give; without it all.")] = None,
    offset: Annotated[int, Query(ge=0, le=LARGEST)] = 0,
    q: Annotated[str | None, Query(description="Only titles that hold this text.")] = None,
    pinned: Annotated[bool | None, Query()] = None,
) -> list[SessionAnswer]:
    """The caller's conversations in this project: pinned ones first, then the last used first.

    Their number before paging is in the header `X-Total-Count`.
    """
    agent = await chats.existing_agent()
    if agent is None:
        _tell_total(response, 0)
        return []
    sessions, total = await agent.sessions(
        chats.user, mode=copilot_mode, limit=limit, offset=offset, q=q, pinned=pinned
    )
    _tell_total(response, total)
    return [_answer(agent, chats, session) for session in sessions]


@router.get("/sessions/{session_id}")
async def get_session(session_id: UUID, chats: Chats) -> SessionAnswer:
    """One conversation."""
    agent = await chats.agent()
    return _answer(agent, chats, await agent.session(str(session_id), chats.user))


@router.patch("/sessions/{session_id}")
async def change_session(session_id: UUID, change: SessionChange, chats: Chats) -> SessionAnswer:
    """Rename one conversation, pin or unpin it, or both."""
    agent = await chats.agent()
    session = await agent.session(str(session_id), chats.user)
    if change.title is not None:
        session = await agent.rename(session.thread_id, chats.user, change.title)
    if change.pinned is not None:
        session = await agent.set_pinned(session.thread_id, chats.user, change.pinned)
    return _answer(agent, chats, session)


@router.delete("/sessions/{session_id}", status_code=204, responses=refusals(409))
async def delete_session(session_id: UUID, chats: Chats) -> None:
    """Delete one conversation with its messages. A turn that runs in it is stopped first; the id is free afterwards."""
    agent = await chats.agent()
    await agent.delete(str(session_id), chats.user)


@router.put("/sessions/{session_id}/pin")
async def pin_session(session_id: UUID, chats: Chats) -> SessionAnswer:
    """List one conversation before the others."""
    agent = await chats.agent()
    return _answer(agent, chats, await agent.set_pinned(str(session_id), chats.user, pinned=True))


@router.delete("/sessions/{session_id}/pin")
async def unpin_session(session_id: UUID, chats: Chats) -> SessionAnswer:
    """List one conversation among the others again."""
    agent = await chats.agent()
    return _answer(agent, chats, await agent.set_pinned(str(session_id), chats.user, pinned=False))


@router.get("/sessions/{session_id}/history", response_model=HistoryAnswer)
async def get_history(
    session_id: UUID,
    chats: Chats,
    limit: Annotated[int | None, Query(ge=1, le=LARGEST, description="Only the last so many messages.")] = None,
    before: Annotated[str | None, Query(description="Only messages before the one with this id.")] = None,
) -> Response:
    """The messages of one conversation, the oldest first."""
    agent = await chats.agent()
    session = await agent.session(str(session_id), chats.user)
    messages = await agent.history(session.thread_id, limit=limit, before=before)
    # in a thread: a conversation of hundreds of messages would hold the event loop
    text = await asyncio.to_thread(_history_text, session, messages)
    return Response(text, media_type="application/json")


def _tell_total(response: Response, total: int) -> None:
    response.headers["X-Total-Count"] = str(total)
    # a page of another origin may read those headers only that are named here
    response.headers["Access-Control-Expose-Headers"] = "X-Total-Count"


def _history_text(session: Session, messages: list[dict[str, Any]]) -> str:
    answer = HistoryAnswer(
        thread_id=session.thread_id,
        title=session.title,
        messages=[HistoryMessage(**message) for message in messages],
        created_at=session.created_at,
        updated_at=session.updated_at,
        llm_calls=session.llm_calls_count,
    )
    return answer.model_dump_json(exclude_none=True)


def _answer(agent: AgentService, chats: ProjectChats, session: Session) -> SessionAnswer:
    running = agent.running_turn(session.thread_id, chats.user) is not None
    return SessionAnswer(**asdict(session), running=running)
