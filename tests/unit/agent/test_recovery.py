"""What is there after the server was killed in the middle of a turn. A copy of the file, taken while the turn runs, is
what a killed server leaves."""

from __future__ import annotations

import asyncio
import dataclasses
import sqlite3
import uuid
from contextlib import asynccontextmanager, closing
from pathlib import Path

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from gns3server_copilot.agent import asking, calling
from gns3server_copilot.agent.messages import question
from gns3server_copilot.agent.recovery import recover
from gns3server_copilot.agent.service import AgentService
from gns3server_copilot.agent.turn import TurnRequest
from gns3server_copilot.schemas.identity import User
from gns3server_copilot.schemas.modes import Mode
from gns3server_copilot.settings import Settings
from gns3server_copilot.storage.location import database_path
from tests.unit.in_process import agent_server
from tests.unit.llm.samples import CONFIG

pytestmark = pytest.mark.asyncio(loop_scope="session")

ALICE = User(str(uuid.uuid4()), "alice", True)
OFFLINE = dataclasses.replace(CONFIG, provider="offline", model="offline", base_url="", context_limit=32, api_key=None)


class Stops:
    """Lets a turn run up to one of its steps, and then no further."""

    def __init__(self, at):
        self._at = at
        self.reached = asyncio.Event()
        self.go_on = asyncio.Event()

    async def stop(self, at):
        if at == self._at:
            self.reached.set()
            await self.go_on.wait()


class TwoSteps:
    """A model that calls a tool and then answers."""

    def __init__(self, stops):
        self._stops = stops

    async def astream(self, messages):
        if isinstance(messages[-1], ToolMessage):
            await self._stops.stop("second answer")
            yield AIMessage("Done.", usage_metadata={"input_tokens": 200, "output_tokens": 20, "total_tokens": 220})
        else:
            await self._stops.stop("first answer")
            yield AIMessage(
                "I look.",
                tool_calls=[{"name": "get_gns3_templates", "args": {}, "id": "a"}],
                usage_metadata={"input_tokens": 100, "output_tokens": 10, "total_tokens": 110},
            )


@pytest.fixture
def opened(app_server, tmp_path):
    @asynccontextmanager
    async def opened(project):
        server = agent_server(app_server.app, Settings(), tmp_path)
        service = await AgentService.open(project, server, {ALICE.user_id})
        try:
            yield service
        finally:
            await service.close("The test is over.")

    return opened


@pytest.fixture
def project(app_project, tmp_path):
    return dataclasses.replace(app_project, path=str(tmp_path / "first"))


@pytest.fixture
def asked(app_admin, project):
    (Path(project.path)).mkdir()
    session_id = str(uuid.uuid4())

    def make(message):
        return TurnRequest(session_id, message, ALICE, project, Mode.TEACHING, OFFLINE, app_admin.token)

    return make


def killed(project, tmp_path):
    """Give the project as a killed server leaves it."""
    copy = dataclasses.replace(project, path=str(tmp_path / "second"))
    database_path(Path(copy.path)).parent.mkdir(parents=True)
    with (
        closing(sqlite3.connect(database_path(Path(project.path)))) as source,
        closing(sqlite3.connect(database_path(Path(copy.path)))) as target,
    ):
        source.backup(target)
    return copy


@pytest.mark.parametrize(
    ("at", "roles", "figures"),
    [
        ("first answer", ["user", "assistant"], (0, 0)),
        ("tool", ["user", "assistant", "tool", "assistant"], (1, 110)),
        ("second answer", ["user", "assistant", "tool", "assistant"], (1, 110)),
    ],
)
async def test_what_was_stored_of_a_killed_turn_is_whole_and_counted_when_the_file_is_opened_again(
    opened, asked, project, tmp_path, monkeypatch, at, roles, figures
):
    stops = Stops(at)
    execute = calling.execute

    async def two_steps(*_):
        return TwoSteps(stops)

    async def execute_slowly(*arguments):
        await stops.stop("tool")
        return await execute(*arguments)

    async with opened(project) as service:
        first = await service.start_turn(asked("/help"))
        await first.wait()
        monkeypatch.setattr(asking, "model_with_tools", two_steps)
        monkeypatch.setattr(calling, "execute", execute_slowly)
        turn = await service.start_turn(asked("And now?"))
        with turn.reading():
            await stops.reached.wait()
            left = killed(project, tmp_path)
            before = await service.session(asked("").session_id, ALICE)
            stops.go_on.set()
            await turn.wait()
    async with opened(left) as service:
        history = await service.history(asked("").session_id)
        session = await service.session(asked("").session_id, ALICE)
    assert [message["role"] for message in history] == ["user", "assistant", *roles]
    assert history[-1]["metadata"]["aborted"] is True
    assert "interrupted" in history[-1]["metadata"]["error"]
    calls, tokens = figures
    assert session.message_count == len(history)
    assert session.llm_calls_count == before.llm_calls_count + calls
    assert session.total_tokens == before.total_tokens + tokens
    async with opened(left) as service:  # once is enough
        assert await service.history(asked("").session_id) == history
        assert await service.session(asked("").session_id, ALICE) == session


async def test_a_conversation_of_which_nothing_was_stored_is_gone(opened, asked, project, tmp_path):
    async with opened(project) as service:
        await service._database.sessions.create(asked("").session_id, ALICE.user_id, title="lost")
        left = killed(project, tmp_path)
    async with opened(left) as service:
        assert await service.sessions(ALICE) == ([], 0)


async def test_a_whole_conversation_stays_as_it_is():
    messages = [question("hi"), AIMessage("hello", id="a")]
    lost = recover(messages, counted=2)
    assert lost.messages == messages
    assert (lost.model_calls, lost.input_tokens) == (0, 0)
    assert lost.time is None


async def test_an_answer_that_came_whole_counts_though_its_turn_was_not_recorded():
    usage = {"input_tokens": 7, "output_tokens": 3, "total_tokens": 10}
    messages = [HumanMessage("hi", id="q"), AIMessage("hello", id="a", usage_metadata=usage)]
    lost = recover(messages, counted=0)
    assert lost.messages == messages
    assert (lost.model_calls, lost.input_tokens, lost.output_tokens) == (1, 7, 3)
