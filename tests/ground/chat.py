"""Chatting with the copilot over HTTP, as the web UI and scripts do."""

from __future__ import annotations

import json
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from tests.ground.model_server import ModelServer
from tests.ground.projects import Project
from tests.ground.sse import WAIT_SECONDS, Event, EventStream, open_stream
from tests.ground.users import UserClient, ok, unique


async def configure_model(user: UserClient, model_server: ModelServer | None = None, **fields: Any) -> dict[str, Any]:
    """Store a configuration as the user's default and give it, with its key as `api_key` at top level.

    It points at the model server, with a random key; without one it is the offline model's. `fields` add to or
    replace those of the request.
    """
    body: dict[str, Any] = {
        "name": unique("config"),
        "model_type": "text",
        "provider": "offline",
        "model": "scripted",
        "context_limit": 128,
        "is_default": True,
    }
    if model_server is not None:
        key = f"sk-test-{secrets.token_hex(16)}"
        body |= {"provider": "openai", "base_url": model_server.base_url, "api_key": key}
    body |= fields
    stored = await ok(user.post(f"/v3/access/users/{user.user_id}/llm-model-configs", json=body))
    return {**stored, "api_key": body.get("api_key")}


@asynccontextmanager
async def open_turn(
    user: UserClient, project: Project, message: str, *, path: str = "/stream", **fields: Any
) -> AsyncIterator[EventStream]:
    """Ask the copilot and give the event stream while it runs; leaving the block closes the connection.

    `fields` go into the request (session_id, copilot_mode, ...). `path` is below the project's chat prefix.
    """
    body = {"message": message, **fields}
    async with open_stream(user, "POST", f"{project.chat}{path}", json=body) as stream:
        yield stream


async def ask(
    user: UserClient, project: Project, message: str, *, seconds: float = WAIT_SECONDS, **fields: Any
) -> list[Event]:
    """Ask the copilot and give all events of the turn."""
    async with open_turn(user, project, message, **fields) as stream:
        return await stream.rest(seconds)


async def history(user: UserClient, project: Project, session_id: str) -> list[dict[str, Any]]:
    """Give the messages of a session."""
    answer = await ok(user.get(f"{project.chat}/sessions/{session_id}/history"))
    messages = answer["messages"]
    assert isinstance(messages, list)
    return messages


async def session(user: UserClient, project: Project, session_id: str) -> dict[str, Any]:
    """Give the session object."""
    answer = await ok(user.get(f"{project.chat}/sessions/{session_id}"))
    assert isinstance(answer, dict)
    return answer


def arguments_of(event: Event) -> Any:
    """Give the arguments of a `tool_call` event as data."""
    return json.loads(event["tool_call"]["function"]["arguments"])
