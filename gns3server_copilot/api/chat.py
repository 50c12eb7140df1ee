"""Asking, stopping and following: the routes of running turns, under both prefixes."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Annotated, Any
from uuid import UUID, uuid4

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import JSONResponse

from gns3server_copilot.agent.events import Event
from gns3server_copilot.agent.turn import OnDisconnect, Turn, TurnRequest
from gns3server_copilot.api.dependencies import Caller, caller, opened_project, runtime
from gns3server_copilot.api.event_stream import event_stream
from gns3server_copilot.api.routing import CopilotRoute
from gns3server_copilot.errors import CopilotError, InvalidRequestError, NotFoundError, TooLargeError
from gns3server_copilot.llm.admission import admit
from gns3server_copilot.llm.resolve import effective_config
from gns3server_copilot.schemas.chat import AbortAnswer, ChatAnswer, ChatRequest
from gns3server_copilot.schemas.identity import ProjectRef

MESSAGE_LIMIT = 100_000

router = APIRouter(route_class=CopilotRoute, tags=["Copilot chat"])


@router.post("/stream", response_model=ChatAnswer, responses={200: {"content": {"text/event-stream": {}}}})
async def stream(
    request: Request,
    asked: ChatRequest,
    who: Annotated[Caller, Depends(caller)],
    project: Annotated[ProjectRef, Depends(opened_project)],
) -> Response:
    """Ask the copilot. The answer is a stream of events, or with `stream: false` one JSON object at the end."""
    message = asked.message.strip()
    if not message:
        raise InvalidRequestError("The message is empty. Write a question.")
    if len(message) > MESSAGE_LIMIT:
        raise TooLargeError(
            f"The message is too long: {len(message)} characters, at most {MESSAGE_LIMIT} are possible."
        )
    server = runtime(request)
    config = await effective_config(server.configs, who.user, str(asked.config_id) if asked.config_id else None)
    config = await admit(config, who.user, server.settings)
    policy = await server.policies.of_user(who.user.user_id)
    if asked.temperature is not None:
        config = replace(config, temperature=asked.temperature)
    turn = await server.manager.start_turn(
        TurnRequest(
            session_id=str(asked.session_id or uuid4()),
            message=message,
            user=who.user,
            project=project,
            mode=policy.turn_mode(asked.copilot_mode, config.copilot_mode),
            config=config,
            token=who.token,
            on_disconnect=OnDisconnect(asked.on_disconnect),
        )
    )
    if asked.stream:
        return event_stream(turn, server.settings.heartbeat_seconds)
    return await _whole_answer(turn, server.settings.heartbeat_seconds)


@router.post("/sessions/{session_id}/abort")
async def abort(
    request: Request,
    session_id: UUID,
    who: Annotated[Caller, Depends(caller)],
    project: Annotated[ProjectRef, Depends(opened_project)],
) -> AbortAnswer:
    """Stop the session's running turn. Nothing running is fine, and so is an id that does not exist yet."""
    turn = await _own_turn(request, project, who, str(session_id))
    if turn is not None:
        turn.abort("Stopped by the user.")
    return AbortAnswer(session_id=str(session_id))


@router.get(
    "/sessions/{session_id}/events", response_class=Response, responses={200: {"content": {"text/event-stream": {}}}}
)
async def events(
    request: Request,
    session_id: UUID,
    who: Annotated[Caller, Depends(caller)],
    project: Annotated[ProjectRef, Depends(opened_project)],
) -> Response:
    """Follow the session's running turn: its events so far, then live. 404 when nothing is running."""
    turn = await _own_turn(request, project, who, str(session_id))
    if turn is None:
        raise NotFoundError("Nothing is running in this conversation.")
    return event_stream(turn, runtime(request).settings.heartbeat_seconds)


async def _own_turn(request: Request, project: ProjectRef, who: Caller, session_id: str) -> Turn | None:
    service = await runtime(request).manager.existing_service(project)
    if service is None:
        return None
    turn = service.running_turn(session_id)
    if turn is not None and turn.request.user.user_id == who.user.user_id:
        return turn
    await service.refuse_foreign(session_id, who.user)
    return None


async def _whole_answer(turn: Turn, heartbeat_seconds: float) -> Response:
    text: list[str] = []
    calls: dict[str, dict[str, Any]] = {}
    last: Event = {}
    async for event in turn.read(heartbeat_seconds):
        last = event
        match event["type"]:
            case "content":
                text.append(event["content"])
            case "tool_call":
                calls[event["tool_call"]["id"]] = event["tool_call"]
            case "tool_end":
                calls[event["tool_call_id"]]["result"] = json.loads(event["tool_output"])
            case "error":
                raise CopilotError(event["error"])
    answer = ChatAnswer(
        session_id=turn.request.session_id, message="".join(text), tool_calls=list(calls.values()), usage=last["usage"]
    )
    return JSONResponse(answer.model_dump())
