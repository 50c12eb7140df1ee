"""What a turn costs: beside the least that one would write, in the same run, on the same model server.

    python -m benchmarks.chat [--rounds N] [--write]

Measures, in turn for the bare loop and the copilot: many conversations that stream at once, the first token, and a step
of a turn with ten tool calls; and for the copilot alone the first turn after a start and a conversation of 200 turns.
Exits with 1 when a limit is passed.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp

from benchmarks import page
from benchmarks.stock_server import StockServer, free_port

SESSIONS, TOKENS, TOKEN_MS = 50, 40, 25
TURNS = 200
STEPS = 10
SAMPLES = 15

LIMIT_RATIO = 2.0
LIMIT_TOGETHER = 1.5
LIMIT_VERSION_MS = 100.0
LIMIT_FIRST_TURN = 1.5
LIMIT_GROWTH_MS = 100.0
LIMIT_MB = 6.0

COPILOT = "max_turns_per_user = 100\nmax_turns = 200\n"
FAST, SLOW, TOOLS, TOOL = "tokens-3-0", f"tokens-{TOKENS}-{TOKEN_MS}", f"tools-{STEPS}", "tools-1"


@dataclass
class Target:
    """Something that answers questions: where, and what a request to it holds besides the question."""

    client: aiohttp.ClientSession
    url: str
    version_url: str
    configs: dict[str, str] = field(default_factory=dict)

    async def events(self, model: str, session_id: str, message: str = "hello") -> AsyncIterator[dict[str, Any]]:
        """Ask, and give the events of the answer. Raises RuntimeError when it fails."""
        body = {"message": message, "session_id": session_id}
        body |= {"config_id": self.configs[model]} if self.configs else {"model": model}
        async with self.client.post(self.url, json=body) as answer:
            if answer.status != 200:
                raise RuntimeError(f"{answer.status}: {await answer.text()}")
            async for line in answer.content:
                if line.startswith(b"data: "):
                    event = json.loads(line[6:])
                    if event["type"] == "error":
                        raise RuntimeError(event["error"])
                    yield event

    async def ask(self, model: str, session_id: str) -> list[dict[str, Any]]:
        """Ask and give all events."""
        return [event async for event in self.events(model, session_id)]

    async def first_token(self, model: str) -> float:
        """Give the seconds until the first piece of text of a new conversation."""
        begun = time.perf_counter()
        seconds = 0.0
        async for event in self.events(model, str(uuid.uuid4())):
            if event["type"] == "content" and not seconds:
                seconds = time.perf_counter() - begun
        return seconds

    async def step(self) -> float:
        """Give the seconds of one of ten steps of a turn, each a tool call and the model asked again."""
        begun = time.perf_counter()
        await self.ask(TOOLS, str(uuid.uuid4()))
        return (time.perf_counter() - begun) / STEPS

    async def together(self) -> tuple[float, float]:
        """Give the seconds that all conversations take at once, and the 95th percentile of `/v3/version` meanwhile."""
        done = asyncio.Event()
        probes: list[float] = []

        async def probe() -> None:
            while not done.is_set():
                begun = time.perf_counter()
                async with self.client.get(self.version_url) as answer:
                    await answer.read()
                probes.append(time.perf_counter() - begun)
                await asyncio.sleep(0.02)

        probing = asyncio.create_task(probe())
        begun = time.perf_counter()
        answers = await asyncio.gather(*(self.ask(SLOW, str(uuid.uuid4())) for _ in range(SESSIONS)))
        seconds = time.perf_counter() - begun
        done.set()
        await probing
        sent = "".join(f"{number} " for number in range(TOKENS))
        for events in answers:
            received = "".join(event["content"] for event in events if event["type"] == "content")
            if received != sent:
                raise RuntimeError(f"sent {sent!r} but received {received!r}")
        return seconds, statistics.quantiles(probes, n=20)[-1]


@contextmanager
def running(module: str, port: int, *arguments: str) -> Iterator[str]:
    """Run one of our modules as a server and give its URL."""
    process = subprocess.Popen([sys.executable, "-m", module, str(port), *arguments])
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()


async def wait_for(client: aiohttp.ClientSession, url: str) -> None:
    """Return when a server answers anything at all."""
    for _ in range(1500):
        try:
            async with client.get(url):
                return
        except aiohttp.ClientConnectionError:
            await asyncio.sleep(0.02)
    raise RuntimeError(f"{url} does not answer")


async def bare_target(client: aiohttp.ClientSession, url: str) -> Target:
    """Give the bare loop, once it is there."""
    await wait_for(client, f"{url}/v3/version")
    return Target(client, f"{url}/stream", f"{url}/v3/version")


async def copilot_target(client: aiohttp.ClientSession, url: str, model_url: str) -> tuple[Target, Path]:
    """Give the copilot of a server, and the folder of the project that is asked about."""

    async def post(path: str, **body: Any) -> Any:
        async with client.post(f"{url}/v3{path}", json=body) as answer:
            answer.raise_for_status()
            return await answer.json()

    token = (await post("/access/users/authenticate", username="admin", password="admin"))["access_token"]
    client.headers["Authorization"] = f"Bearer {token}"
    async with client.get(f"{url}/v3/access/users/me") as answer:
        user_id = (await answer.json())["user_id"]
    project = await post("/projects", name=f"chat-{uuid.uuid4().hex[:8]}")
    configs = {}
    for model in (FAST, SLOW, TOOLS, TOOL):
        stored = await post(
            f"/access/users/{user_id}/llm-model-configs",
            name=f"{model}-{uuid.uuid4().hex[:8]}",
            model_type="text",
            provider="openai",
            base_url=model_url,
            model=model,
            api_key="sk-benchmark-0000",
            context_limit=4000,
        )
        configs[model] = stored["config_id"]
    chat = f"{url}/v3/projects/{project['project_id']}/chat/stream"
    return Target(client, chat, f"{url}/v3/version", configs), Path(project["path"])


@dataclass
class Figures:
    """What was measured, in seconds and bytes; of a pair the bare loop's come first."""

    together: tuple[list[float], list[float]] = field(default_factory=lambda: ([], []))
    version: tuple[list[float], list[float]] = field(default_factory=lambda: ([], []))
    first_token: tuple[list[float], list[float]] = field(default_factory=lambda: ([], []))
    step: tuple[list[float], list[float]] = field(default_factory=lambda: ([], []))
    model: list[float] = field(default_factory=list)
    first_turn: list[float] = field(default_factory=list)
    turns: list[float] = field(default_factory=list)
    size: int = 0


