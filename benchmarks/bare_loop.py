"""The least that a chat over HTTP can be: FastAPI, a LangGraph graph of two nodes, checkpoints in memory.

Run as `python -m benchmarks.bare_loop MODEL_URL` it prints its address. It knows no users, projects, privileges,
prompts, limits, files or history; what the copilot adds to this is what the benchmark shows.
"""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator
from typing import Annotated, Any, TypedDict

import uvicorn
from fastapi import FastAPI
from fastapi.responses import StreamingResponse
from langchain_core.messages import AIMessageChunk, AnyMessage, HumanMessage, ToolMessage
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from pydantic import BaseModel, SecretStr

TOOL = {
    "type": "function",
    "function": {
        "name": "get_gns3_templates",
        "description": "Lists templates.",
        "parameters": {"type": "object", "properties": {"name": {"type": "string"}}},
    },
}


class State(TypedDict):
    """The conversation."""

    messages: Annotated[list[AnyMessage], add_messages]


class Question(BaseModel):
    """What is asked in which conversation."""

    message: str
    session_id: str


def bare_app(model_url: str) -> FastAPI:
    """Give the application."""
    model = ChatOpenAI(model="paced", base_url=model_url, api_key=SecretStr("sk-none")).bind_tools([TOOL])

    async def llm_call(state: State) -> dict[str, Any]:
        return {"messages": [await model.ainvoke(state["messages"])]}

    async def tool_node(state: State) -> dict[str, Any]:
        calls = getattr(state["messages"][-1], "tool_calls", [])
        return {"messages": [ToolMessage('{"success": true}', tool_call_id=call["id"]) for call in calls]}

    async def should_continue(state: State) -> str:
        return "tool_node" if getattr(state["messages"][-1], "tool_calls", []) else END

    builder = StateGraph(State)
    builder.add_node("llm_call", llm_call)
    builder.add_node("tool_node", tool_node)
    builder.add_edge(START, "llm_call")
    builder.add_conditional_edges("llm_call", should_continue, ["tool_node", END])
    builder.add_edge("tool_node", "llm_call")
    graph = builder.compile(checkpointer=InMemorySaver())
    app = FastAPI()

    @app.post("/stream")
    async def stream(question: Question) -> StreamingResponse:
        async def events() -> AsyncIterator[str]:
            async for chunk, _ in graph.astream(
                {"messages": [HumanMessage(question.message)]},
                {"configurable": {"thread_id": question.session_id}, "recursion_limit": 100},
                stream_mode="messages",
            ):
                if isinstance(chunk, AIMessageChunk) and chunk.content:
                    yield f"data: {json.dumps({'type': 'content', 'content': chunk.content})}\n\n"
            yield 'data: {"type": "done"}\n\n'

        return StreamingResponse(events(), media_type="text/event-stream")

    return app


class _Server(uvicorn.Server):
    """Prints its address when it listens."""

    async def startup(self, sockets: Any = None) -> None:
        await super().startup(sockets)
        port = self.servers[0].sockets[0].getsockname()[1]
        print(f"http://127.0.0.1:{port}", flush=True)


if __name__ == "__main__":
    _Server(uvicorn.Config(bare_app(sys.argv[1]), port=0, log_level="warning", access_log=False)).run()
