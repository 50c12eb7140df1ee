"""A turn that is stopped between its request and its beginning."""

from __future__ import annotations

import asyncio
import uuid

import pytest

from gns3server_copilot.agent.manager import AgentManager
from gns3server_copilot.api import chat as chat_routes
from tests.ground.chat import ask, configure_model, history
from tests.ground.event_rules import check_event_order
from tests.ground.model_script import text
from tests.ground.projects import Projects
from tests.ground.sse import kinds_of, text_of

pytestmark = pytest.mark.asyncio(loop_scope="session")


class Door:
    """Stands before an awaited function and lets nobody in until it is opened."""

    def __init__(self, function):
        self.reached = asyncio.Event()
        self.open = asyncio.Event()
        self._function = function

    async def __call__(self, *args):
        self.reached.set()
        await self.open.wait()
        return await self._function(*args)


@pytest.fixture
def admission(monkeypatch):
    door = Door(chat_routes.admit)
    monkeypatch.setattr(chat_routes, "admit", door)
    return door


@pytest.fixture
def opening(monkeypatch):
    door = Door(AgentManager._load)
    monkeypatch.setattr(AgentManager, "_load", lambda manager: door(manager))
    return door


@pytest.mark.parametrize("place", ["admission", "opening"])
async def test_it_never_takes_a_step_and_keeps_its_question(app_admin, model_server, request, place):
    project = await Projects(app_admin).make()
    await configure_model(app_admin, model_server)
    door = request.getfixturevalue(place)
    session_id, other_session = str(uuid.uuid4()), str(uuid.uuid4())
    asking = asyncio.create_task(ask(app_admin, project, "first", session_id=session_id))
    async with asyncio.timeout(10):
        await door.reached.wait()
        for stopped in (other_session, session_id, session_id):
            answer = await app_admin.post(f"{project.chat}/sessions/{stopped}/abort")
            assert answer.json() == {"status": "ok", "session_id": stopped}
        door.open.set()
        events = await asking
    check_event_order(events)
    assert kinds_of(events) == ["abort", "done"]
    assert model_server.requests == []
    kept = await history(app_admin, project, session_id)
    assert [message["content"] for message in kept] == ["first", ""]
    assert kept[1]["metadata"]["aborted"] is True
    # it was that request's end alone
    model_server.script(text("Here."), text("Here, too."))
    assert text_of(await ask(app_admin, project, "second", session_id=session_id)) == "Here."
    assert text_of(await ask(app_admin, project, "third", session_id=other_session)) == "Here, too."
    await app_admin.delete(project.url)