async def measure_model(client: aiohttp.ClientSession, model_url: str) -> float:
    """Give the seconds that the model server itself takes to its first token."""
    body = {"model": FAST, "stream": True, "messages": [{"role": "user", "content": "hello"}]}
    begun = time.perf_counter()
    async with client.post(f"{model_url}/chat/completions", json=body) as answer:
        await answer.content.readline()
        seconds = time.perf_counter() - begun
        await answer.read()
    return seconds


async def measure_long_conversation(target: Target, project: Path, figures: Figures) -> None:
    """Have a conversation of many turns with a tool call and a long answer each."""
    session_id = str(uuid.uuid4())
    for _ in range(TURNS):
        begun = time.perf_counter()
        await target.ask(TOOL, session_id)
        figures.turns.append(time.perf_counter() - begun)
    files = list((project / "gns3-copilot").iterdir())
    figures.size = sum(file.stat().st_size for file in files if not file.name.endswith("-shm"))


async def measure(folder: Path, rounds: int) -> Figures:
    """Measure everything."""
    figures = Figures()
    programs = Path(sysconfig.get_path("scripts"))
    timeout = aiohttp.ClientTimeout(total=None)
    # below the 5 s after which uvicorn closes an idle connection, perhaps just when it is used again
    connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=2)
    with running("benchmarks.model_server", free_port()) as model:
        model_url = f"{model}/v1"
        async with aiohttp.ClientSession(timeout=timeout, connector=connector) as client:
            await wait_for(client, model)
            for number in range(rounds):
                with StockServer(programs, folder / f"first-{number}") as server:
                    async with aiohttp.ClientSession(timeout=timeout) as own:
                        target, _ = await copilot_target(own, server.url, model_url)
                        figures.first_turn.append(await target.first_token(FAST))
            with (
                running("benchmarks.bare_loop", free_port(), model_url) as bare_url,
                StockServer(programs, folder / "copilot", copilot=COPILOT) as server,
            ):
                bare = await bare_target(client, bare_url)
                copilot, project = await copilot_target(client, server.url, model_url)
                targets = (bare, copilot)
                for target in targets:  # uncounted: what both load at first use
                    await target.first_token(FAST)
                    await target.step()
                for _ in range(rounds):
                    await measure_round(client, model_url, targets, figures)
                await measure_long_conversation(copilot, project, figures)
    return figures


