"""A model server whose answers are as long and as fast as the question says. Run as a program it prints its address.

The last user message is a JSON object: `words` (how many numbered words to stream), `every` (seconds between them),
`calls` (how many rounds of calling `tool` with `arguments` come first).
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

from aiohttp import web

NO_PLAN: dict[str, Any] = {"words": 3}


def words(count: int) -> list[str]:
    """Give the pieces of an answer: numbered, so that one that is lost or out of order shows."""
    return [f"{number} " for number in range(count)]


async def complete(http: web.Request) -> web.StreamResponse:
    """Answer OpenAI's POST /v1/chat/completions with a stream."""
    body = await http.json()
    messages = body["messages"]
    asked = max(index for index, message in enumerate(messages) if message["role"] == "user")
    plan = _plan(messages[asked]["content"]) if body.get("tools") else NO_PLAN
    done = sum(message["role"] == "tool" for message in messages[asked:])
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(http)
    if done < plan.get("calls", 0):
        function = {"name": plan["tool"], "arguments": json.dumps(plan.get("arguments", {}))}
        call = {"index": 0, "id": f"call_{len(messages)}", "type": "function", "function": function}
        await _send(response, {"role": "assistant", "tool_calls": [call]})
        await _send(response, {}, "tool_calls")
    else:
        every = plan.get("every", 0.0)
        loop = asyncio.get_running_loop()
        begun = loop.time()
        for number, word in enumerate(words(plan["words"])):
            await asyncio.sleep(max(0.0, begun + number * every - loop.time()))
            await _send(response, {"role": "assistant", "content": word})
        await _send(response, {}, "stop")
    usage = {"prompt_tokens": 100, "completion_tokens": 40, "total_tokens": 140}
    await response.write(_line({"choices": [], "usage": usage}))
    await response.write(b"data: [DONE]\n\n")
    return response


def _plan(text: str) -> dict[str, Any]:
    try:
        plan = json.loads(text)
    except ValueError:
        return NO_PLAN
    return plan if isinstance(plan, dict) else NO_PLAN


async def _send(response: web.StreamResponse, delta: dict[str, Any], finish_reason: str | None = None) -> None:
    await response.write(_line({"choices": [{"index": 0, "delta": delta, "finish_reason": finish_reason}]}))


def _line(fields: dict[str, Any]) -> bytes:
    chunk = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 0, "model": "paced", **fields}
    return f"data: {json.dumps(chunk)}\n\n".encode()


async def main() -> None:
    """Serve until the process is ended."""
    app = web.Application(client_max_size=64 * 2**20)
    app.router.add_post("/v1/chat/completions", complete)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, backlog=1024).start()
    print(f"http://127.0.0.1:{runner.addresses[0][1]}/v1", flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
