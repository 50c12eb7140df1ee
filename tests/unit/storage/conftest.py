"""Ground for the storage tests: a project's folder, its chat database, and one small conversation."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Annotated, Any, TypedDict
from uuid import uuid4

import pytest
import pytest_asyncio
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages

from gns3server_copilot.schemas.identity import ProjectRef
from gns3server_copilot.storage.database import ProjectDatabase
from gns3server_copilot.storage.location import database_path
from gns3server_copilot.storage.sessions import Session, TurnFigures

ALICE = "11111111-1111-4111-8111-111111111111"
BOB = "22222222-2222-4222-8222-222222222222"


def thread_config(thread_id: str) -> Any:
    return {"configurable": {"thread_id": thread_id, "checkpoint_ns": ""}}


@pytest.fixture
def project(tmp_path: Path) -> ProjectRef:
    folder = tmp_path / "project"
    folder.mkdir()
    return ProjectRef(str(uuid4()), "Lab", str(folder))


@pytest.fixture
def file(project: ProjectRef) -> Path:
    return database_path(Path(project.path))


@pytest_asyncio.fixture
async def database(project: ProjectRef) -> AsyncIterator[ProjectDatabase]:
    database = await ProjectDatabase.open(project)
    yield database
    await database.close()


@pytest.fixture
def new_threads() -> Iterator[Callable[[], list[threading.Thread]]]:
    """The threads that have come since the test began and still live a moment after they were told to end."""
    before = set(threading.enumerate())

    def still_alive() -> list[threading.Thread]:
        come = [one for one in threading.enumerate() if one not in before and "asyncio" not in one.name]
        for one in come:
            one.join(timeout=5)
        return [one for one in come if one.is_alive()]

    yield still_alive


class State(TypedDict):
    messages: Annotated[list[AnyMessage], add_messages]
    llm_calls: int


Ask = Callable[[BaseCheckpointSaver[Any], str, str], Awaitable[list[AnyMessage]]]


@pytest.fixture(scope="session")
def ask() -> Ask:
    """One turn of a real graph: a question, a tool call, its result of 2 KB, an answer of 2 KB."""

    async def llm_call(state: State) -> dict[str, Any]:
        if isinstance(state["messages"][-1], ToolMessage):
            return {"messages": [AIMessage(str(uuid4()) * 60)], "llm_calls": state["llm_calls"] + 1}
        call = {"name": "show", "args": {"node": "R1"}, "id": str(uuid4())}
        return {"messages": [AIMessage("", tool_calls=[call])], "llm_calls": state["llm_calls"] + 1}

    async def tool_node(state: State) -> dict[str, Any]:
        asked = state["messages"][-1]
        assert isinstance(asked, AIMessage)
        return {"messages": [ToolMessage(str(uuid4()) * 60, tool_call_id=asked.tool_calls[0]["id"] or "")]}

    def after_model(state: State) -> str:
        last = state["messages"][-1]
        return "tool_node" if isinstance(last, AIMessage) and last.tool_calls else END

    builder = StateGraph(State)
    builder.add_node("llm_call", llm_call)
    builder.add_node("tool_node", tool_node)
    builder.add_edge(START, "llm_call")
    builder.add_conditional_edges("llm_call", after_model, ["tool_node", END])
    builder.add_edge("tool_node", "llm_call")

    async def ask(saver: BaseCheckpointSaver[Any], thread_id: str, question: str) -> list[AnyMessage]:
        graph = builder.compile(checkpointer=saver)
        config = thread_config(thread_id)
        result = await graph.ainvoke({"messages": [HumanMessage(question)], "llm_calls": 0}, config)
        return list(result["messages"])

    return ask


async def finish(database: ProjectDatabase, thread_id: str = "t", **figures: Any) -> Session:
    """End a turn of the thread: record it, and keep the newest checkpoint alone."""
    nothing: dict[str, Any] = {
        "message_count": 1,
        "llm_calls": 1,
        "input_tokens": 1,
        "output_tokens": 1,
        "estimated": False,
    }
    session = await database.finish_turn(thread_id, TurnFigures(**nothing | figures))
    assert database._tidying is not None
    await database._tidying  # the space is given back a moment later
    return session


async def rows(database: ProjectDatabase, sql: str) -> list[tuple[Any, ...]]:
    """Run a statement in the open file and give its rows."""
    found = await database.write(lambda connection: connection.execute(sql).fetchall())
    return [tuple(row) for row in found]