async def measure_round(
    client: aiohttp.ClientSession, model_url: str, targets: tuple[Target, Target], figures: Figures
) -> None:
    """Measure both, in turn."""
    for _ in range(SAMPLES):
        figures.model.append(await measure_model(client, model_url))
        for target, seconds in zip(targets, figures.first_token, strict=True):
            seconds.append(await target.first_token(FAST))
    for _ in range(3):
        for target, seconds in zip(targets, figures.step, strict=True):
            seconds.append(await target.step())
    for target, seconds, version in zip(targets, figures.together, figures.version, strict=True):
        for values, value in zip((seconds, version), await target.together(), strict=True):
            values.append(value)


def table(figures: Figures) -> tuple[str, bool]:
    """Give the figures as a Markdown table, and whether all are within their limits."""
    lines = ["| | bare loop | copilot | | limit |", "|---|--:|--:|--:|--:|"]
    own = statistics.median(figures.model)
    rows: list[tuple[str, list[float] | None, list[float], str, float, float]] = []

    def pair(name: str, before: list[float], after: list[float], limit: float) -> None:
        ratio = statistics.median(after) / statistics.median(before)
        rows.append((name, before, after, f"{ratio:.2f} times", ratio, limit))

    pair(f"{SESSIONS} conversations at once", *figures.together, LIMIT_TOGETHER)
    pair(
        "first token, over the model's own",
        [value - own for value in figures.first_token[0]],
        [value - own for value in figures.first_token[1]],
        LIMIT_RATIO,
    )
    pair(f"a step of a turn of {STEPS}", *figures.step, LIMIT_RATIO)
    slowest = max(figures.version[1])
    rows.append(
        ("`/v3/version` meanwhile, 95 %", figures.version[0], figures.version[1], "", slowest * 1000, LIMIT_VERSION_MS)
    )
    first = max(figures.first_turn)
    rows.append(("first token of the first turn after a start", None, figures.first_turn, "", first, LIMIT_FIRST_TURN))
    early, late = figures.turns[5:15], figures.turns[-10:]
    growth = (statistics.median(late) - statistics.median(early)) * 1000
    rows.append(
        (f"turns {TURNS - 9} to {TURNS}, over 6 to 15", early, late, f"{growth:+.0f} ms", growth, LIMIT_GROWTH_MS)
    )
    within = True
    for name, before, after, note, value, limit in rows:
        within = within and value < limit
        lines.append(f"| {name} | {page.milliseconds(before)} | {page.milliseconds(after)} | {note} | {limit:g} |")
    megabytes = figures.size / 1e6
    within = within and megabytes < LIMIT_MB
    lines.append(f"| file and WAL after {TURNS} turns | | {megabytes:.2f} MB | | {LIMIT_MB:g} |")
    return "\n".join(lines), within


def main() -> int:
    """Measure, print, and give the exit status."""
    asked = page.options("Measure what a turn costs beside a bare loop.", rounds=3).parse_args()
    with tempfile.TemporaryDirectory() as name:
        figures = asyncio.run(measure(Path(name), asked.rounds))
    rows, within = table(figures)
    heading = f"{asked.rounds} rounds of each, in turn; medians (least–most)."
    return page.report("chat", rows, heading=heading, within=within, write=asked.write)


if __name__ == "__main__":
    sys.exit(main())
