"""The conversation as a LangGraph graph: the model is asked, its tool calls are carried out, until it answers.

    START → llm_call ─┬─ tool calls ──────────────→ tool_node ─┬─ budget left → llm_call
                      ├─ stopped, calls pending ──→ abort_handler_node → END
                      ├─ first turn, no title ────→ title_generator_node → END
                      └─ otherwise ───────────────→ END        └─ last words said → END

When a turn is brought to its end (`closing`), the model is asked once more, without tools, to say so; if it calls one
all the same, the call is refused and we say it.

An abort cancels the run wherever it is. The service then says so in the state and lets the graph go on from there, to
`abort_handler_node`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Annotated, Any, TypedDict

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.graph.state import CompiledStateGraph
from langgraph.managed import RemainingSteps

from gns3server_copilot.agent import turn_context
from gns3server_copilot.agent.asking import ask_model
from gns3server_copilot.agent.calling import CallRunner
from gns3server_copilot.agent.closing import BUDGET_USED_UP, REPEATED, REPEATED_AT, UNREADABLE, UNREADABLE_AT
from gns3server_copilot.agent.context_window import Prepared, pre_model_hook
from gns3server_copilot.agent.messages import new_message_id, notes_of, stamp, used_call_ids
from gns3server_copilot.agent.repair import pending_results
from gns3server_copilot.agent.server import Server
from gns3server_copilot.agent.titles import model_title
from gns3server_copilot.agent.turn import Turn
from gns3server_copilot.gns3.client import GNS3Client
from gns3server_copilot.llm.locality import hides_secrets
from gns3server_copilot.schemas.modes import Mode
from gns3server_copilot.tools.base import Tool, ToolContext
from gns3server_copilot.tools.registry import tools_for

#: Steps of LangGraph that the end of a turn takes: the last answer, its refused calls, the title.
LAST_STEPS = 4


class State(TypedDict):
    """What is checkpointed, but for `remaining_steps`, which LangGraph counts itself.

    The topology, the token, the key and the model are not: see `turn_context`. `conversation_title` is the title that
    the model gave; what is shown is the session's, which a person may have changed. `abort` says that the last turn
    was stopped.
    """

    messages: Annotated[list[AnyMessage], add_messages]
    llm_calls: int
    remaining_steps: RemainingSteps
    conversation_title: str | None
    session_id: str
    abort: bool


class TurnInput(TypedDict):
    """What a turn begins with."""

    messages: list[AnyMessage]
    llm_calls: int
    session_id: str
    abort: bool


Graph = CompiledStateGraph[State, Any, TurnInput, State]


class ChatGraph:
    """The graph's nodes, with what they need from the server."""

    def __init__(self, server: Server) -> None:
        self._app = server.app
        self._settings = server.settings
        self._consoles = server.consoles
        self._audit = server.audit
        self._analyses = server.analyses

    def graph(self, saver: BaseCheckpointSaver[Any]) -> Graph:
        """Give the compiled graph; its checkpoints go to `saver`."""
        builder = StateGraph(State, input_schema=TurnInput)
        builder.add_node("llm_call", self.llm_call)
        builder.add_node("tool_node", self.tool_node)
        builder.add_node("title_generator_node", self.title_generator_node)
        builder.add_node("abort_handler_node", self.abort_handler_node)
        builder.add_edge(START, "llm_call")
        after_the_model = ["tool_node", "title_generator_node", "abort_handler_node", END]
        builder.add_conditional_edges("llm_call", self.should_continue, after_the_model)
        builder.add_conditional_edges("tool_node", self.recursion_limit_continue, ["llm_call", END])
        builder.add_edge("title_generator_node", END)
        builder.add_edge("abort_handler_node", END)
        return builder.compile(checkpointer=saver)

    def step_limit(self, mode: Mode) -> int:
        """Give LangGraph's own limit, which must never be what ends a turn: two steps a round, and those of the end."""
        return 2 * self._rounds(mode) + 2 * LAST_STEPS

    async def llm_call(self, state: State) -> dict[str, Any]:
        """Ask the model."""
        turn = turn_context.turn.get()
        if turn.closing is None and self._budget_gone(state):
            turn.closing = BUDGET_USED_UP
        tools = () if turn.closing else self._tools()
        instruction = turn.closing.instruction if turn.closing else ""
        context, config = self._tool_context(), turn_context.llm_config.get()
        definitions = [tool.definition() for tool in tools]

        async def prepare(at_most: int | None) -> Prepared:
            return await pre_model_hook(
                state["messages"], tools, definitions, context, config, closing=instruction, at_most=at_most
            )

        used_ids = used_call_ids(state["messages"])
        answer = await ask_model(turn, definitions, prepare, used_ids, self._settings.model_idle_seconds)
        if context.redact:  # it cannot know secrets that have to be kept from it later
            stamp(answer, redacted=True)
        return {"messages": [answer], "llm_calls": state["llm_calls"] + 1}

    async def should_continue(self, state: State) -> str:
        """Give the node after the model's answer."""
        if state.get("abort"):
            return "abort_handler_node" if pending_results(state["messages"]) else END
        last = state["messages"][-1]
        if isinstance(last, AIMessage) and last.tool_calls:
            return "tool_node"
        questions = sum(isinstance(message, HumanMessage) for message in state["messages"])
        return "title_generator_node" if questions == 1 and not state.get("conversation_title") else END

    async def recursion_limit_continue(self, state: State) -> str:
        """Give the node after the tools' results; when those are followed by our last words, the turn is over."""
        return END if isinstance(state["messages"][-1], AIMessage) else "llm_call"

    async def tool_node(self, state: State) -> dict[str, Any]:
        """Carry out the calls of the model's last message: at once when all only read, else in their order."""
        turn = turn_context.turn.get()
        asked = state["messages"][-1]
        assert isinstance(asked, AIMessage)
        runner = CallRunner(turn, self._tool_context())
        if turn.closing:
            refused = [await runner.refuse(call, turn.closing.refusal) for call in asked.tool_calls]
            return {"messages": [*refused, say(turn, turn.closing.last_words)]}
        refusals = notes_of(asked).get("refused_calls", {})
        read_only = {tool.name for tool in self._tools() if tool.read_only}
        if all(call["name"] in read_only for call in asked.tool_calls):
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(runner.run(call, refusals.get(call["id"]))) for call in asked.tool_calls]
            results = [task.result() for task in tasks]
        else:
            results = [await runner.run(call, refusals.get(call["id"])) for call in asked.tool_calls]
        self._look_for_loops(turn, asked, refusals)
        return {"messages": results}

    async def title_generator_node(self, state: State) -> dict[str, Any]:
        """Have the model name the conversation. The turn waits a few seconds for it at most."""
        turn = turn_context.turn.get()
        turn.title = await model_title(turn, state["messages"])
        return {"conversation_title": turn.title}

    async def abort_handler_node(self, state: State) -> dict[str, Any]:
        """Give the calls that an abort has left without a result one that says how far they came."""
        produced = turn_context.turn.get().produced
        known = {message.tool_call_id: message for message in produced if isinstance(message, ToolMessage)}
        pending = pending_results(state["messages"])
        return {"messages": [known.get(result.tool_call_id, result) for result in pending]}

    def _look_for_loops(self, turn: Turn, asked: AIMessage, refusals: dict[str, str]) -> None:
        unreadable = all(call["id"] in refusals for call in asked.tool_calls)
        turn.unreadable_answers = turn.unreadable_answers + 1 if unreadable else 0
        if turn.failed_calls.most >= REPEATED_AT:
            turn.closing = REPEATED
        elif turn.unreadable_answers >= UNREADABLE_AT:
            turn.closing = UNREADABLE

    def _tools(self) -> Sequence[Tool]:
        return tools_for(_mode(), self._settings)

    def _rounds(self, mode: Mode) -> int:
        return self._settings.injection_tool_rounds if mode is Mode.INJECTION else self._settings.tool_rounds

    def _budget_gone(self, state: State) -> bool:
        return state["llm_calls"] >= self._rounds(_mode()) or state["remaining_steps"] <= LAST_STEPS

    def _tool_context(self) -> ToolContext:
        return ToolContext(
            project=turn_context.project.get(),
            user=turn_context.user.get(),
            mode=_mode(),
            gns3=GNS3Client(self._app, turn_context.jwt_token.get()),
            settings=self._settings,
            scope=turn_context.turn.get().scope,
            knowledge=turn_context.turn.get().knowledge,
            consoles=self._consoles,
            redact=hides_secrets(turn_context.llm_config.get(), self._settings),
            audit=self._audit.add,
            analyses=self._analyses,
        )


def say(turn: Turn, words: str) -> AIMessage:
    """Give an answer of our own, and tell it to the readers."""
    answer = stamp(AIMessage(words, id=new_message_id()))
    turn.emit("content", content=words, message_id=answer.id)
    turn.produced.append(answer)
    return answer


def _mode() -> Mode:
    return turn_context.mode.get()
