"""What a chat costs beside a bare LangGraph loop on the same model server, in turn in the same run.

    python -m benchmarks.chat [--rounds N] [--write]

50 sessions that stream at once, the first token, one step of a turn with ten tool calls, and a conversation of 200
turns. Model server, bare loop and gns3-server are processes of their own; every answer is compared with what the model
sent. On a machine that does other things at the same time, the ratios are what to go by.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import aclosing, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from benchmarks.paced_model import words
from benchmarks.page import options, report, spread
from tests.ground.chat import configure_model
from tests.ground.projects import Project, Projects
from tests.ground.server import GNS3Server
from tests.ground.users import log_in_admin

STREAMS, WORDS, EVERY = 50, 40, 0.025
STEPS = 10
FIRST_TOKENS = 30
TURNS = 200
TURNS_COMPARED = 15
#: As many numbered words as fill two KB.
ANSWER_WORDS = 540

LIMITS = {"streams": 1.5, "version_ms": 100.0, "first": 2.0, "step": 2.0, "growth_ms": 100.0, "mb": 6.0, "cold_s": 1.5}

Plan = dict[str, Any]


@dataclass
class Chat:
    """One of the two that are compared: where to ask, as whom, and what has been measured."""

    client: httpx.AsyncClient
    path: str
    totals: list[float] = field(default_factory=list)
    first_tokens: list[float] = field(default_factory=list)
    steps: list[float] = field(default_factory=list)

    async def ask(self, plan: Plan, session_id: str) -> tuple[float, float]:
        """Ask, check the answer, and give the seconds until its first word and until its end."""
        begun = time.perf_counter()
        first = 0.0
        text = ""
        body = {"message": json.dumps(plan), "session_id": session_id}
        async with self.client.stream("POST", self.path, json=body) as response:
            response.raise_for_status()
            async for line in response.aiter_lines():
                if not line.startswith("data: "):
                    continue
                event = json.loads(line[6:])
                if event["type"] == "content":
                    first = first or time.perf_counter() - begun
                    text += event["content"]
                elif event["type"] == "error":
                    raise RuntimeError(event["error"])
        if text != "".join(words(plan["words"])):
            raise RuntimeError(f"the answer is not what the model sent: {text!r}")
        return first, time.perf_counter() - begun

    async def stream_at_once(self) -> None:
        """Measure the time that 50 conversations take together."""
        begun = time.perf_counter()
        plan = {"words": WORDS, "every": EVERY}
        async with asyncio.TaskGroup() as group:
            for _ in range(STREAMS):
                group.create_task(self.ask(plan, str(uuid.uuid4())))
        self.totals.append(time.perf_counter() - begun)

    async def answer_first_tokens(self) -> None:
        """Measure the time to the first word of short answers, one after the other, each in a session of its own."""
        for _ in range(FIRST_TOKENS):
            first, _ = await self.ask({"words": 3}, str(uuid.uuid4()))
            self.first_tokens.append(first)

    async def take_steps(self) -> None:
        """Measure one step (model and tool) of a turn with ten."""
        plan = {"words": 3, "calls": STEPS, "tool": "get_gns3_templates", "arguments": {"name": "VPCS"}}
        _, whole = await self.ask(plan, str(uuid.uuid4()))
        self.steps.append(whole / (STEPS + 1))


@dataclass
class LongConversation:
    """200 turns in one session: seconds of each turn, and what the file has grown to."""

    seconds: list[float] = field(default_factory=list)
    megabytes: float = 0.0

    @property
    def early(self) -> float:
        """The median around turn 10."""
        return statistics.median(self.seconds[10 - TURNS_COMPARED // 2 : 10 + TURNS_COMPARED // 2])

    @property
    def late(self) -> float:
        """The median of the last turns."""
        return statistics.median(self.seconds[-TURNS_COMPARED:])


async def converse(chat: Chat, project: Project) -> LongConversation:
    """Have a conversation of 200 turns, each with a tool call and an answer of 2 KB."""
    conversation, session_id = LongConversation(), str(uuid.uuid4())
    plan = {"words": ANSWER_WORDS, "calls": 1, "tool": "get_gns3_templates", "arguments": {}}
    for _ in range(TURNS):
        _, whole = await chat.ask(plan, session_id)
        conversation.seconds.append(whole)
    files = (project.chat_database, Path(f"{project.chat_database}-wal"))
    conversation.megabytes = sum(file.stat().st_size for file in files if file.exists()) / 1e6
    return conversation


@contextmanager
def program(module: str, *arguments: str) -> Iterator[str]:
    """Run a program of ours that prints its address, and give the address."""
    process = subprocess.Popen([sys.executable, "-m", module, *arguments], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        if not address:
            raise RuntimeError(f"{module} did not start")
        yield address
    finally:
        process.terminate()
        process.wait()


@asynccontextmanager
async def copilot(server: GNS3Server, model_url: str) -> AsyncIterator[tuple[Chat, Project]]:
    """Give the copilot's chat of a fresh project of a running server."""
    async with aclosing(await log_in_admin(server)) as admin:
        projects = Projects(admin)
        project = await projects.make(auto_close=False)
        await configure_model(admin, provider="openai", base_url=model_url, api_key="sk-none")
        yield Chat(admin, f"{project.chat}/stream"), project
        await projects.delete_all()


