"""Asking, stopping and following: the routes of running turns, under both prefixes."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from gns3server_copilot.agent.turn import OnDisconnect, Turn, TurnRequest
from gns3server_copilot.api.dependencies import Chats, ProjectChats
from gns3server_copilot.api.event_stream import event_stream
from gns3server_copilot.api.routing import CHATS, CopilotRoute, refusals
from gns3server_copilot.errors import InvalidRequestError, NotFoundError, TooLargeError
from gns3server_copilot.llm.admission import admit
from gns3server_copilot.llm.resolve import effective_config
from gns3server_copilot.schemas.chat import AbortAnswer, ChatAnswer, ChatRequest, InjectRequest
from gns3server_copilot.schemas.modes import Mode
from gns3server_copilot.schemas.unicode import is_blank

MESSAGE_LIMIT = 100_000
#: What `/inject` asks for when nothing is said.
ANY_FAULT = "Inject one random network fault for troubleshooting practice."
STOPPED = "Stopped by the user."
#: How often a request without a stream looks whether its client is still there.
DISCONNECT_CHECK_SECONDS = 1.0

EVENT_STREAM: dict[int | str, dict[str, Any]] = {200: {"content": {"text/event-stream": {}}}}
TURN = EVENT_STREAM | refusals(400, 409, 413, 429)

router = APIRouter(prefix=CHATS, route_class=CopilotRoute, tags=["Copilot chat"], responses=refusals())


@router.post("/stream", response_model=ChatAnswer, responses=TURN)
async def stream(request: Request, asked: ChatRequest, chats: Chats) -> Response:
    """Ask the copilot. The answer is a stream of events, or with `stream: false` one JSON object at the end.

    A conversation in fault injection mode stays in it.
    """
    if is_blank(asked.message):
        raise InvalidRequestError("The message is empty. Write a question.")
    return await _answer(request, chats, asked, asked.message.strip())


@router.post("/inject", response_model=ChatAnswer, responses=TURN)
async def inject(request: Request, chats: Chats, asked: InjectRequest | None = None) -> Response:
    """Have a fault put into the lab, to practise on. A turn after which nothing was changed ends with an error."""
    asked = asked or InjectRequest(message="")
    message = ANY_FAULT if is_blank(asked.message) else asked.message.strip()
    return await _answer(request, chats, asked, message, injects=True)


async def _answer(
    request: Request, chats: ProjectChats, asked: ChatRequest, message: str, *, injects: bool = False
) -> Response:
    if len(message) > MESSAGE_LIMIT:
        raise TooLargeError(
            f"The message is too long: {len(message)} characters, at most {MESSAGE_LIMIT} are possible."
        )
    session_id = str(asked.session_id or uuid4())
    with chats.runtime.manager.starts.under_way(chats.project, chats.user, session_id) as start:
        turn = await _start(chats, asked, session_id, message, injects=injects)
        if start.aborted:
            turn.abort(STOPPED)
    if asked.stream:
        return event_stream(turn, chats.runtime.settings.heartbeat_seconds)
    return await _whole_answer(request, turn)


async def _start(chats: ProjectChats, asked: ChatRequest, session_id: str, message: str, *, injects: bool) -> Turn:
    copilot = chats.runtime
    config_id = str(asked.config_id) if asked.config_id else None
    # at once: each waits for a database of its own
    is_injection, usable = await asyncio.gather(
        _is_injection(chats, asked.session_id),
        effective_config(copilot.configs, chats.user, config_id),
        return_exceptions=True,
    )
    if isinstance(is_injection, BaseException):
        raise is_injection
    if isinstance(usable, BaseException):
        raise usable
    wanted_mode = Mode.INJECTION if injects or is_injection else asked.copilot_mode
    config, policy = usable
    config = await admit(config, chats.user, copilot.settings)
    if asked.temperature is not None:
        config = replace(config, temperature=asked.temperature)
    return await copilot.manager.start_turn(
        TurnRequest(
            session_id=session_id,
            message=message,
            user=chats.user,
            project=chats.project,
            mode=policy.turn_mode(wanted_mode, config.copilot_mode),
            config=config,
            token=chats.token,
            on_disconnect=OnDisconnect(asked.on_disconnect),
            injects=injects,
        )
    )


async def _is_injection(chats: ProjectChats, session_id: UUID | None) -> bool:
    agent = await chats.existing_agent() if session_id else None
    session = await agent.known_session(str(session_id), chats.user) if agent else None
    return session is not None and session.metadata.get("copilot_mode") == Mode.INJECTION


@router.post("/sessions/{session_id}/abort")
async def abort(session_id: UUID, chats: Chats) -> AbortAnswer:
    """Stop the session's running turn. Nothing running is fine, and so is an id that does not exist yet."""
    chats.runtime.manager.starts.abort(chats.project, chats.user, str(session_id))
    turn = await _own_turn(chats, str(session_id))
    if turn is not None:
        turn.abort(STOPPED)
    return AbortAnswer(session_id=str(session_id))


@router.get("/sessions/{session_id}/events", response_class=Response, responses=EVENT_STREAM)
async def events(session_id: UUID, chats: Chats) -> Response:
    """Follow the session's running turn: its events so far, then live. 404 when nothing is running."""
    turn = await _own_turn(chats, str(session_id))
    if turn is None:
        raise NotFoundError("Nothing is running in this conversation.")
    return event_stream(turn, chats.runtime.settings.heartbeat_seconds)


async def _own_turn(chats: ProjectChats, session_id: str) -> Turn | None:
    agent = await chats.existing_agent()
    if agent is None:
        return None
    turn = agent.running_turn(session_id, chats.user)
    if turn is None:
        await agent.known_session(session_id, chats.user)
    return turn


async def _whole_answer(request: Request, turn: Turn) -> Response:
    texts: dict[str, str] = {}
    calls: dict[str, dict[str, Any]] = {}
    usage: dict[str, Any] = {}
    looked = time.monotonic()
    with turn.reading():
        async for event in turn.events.follow(DISCONNECT_CHECK_SECONDS):
            if time.monotonic() - looked >= DISCONNECT_CHECK_SECONDS:
                looked = time.monotonic()
                if await request.is_disconnected():
                    return Response()  # nobody reads it; to stop reading is what ends the turn
            match event["type"]:
                case "content":
                    texts[event["message_id"]] = texts.get(event["message_id"], "") + event["content"]
                case "tool_call":
                    calls[event["tool_call"]["id"]] = event["tool_call"]
                case "tool_end":
                    calls[event["tool_call_id"]]["result"] = json.loads(event["tool_output"])
                case "done":
                    usage = event["usage"]
    if turn.failure is not None:
        raise turn.failure
    answer = ChatAnswer(
        session_id=turn.request.session_id,
        message="\n\n".join(texts.values()),
        tool_calls=list(calls.values()),
        usage=usage,
    )
    return JSONResponse(answer.model_dump())
