"""What it takes to prepare a model call in a long conversation, and how long the server's event loop stands still then.

    python -m benchmarks.context [--tokens N] [--rounds N] [--write]

The conversation has tool calls with device output. It is prepared for a model whose window holds it, and for one whose
window does not, so that it is trimmed. Meanwhile a task asks every millisecond how late it is called. Exits with 1 when
a limit is passed.
"""

from __future__ import annotations

import argparse
import asyncio
import datetime
import gc
import platform
import re
import statistics
import sys
import time
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage

from gns3server_copilot import __version__
from gns3server_copilot.agent import context_window
from gns3server_copilot.agent.context_window import pre_model_hook
from gns3server_copilot.agent.counting import Counter
from gns3server_copilot.agent.messages import stamp
from gns3server_copilot.gns3.canvas import Canvas
from gns3server_copilot.gns3.client import GNS3Client
from gns3server_copilot.llm.config import LLMConfig
from gns3server_copilot.schemas.identity import ProjectRef, User
from gns3server_copilot.schemas.modes import Mode
from gns3server_copilot.settings import Settings
from gns3server_copilot.tools.base import ToolContext
from gns3server_copilot.tools.registry import tools_for

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"
BEGIN, END = "<!-- context: begin -->", "<!-- context: end -->"

LIMIT_LATER_MS = 150.0
LIMIT_STALL_P99_MS = 20.0
LIMIT_STALL_MAX_MS = 100.0

NODES = 15
IDLE_SECONDS = 2.0
OUTPUT = (
    "O    10.{0}.0.0/16 [110/{0}] via 10.0.{0}.2, 00:0{1}:13, GigabitEthernet0/{1}\n"
    "GigabitEthernet0/{1}     10.0.{0}.1     YES NVRAM  up                    up\n"
    "interface GigabitEthernet0/{1}\n ip address 10.0.{0}.1 255.255.255.0\n ip ospf cost {0}\n"
)


@dataclass
class Figures:
    """Milliseconds of one case."""

    first: list[float] = field(default_factory=list)
    later: list[float] = field(default_factory=list)
    stalls: list[float] = field(default_factory=list)
    sent_tokens: int = 0

    def row(self, name: str) -> str:
        """Give the row of the table."""
        first, later = statistics.median(self.first), statistics.median(self.later)
        p50, p99, most = quantile(self.stalls, 0.5), quantile(self.stalls, 0.99), max(self.stalls)
        return f"| {name} | {self.sent_tokens} | {first:.0f} | {later:.0f} | {p50:.1f} | {p99:.1f} | {most:.1f} |"

    def passed(self, idle: list[float]) -> list[str]:
        """Give the limits that are passed, by more than an idle loop is late on this machine."""
        found = {
            f"preparing a call takes {statistics.median(self.later):.0f} ms": statistics.median(self.later)
            > LIMIT_LATER_MS,
            f"p99 of the stalls is {quantile(self.stalls, 0.99):.1f} ms": quantile(self.stalls, 0.99)
            > LIMIT_STALL_P99_MS + quantile(idle, 0.99),
            f"the longest stall is {max(self.stalls):.1f} ms": max(self.stalls) > LIMIT_STALL_MAX_MS + max(idle),
        }
        return [words for words, passed in found.items() if passed]


def conversation(tokens: int) -> list[AnyMessage]:
    """Give a conversation of about so many tokens: questions, two tool calls each with 3 KB of output, answers."""
    counter = Counter()
    messages: list[AnyMessage] = []
    total = number = 0
    while total < tokens:
        number += 1
        calls = [{"name": "look", "args": {"devices": [f"R{n}"]}, "id": f"call_{number}_{n}"} for n in (1, 2)]
        output = "".join(OUTPUT.format((number + line) % 250, line % 10) for line in range(15))
        new: list[AnyMessage] = [
            HumanMessage(f"What is wrong on R{number}? 为什么？", id=str(uuid.uuid4())),
            AIMessage("I look.", tool_calls=calls, id=str(uuid.uuid4())),
            *(
                # a result is looked through for secrets when it comes, and says so
                stamp(ToolMessage(output, tool_call_id=call["id"], name="look", id=str(uuid.uuid4())), redacted=True)
                for call in calls
            ),
            AIMessage("The areas differ. " * 30, id=str(uuid.uuid4())),
        ]
        total += sum(counter.messages(new))
        messages += new
    return [*messages, HumanMessage("And now?", id=str(uuid.uuid4()))]


