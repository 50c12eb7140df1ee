"""A language model that costs nothing: an OpenAI-compatible server whose answers depend on the model's name.

    python -m benchmarks.model_server PORT

`tokens-N-MS` answers N numbered words, one every MS milliseconds. `tools-N` calls a tool N times, one call after the
other, and then answers 2 KB. Without tools any of them answers with a title.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator
from typing import Any

from aiohttp import web

ANSWER = ("A word and then some more of them. " * 60)[:2048]
PIECE = 64
USAGE = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}


async def deltas(name: str, body: dict[str, Any]) -> AsyncIterator[dict[str, Any]]:
    """Give the pieces of one answer."""
    kind, *numbers = name.split("-")
    if not body.get("tools"):  # the title of a conversation is asked for without tools
        yield {"content": "A title"}
        return
    if kind == "tokens":
        count, milliseconds = map(int, numbers)
        due = time.monotonic()
        for number in range(count):
            yield {"content": f"{number} "}
            due += milliseconds / 1000
            await asyncio.sleep(max(0.0, due - time.monotonic()))
        return
    done = 0
    for message in body["messages"]:
        done = 0 if message["role"] == "user" else done + (message["role"] == "tool")
    if done < int(numbers[0]):
        names = [tool["function"]["name"] for tool in body["tools"]]
        tool = "get_gns3_templates" if "get_gns3_templates" in names else names[0]
        function = {"name": tool, "arguments": '{"name": "VPCS"}'}
        call = {"index": 0, "id": f"call_{time.monotonic_ns()}", "type": "function", "function": function}
        yield {"tool_calls": [call]}
        return
    for start in range(0, len(ANSWER), PIECE):
        yield {"content": ANSWER[start : start + PIECE]}


async def complete(request: web.Request) -> web.StreamResponse:
    """Answer a request as a stream."""
    body = await request.json()
    answer = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await answer.prepare(request)
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": body["model"]}

    async def send(choices: list[dict[str, Any]], **more: Any) -> None:
        await answer.write(b"data: " + json.dumps({**head, "choices": choices, **more}).encode() + b"\n\n")

    reason = "stop"
    async for delta in deltas(body["model"], body):
        reason = "tool_calls" if "tool_calls" in delta else "stop"
        await send([{"index": 0, "delta": {"role": "assistant", **delta}, "finish_reason": None}])
    await send([{"index": 0, "delta": {}, "finish_reason": reason}])
    await send([], usage=USAGE)
    await answer.write(b"data: [DONE]\n\n")
    return answer


if __name__ == "__main__":
    application = web.Application(client_max_size=64 * 1024 * 1024)
    application.router.add_post("/v1/chat/completions", complete)
    web.run_app(application, host="127.0.0.1", port=int(sys.argv[1]), print=None, access_log=None)
