"""An agent of a real project, with a model and tools that a test can watch."""

from __future__ import annotations

import uuid
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
import pytest_asyncio

from gns3server_copilot.agent import asking, titles
from gns3server_copilot.agent.service import AgentService
from gns3server_copilot.agent.turn import Turn, TurnRequest
from gns3server_copilot.schemas.identity import User
from gns3server_copilot.schemas.modes import Mode
from gns3server_copilot.settings import Settings
from gns3server_copilot.tools import dispatch, registry
from tests.ground.event_rules import check_event_order
from tests.unit.agent.probe_tools import Probes
from tests.unit.agent.scripted_model import ScriptedModel
from tests.unit.in_process import agent_server
from tests.unit.llm.samples import CONFIG

ALICE = User(str(uuid.uuid4()), "alice", True)


class CountedUsage:
    """Stands for the server's usage table."""

    def __init__(self) -> None:
        self.turns: list[dict[str, int]] = []

    async def add_turn(self, user_id: str, config_id: str, **figures: int) -> None:
        self.turns.append(figures)


@pytest.fixture
def counted() -> CountedUsage:
    """What is billed."""
    return CountedUsage()


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The scripted model. Whatever it is sent has to be valid for the strictest provider."""
    scripted = ScriptedModel()
    for module in (asking, titles):
        monkeypatch.setattr(module, "model_with_tools", scripted)
    yield scripted
    assert scripted.violations == []


@pytest.fixture
def probes(monkeypatch: pytest.MonkeyPatch) -> Probes:
    """Tools that note what they do, in place of the real ones."""
    made = Probes()
    for module in (registry, dispatch):
        monkeypatch.setattr(module, "ALL_TOOLS", made.tools)
    return made


@pytest_asyncio.fixture(loop_scope="session")
async def agent(app_server: Any, app_project: Any, counted: CountedUsage, tmp_path: Path) -> Any:
    """The service of a fresh project. A turn may have three rounds of tool calls."""
    settings = Settings(tool_rounds=3, injection_tool_rounds=4)
    server = replace(agent_server(app_server.app, settings, tmp_path), usage=cast(Any, counted))
    opened = await AgentService.open(app_project, server, {ALICE.user_id})
    yield opened
    await opened.close("The test is over.")


@pytest_asyncio.fixture(loop_scope="session")
async def service(app_server: Any, app_project: Any, tmp_path: Path) -> Any:
    """The service of a fresh project with everything as the plugin sets it up."""
    opened = await AgentService.open(app_project, agent_server(app_server.app, Settings(), tmp_path), {ALICE.user_id})
    yield opened
    await opened.close("The test is over.")


@pytest.fixture
def request_of(app_admin: Any, app_project: Any) -> Any:
    """Makes requests for turns."""

    def make(message: str = "hello", session_id: str | None = None, **changes: Any) -> TurnRequest:
        given: dict[str, Any] = {
            "session_id": session_id or str(uuid.uuid4()),
            "message": message,
            "user": ALICE,
            "project": app_project,
            "mode": Mode.LAB_AUTOMATION,
            "config": CONFIG,
            "token": app_admin.token,
        }
        return TurnRequest(**(given | changes))

    return make


async def events_of(turn: Turn) -> list[dict[str, Any]]:
    """Give all events of a turn when it is over."""
    with turn.reading():
        return [event async for event in turn.events.follow(60)]


async def ask(agent: AgentService, request: TurnRequest) -> list[dict[str, Any]]:
    """Run a turn to its end and give its events, checked against the rules of the stream."""
    events = await events_of(await agent.start_turn(request))
    check_event_order(events, broken_arguments=True)
    return events