async def version_times(client: httpx.AsyncClient, work: Callable[[], Awaitable[None]]) -> list[float]:
    """Do some work and give the seconds of the server's `GET /v3/version` meanwhile."""
    times: list[float] = []
    working = asyncio.ensure_future(work())
    while not working.done():
        begun = time.perf_counter()
        await client.get("/v3/version")
        times.append(time.perf_counter() - begun)
        await asyncio.sleep(0.02)
    await working
    return times


async def model_alone(model_url: str) -> float:
    """Give the seconds that the model server itself takes to its first word (median)."""
    tools = [{"type": "function", "function": {"name": "get_gns3_templates"}}]
    body = {"messages": [{"role": "user", "content": '{"words": 3}'}], "tools": tools, "stream": True}
    times = []
    async with httpx.AsyncClient(trust_env=False) as client:
        for _ in range(FIRST_TOKENS):
            begun = time.perf_counter()
            async with client.stream("POST", f"{model_url}/chat/completions", json=body) as response:
                async for line in response.aiter_lines():
                    if '"content"' in line:
                        times.append(time.perf_counter() - begun)
                        break
    return statistics.median(times)


async def cold_start(server: GNS3Server, model_url: str) -> float:
    """Give the seconds to the first word of the first question after a start of the server."""
    await asyncio.to_thread(server.stop)
    await asyncio.to_thread(server.start)
    async with copilot(server, model_url) as (chat, _):
        first, _ = await chat.ask({"words": 3}, str(uuid.uuid4()))
    return first


async def measure(rounds: int) -> tuple[str, bool]:
    """Measure everything and give the table, and whether all is within the limits."""
    with (
        tempfile.TemporaryDirectory() as folder,
        program("benchmarks.paced_model") as model_url,
        program("benchmarks.bare_loop", model_url) as bare_url,
    ):
        server = GNS3Server(Path(folder) / "home", copilot={"max_turns_per_user": STREAMS})
        try:
            server.start()
            async with (
                httpx.AsyncClient(base_url=bare_url, timeout=60, trust_env=False) as client,
                copilot(server, model_url) as (chat, project),
            ):
                bare = Chat(client, "/stream")
                for each in (bare, chat):  # what is imported and connected at first use does not count
                    await each.ask({"words": 3}, str(uuid.uuid4()))
                versions: list[float] = []
                for number in range(rounds):
                    await bare.stream_at_once()
                    versions += await version_times(chat.client, chat.stream_at_once)
                    for each in (bare, chat):
                        await each.answer_first_tokens()
                        await each.take_steps()
                    print(
                        f"round {number + 1} of {rounds}: {bare.totals[-1]:.2f} s, {chat.totals[-1]:.2f} s",
                        file=sys.stderr,
                    )
                alone = await model_alone(model_url)
                conversation = await converse(chat, project)
            cold = [await cold_start(server, model_url) for _ in range(rounds)]
            server.stop()
        finally:
            server.discard()
    return table(bare, chat, versions, alone, conversation, cold)


def table(
    bare: Chat, chat: Chat, versions: list[float], alone: float, conversation: LongConversation, cold: list[float]
) -> tuple[str, bool]:
    """Give the figures as Markdown, and whether all are within their limits."""
    lines = ["| | bare loop | copilot | | limit |", "|---|--:|--:|--:|--:|"]
    within = True

    def row(name: str, bare_text: str, text: str, value: float, limit: str, shown: str) -> None:
        nonlocal within
        within = within and value <= LIMITS[limit]
        lines.append(f"| {name} | {bare_text} | {text} | {shown} | {LIMITS[limit]:g} |")

    def compared(name: str, before: list[float], after: list[float], limit: str, unit: str, scale: float) -> None:
        ratio = statistics.median(after) / statistics.median(before)
        texts = (spread([one * scale for one in figures], 2 if unit == "s" else 1) for figures in (before, after))
        row(name, *(f"{text} {unit}" for text in texts), ratio, limit, f"× {ratio:.2f}")

    compared(
        f"{STREAMS} streams of {WORDS} words, one each {EVERY * 1000:g} ms", bare.totals, chat.totals, "streams", "s", 1
    )
    slow = sorted(versions)[int(len(versions) * 0.95)] * 1000
    row("`GET /v3/version` meanwhile, p95", "", f"{slow:.0f} ms", slow, "version_ms", "")
    over = [[one - alone for one in figures] for figures in (bare.first_tokens, chat.first_tokens)]
    compared("first token over the model's own", *over, "first", "ms", 1000)
    compared(f"one of {STEPS + 1} steps of a turn with {STEPS} tool calls", bare.steps, chat.steps, "step", "ms", 1000)
    row("first token of the first turn after a start", "", f"{spread(cold)} s", max(cold), "cold_s", "")
    growth = (conversation.late - conversation.early) * 1000
    early, late = conversation.early * 1000, conversation.late * 1000
    row(
        "turn 10 and turn 200 (a tool call, 2 KB answer)",
        "",
        f"{early:.0f} ms, {late:.0f} ms",
        growth,
        "growth_ms",
        f"{growth:+.0f} ms",
    )
    megabytes = conversation.megabytes
    row("chat database with its WAL after 200 turns", "", f"{megabytes:.2f} MB", megabytes, "mb", "")
    return "\n".join(lines), within


def main() -> int:
    """Measure, print, and give the exit status."""
    asked = options("Measure what a chat costs beside a bare LangGraph loop.", rounds=3).parse_args()
    text, within = asyncio.run(measure(asked.rounds))
    text = f"{asked.rounds} rounds, in turn; medians (least–most).\n\n{text}"
    return report("chat", text, within=within, write=asked.write)


if __name__ == "__main__":
    sys.exit(main())
