"""The conversation as a LangGraph graph: the model is asked, its tool calls are carried out, until it answers.

    START → llm_call ─┬─ tool calls → tool_node ─┬─ budget left → llm_call
                      └─ otherwise → END         └─ budget gone → END

When the turn's tool budget is used up, the model is asked once more, without tools, to say so; if it calls one all the
same, the call is refused and we say it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Annotated, Any, TypedDict

from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, ToolMessage
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.graph.state import CompiledStateGraph

from gns3server_copilot.agent import turn_context
from gns3server_copilot.agent.messages import new_message_id, notes_of, stamp
from gns3server_copilot.agent.model_input import model_input
from gns3server_copilot.agent.receive import receive_answer
from gns3server_copilot.agent.server import Server
from gns3server_copilot.agent.turn import Turn
from gns3server_copilot.errors import ModelError
from gns3server_copilot.gns3.client import GNS3Client
from gns3server_copilot.llm.config import LLMConfig
from gns3server_copilot.llm.factory import create_base_model_with_tools
from gns3server_copilot.schemas.modes import Mode
from gns3server_copilot.tools.base import Tool, ToolContext
from gns3server_copilot.tools.dispatch import execute
from gns3server_copilot.tools.registry import tools_for
from gns3server_copilot.tools.response import failure, to_text


class State(TypedDict):
    """What is checkpointed. The topology, the token, the key and the model are not: see `turn_context`."""

    messages: Annotated[list[AnyMessage], add_messages]
    llm_calls: int


BUDGET_USED_UP = "The tool budget of this question is used up, so this call was not carried out."
LAST_WORDS = "I have used up the number of tool calls that one question may take. Ask me to go on, and I will."


class ChatGraph:
    """The graph's nodes, with what they need from the server."""

    def __init__(self, server: Server) -> None:
        self._app = server.app
        self._settings = server.settings
        self._analyses = server.analyses

    def graph(self, saver: BaseCheckpointSaver[Any]) -> CompiledStateGraph[State, Any, State, State]:
        """Give the compiled graph; its checkpoints go to `saver`."""
        builder = StateGraph(State)
        builder.add_node("llm_call", self.llm_call)
        builder.add_node("tool_node", self.tool_node)
        builder.add_edge(START, "llm_call")
        builder.add_conditional_edges("llm_call", self.should_continue, ["tool_node", END])
        builder.add_conditional_edges("tool_node", self.recursion_limit_continue, ["llm_call", END])
        return builder.compile(checkpointer=saver)

    def step_limit(self, mode: Mode) -> int:
        """Give LangGraph's own limit, which must never be what ends a turn: two steps a round, and the last two."""
        return 2 * self._rounds(mode) + 5

    async def llm_call(self, state: State) -> dict[str, Any]:
        """Ask the model."""
        context = self._tool_context()
        config = turn_context.llm_config.get()
        budget_gone = self._budget_gone(state)
        tools = () if budget_gone else self._tools()
        sent = await model_input(state["messages"], tools, context, config, budget_gone=budget_gone)
        used_ids = [
            call["id"] or "" for one in state["messages"] if isinstance(one, AIMessage) for call in one.tool_calls
        ]
        answer = await self._ask([tool.definition() for tool in tools], config, sent, used_ids)
        return {"messages": [answer], "llm_calls": state["llm_calls"] + 1}

    async def _ask(
        self, definitions: list[dict[str, Any]], config: LLMConfig, sent: list[BaseMessage], used_ids: list[str]
    ) -> AIMessage:
        """Ask the model; when it refuses an optional parameter, again without it, and so for the rest of the turn."""
        turn = turn_context.turn.get()
        while True:
            omit = frozenset(turn.refused_parameters)
            model = await asyncio.to_thread(create_base_model_with_tools, definitions, config, omit)
            try:
                return await receive_answer(model, sent, turn, used_ids, self._settings.model_idle_seconds)
            except ModelError as error:
                if error.parameter is None or error.parameter in omit:
                    raise
                turn.refused_parameters.add(error.parameter)

    async def should_continue(self, state: State) -> str:
        """Give the node after the model's answer."""
        last = state["messages"][-1]
        return "tool_node" if isinstance(last, AIMessage) and last.tool_calls else END

    async def recursion_limit_continue(self, state: State) -> str:
        """Give the node after the tools' results; past the budget they are followed by our last words."""
        return END if isinstance(state["messages"][-1], AIMessage) else "llm_call"

    async def tool_node(self, state: State) -> dict[str, Any]:
        """Carry out the calls of the model's last message: at once when all only read, else in their order."""
        asked = state["messages"][-1]
        assert isinstance(asked, AIMessage)
        if state["llm_calls"] > self._rounds(_mode()):
            refused = [await self._carry_out(call, BUDGET_USED_UP) for call in asked.tool_calls]
            return {"messages": [*refused, say(turn_context.turn.get(), LAST_WORDS)]}
        refusals = notes_of(asked).get("refused_calls", {})
        read_only = {tool.name for tool in self._tools() if tool.read_only}
        if all(call["name"] in read_only for call in asked.tool_calls):
            async with asyncio.TaskGroup() as group:
                tasks = [
                    group.create_task(self._carry_out(call, refusals.get(call["id"]))) for call in asked.tool_calls
                ]
            return {"messages": [task.result() for task in tasks]}
        return {"messages": [await self._carry_out(call, refusals.get(call["id"])) for call in asked.tool_calls]}

    async def _carry_out(self, call: Any, refusal: str | None) -> ToolMessage:
        turn = turn_context.turn.get()
        call_id, name = call["id"], call["name"]
        turn.running_tools.add(call_id)
        turn.emit("tool_start", tool_call_id=call_id, tool_name=name)
        response = failure(name, refusal) if refusal else await execute(name, call["args"], self._tool_context())
        text = await asyncio.to_thread(to_text, response)  # half a second for an answer of several MB
        result = stamp(
            ToolMessage(
                text,
                tool_call_id=call_id,
                name=name,
                id=new_message_id(),
                status="success" if response["success"] else "error",
            )
        )
        turn.produced.append(result)
        turn.running_tools.discard(call_id)
        turn.emit("tool_end", tool_call_id=call_id, tool_name=name, tool_output=text)
        return result

    def _tools(self) -> Sequence[Tool]:
        return tools_for(_mode(), self._settings)

    def _rounds(self, mode: Mode) -> int:
        return self._settings.injection_tool_rounds if mode is Mode.INJECTION else self._settings.tool_rounds

    def _budget_gone(self, state: State) -> bool:
        return state["llm_calls"] >= self._rounds(_mode())

    def _tool_context(self) -> ToolContext:
        return ToolContext(
            project=turn_context.project.get(),
            user=turn_context.user.get(),
            mode=_mode(),
            gns3=GNS3Client(self._app, turn_context.jwt_token.get()),
            settings=self._settings,
            scope=turn_context.turn.get().scope,
            knowledge=turn_context.turn.get().knowledge,
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
