"""A configuration of every provider, and turns that ask them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage

from gns3server_copilot.agent.receive import receive_answer
from gns3server_copilot.agent.turn import Turn, TurnRequest
from gns3server_copilot.llm import factory
from gns3server_copilot.llm.config import LLMConfig
from gns3server_copilot.llm.factory import create_base_model_with_tools, prepare_provider
from gns3server_copilot.llm.providers import PROVIDERS
from gns3server_copilot.schemas.identity import ProjectRef, User
from gns3server_copilot.schemas.modes import Mode
from tests.unit.llm.providers.cases import CASES, Case
from tests.unit.llm.samples import tool

QUESTION = (SystemMessage("Be brief."), HumanMessage("Hello"))
TOOLS = (tool("look"), tool("touch"))
#: What the agent would have counted.
SENT_TOKENS = 20


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """No models of other tests, and no proxy between the client and the loopback."""
    monkeypatch.setattr(factory, "_models", type(factory._models)())
    for name in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(params=CASES.values(), ids=CASES)
def case(request: pytest.FixtureRequest) -> Case:
    """Each provider whose package is installed."""
    found: Case = request.param
    skip_if_absent(found.name)
    return found


def skip_if_absent(name: str) -> None:
    """Skip the test when the provider's package is not installed."""
    if not PROVIDERS[name].installed:
        pytest.skip(f"the package of {name} is not installed")


@dataclass
class Received:
    """What came of asking once."""

    message: AIMessage
    events: list[dict[str, Any]]
    turn: Turn

    def of_kind(self, kind: str) -> list[dict[str, Any]]:
        """Give the events of one kind."""
        return [event for event in self.events if event["type"] == kind]


Ask = Callable[..., Awaitable[Received]]


async def ask_once(
    config: LLMConfig, messages: tuple[BaseMessage, ...] = QUESTION, *, idle_seconds: float = 10.0
) -> Received:
    """Ask the model as a turn does, through the agent's own receiver."""
    await prepare_provider(config.provider)
    model = create_base_model_with_tools(TOOLS, config)
    turn = make_turn(config)
    used = [call["id"] or "" for one in messages if isinstance(one, AIMessage) for call in one.tool_calls]
    message = await receive_answer(model, messages, SENT_TOKENS, turn, used, idle_seconds)
    turn.events.end()
    return Received(message, [event async for event in turn.events.follow(60)], turn)


def make_turn(config: LLMConfig) -> Turn:
    """Give a turn that has not begun."""
    request = TurnRequest(
        session_id="s",
        message="Hello",
        user=User("u", "alice", False),
        project=ProjectRef("p", "lab", "/lab"),
        mode=Mode.TEACHING,
        config=config,
        token="the-token",
    )
    return Turn(request, HumanMessage("Hello", id="q"), 60)


@pytest.fixture
def ask() -> Ask:
    """Asks once: `await ask(config, messages)`."""
    return ask_once
