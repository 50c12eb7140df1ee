"""The least that one would write: FastAPI, a LangGraph loop of a model and a tool, checkpoints in memory.

    python -m benchmarks.bare_loop PORT MODEL_URL

What the copilot takes is measured beside it: no users, no files, no tools that do anything, no care of what goes wrong.
"""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator
from functools import cache
from typing import Annotated, Any, TypedDict

import uvicorn
from fastapi import FastAPI
from fastapi.responses import StreamingResponse
from langchain_core.messages import AIMessage, AIMessageChunk, AnyMessage, HumanMessage, ToolMessage
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from pydantic import BaseModel, SecretStr

TOOL = {
    "type": "function",
    "function": {
        "name": "look",
        "description": "Looks for something.",
        "parameters": {"type": "object", "properties": {"name": {"type": "string"}}},
    },
}


class State(TypedDict):
    """The conversation."""

    messages: Annotated[list[AnyMessage], add_messages]


class Question(BaseModel):
    """One request."""

    message: str
    session_id: str
    model: str


@cache
def graph(model: str, model_url: str) -> Any:
    """Give the compiled loop with a model."""
    chat = ChatOpenAI(model=model, base_url=model_url, api_key=SecretStr("none"), stream_usage=True)
    asked = chat.bind_tools([TOOL])

    async def llm(state: State) -> dict[str, Any]:
        return {"messages": [await asked.ainvoke(state["messages"])]}

    async def tools(state: State) -> dict[str, Any]:
        last = state["messages"][-1]
        assert isinstance(last, AIMessage)
        return {"messages": [ToolMessage("Nothing.", tool_call_id=call["id"]) for call in last.tool_calls]}

    def next_step(state: State) -> str:
        last = state["messages"][-1]
        return "tools" if isinstance(last, AIMessage) and last.tool_calls else END

    builder = StateGraph(State)
    builder.add_node("llm", llm)
    builder.add_node("tools", tools)
    builder.add_edge(START, "llm")
    builder.add_conditional_edges("llm", next_step, ["tools", END])
    builder.add_edge("tools", "llm")
    return builder.compile(checkpointer=InMemorySaver())


def application(model_url: str) -> FastAPI:
    """Give the server."""
    app = FastAPI()

    @app.get("/v3/version")
    async def version() -> dict[str, str]:
        return {"version": "bare"}

    @app.post("/stream")
    async def stream(question: Question) -> StreamingResponse:
        config = {"configurable": {"thread_id": question.session_id}, "recursion_limit": 100}
        state = {"messages": [HumanMessage(question.message)]}

        async def lines() -> AsyncIterator[str]:
            async for chunk, _ in graph(question.model, model_url).astream(state, config, stream_mode="messages"):
                if isinstance(chunk, AIMessageChunk) and chunk.content:
                    yield f"data: {json.dumps({'type': 'content', 'content': chunk.content})}\n\n"
            yield f"data: {json.dumps({'type': 'done'})}\n\n"

        return StreamingResponse(lines(), media_type="text/event-stream")

    return app


if __name__ == "__main__":
    uvicorn.run(application(sys.argv[2]), host="127.0.0.1", port=int(sys.argv[1]), log_level="warning")