class Lab:
    """Stands for gns3-server's client: what the topology is read from, routers in a row."""

    async def canvas(self, _: str) -> Canvas:
        """Give the canvas."""
        ports = [{"name": f"g0/{n}", "short_name": f"g0/{n}", "adapter_number": n, "port_number": 0} for n in range(8)]
        nodes = [
            {"node_id": f"n{n}", "name": f"R{n}", "node_type": "dynamips", "status": "started", "ports": ports}
            for n in range(NODES)
        ]
        ends = [
            [{"node_id": f"n{n + side}", "adapter_number": 1 - side, "port_number": 0} for side in range(2)]
            for n in range(NODES - 1)
        ]
        return Canvas(nodes, [{"link_id": f"l{n}", "nodes": both} for n, both in enumerate(ends)], [])


@asynccontextmanager
async def watched(stalls: list[float]) -> AsyncIterator[None]:
    """Note how much later than asked for the loop calls, in milliseconds."""

    async def watch() -> None:
        while True:
            begun = time.perf_counter()
            await asyncio.sleep(0.001)
            stalls.append(max(0.0, (time.perf_counter() - begun - 0.001) * 1000))

    task = asyncio.create_task(watch())
    try:
        yield
    finally:
        task.cancel()


async def idle_delays() -> list[float]:
    """Give the delays of a loop that has nothing to do."""
    found: list[float] = []
    async with watched(found):
        await asyncio.sleep(IDLE_SECONDS)
    return found


def configuration(context_limit: int) -> LLMConfig:
    """Give a configuration with this window."""
    return LLMConfig(
        config_id=str(uuid.uuid4()),
        version=0,
        name="bench",
        source="user",
        provider="openai",
        model="bench",
        base_url="",
        temperature=None,
        max_tokens=None,
        context_limit=context_limit,
        context_strategy="balanced",
        copilot_mode=Mode.LAB_AUTOMATION,
        api_key=None,
    )


async def measure(messages: list[AnyMessage], context_limit: int, rounds: int) -> Figures:
    """Prepare a call `rounds` times with nothing counted before, and four times more each."""
    figures = Figures()
    settings = Settings()
    context = ToolContext(
        project=ProjectRef("p", "bench", "/tmp"),
        user=User("u", "bench", False),
        mode=Mode.LAB_AUTOMATION,
        gns3=cast(GNS3Client, Lab()),
        settings=settings,
    )
    tools = tools_for(Mode.LAB_AUTOMATION, settings)
    config = configuration(context_limit)
    await pre_model_hook(messages[-1:], tools, context, config)  # loads the rank table and the prompt
    async with watched(figures.stalls):
        for _ in range(rounds):
            context_window.COUNTER = Counter()
            for times in (figures.first, *[figures.later] * 4):
                begun = time.perf_counter()
                prepared = await pre_model_hook(messages, tools, context, config)
                times.append((time.perf_counter() - begun) * 1000)
                figures.sent_tokens = prepared.tokens
    return figures


def quantile(values: list[float], share: float) -> float:
    """Give the value below which this share of them is."""
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def main() -> int:
    """Measure, print, and write the table when asked to."""
    parser = argparse.ArgumentParser(prog="benchmarks.context", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--tokens", type=int, default=100_000, help="length of the conversation (100000)")
    parser.add_argument("--rounds", type=int, default=10, help="rounds of each case (10)")
    parser.add_argument("--write", action="store_true", help=f"put the table into {PAGE.name}")
    asked = parser.parse_args()
    messages = conversation(asked.tokens)
    gc.freeze()  # as the server does when it has loaded the agent (`llm/importing.py`)
    cases = {"it fits (200,000)": 200, "it is trimmed (64,000)": 64}
    measured = {name: asyncio.run(measure(messages, limit, asked.rounds)) for name, limit in cases.items()}
    idle = asyncio.run(idle_delays())
    table = "\n".join(
        [
            f"{len(messages)} messages of {asked.tokens} tokens; {asked.rounds} first, {asked.rounds * 4} later calls "
            "of each, medians, in ms.",
            f"{datetime.date.today()}, Python {platform.python_version()}, copilot {__version__}.",
            "",
            "| window | tokens sent | first call | later calls | loop's delay p50 | p99 | longest |",
            "|---|--:|--:|--:|--:|--:|--:|",
            *(figures.row(name) for name, figures in measured.items()),
            f"| nothing to do | | | | {quantile(idle, 0.5):.1f} | {quantile(idle, 0.99):.1f} | {max(idle):.1f} |",
        ]
    )
    print(table)
    if asked.write:
        page = PAGE.read_text(encoding="utf-8")
        pattern = re.compile(f"{re.escape(BEGIN)}.*{re.escape(END)}", re.DOTALL)
        PAGE.write_text(pattern.sub(lambda _: f"{BEGIN}\n{table}\n{END}", page), encoding="utf-8")
    passed = [f"{name}: {words}" for name, figures in measured.items() for words in figures.passed(idle)]
    print("\n".join(passed), file=sys.stderr)
    return 1 if passed else 0


if __name__ == "__main__":
    sys.exit(main())
