"""What building and reading large labs costs, inside gns3-server's own process.

    python -m benchmarks.topology [--write]

Creates 100 nodes of which the 57th cannot be, by the tool and, to compare, by the same calls of the API without it;
then a project of 200 nodes, whose topology is read and told. All the while it is measured how long the event loop
keeps others waiting. Exits with 1 when a limit is passed; a machine that does other things measures those too.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks import page
from gns3server_copilot.gns3.changes import WIDTH
from gns3server_copilot.gns3.client import GNS3Client
from gns3server_copilot.gns3.topology import compact_text, read_topology
from gns3server_copilot.llm.tokens import count_tokens
from gns3server_copilot.schemas.identity import ProjectRef, User
from gns3server_copilot.schemas.modes import Mode
from gns3server_copilot.settings import Settings
from gns3server_copilot.tools.base import ToolContext
from gns3server_copilot.tools.dispatch import execute

NODES, WRONG = 100, 56
HUBS, PCS = 80, 120
SMALL = 15
READS = 20
LOOK_SECONDS = 0.005

LIMIT_SECONDS = 15.0
LIMIT_STALL_MS = 50.0
LIMIT_READ_MS = 100.0
LIMIT_TOKENS = 12_000
LIMIT_SMALL_TOKENS = 1_500


@dataclass
class Stalls:
    """How long the event loop has kept a task waiting that wanted to go on, in seconds, look by look."""

    waits: list[float] = field(default_factory=list)

    @property
    def p99_ms(self) -> float:
        """The wait that one look in a hundred exceeds."""
        return 1000 * statistics.quantiles(self.waits, n=100)[98]

    @property
    def longest_ms(self) -> float:
        """The longest."""
        return 1000 * max(self.waits)


@asynccontextmanager
async def looking() -> AsyncIterator[Stalls]:
    """Measure the event loop while the block runs."""
    stalls = Stalls()

    async def look() -> None:
        while True:
            begun = time.perf_counter()
            await asyncio.sleep(LOOK_SECONDS)
            stalls.waits.append(time.perf_counter() - begun - LOOK_SECONDS)

    task = asyncio.create_task(look())
    try:
        yield stalls
    finally:
        task.cancel()


class Bench:
    """The application with its admin, and the figures so far."""

    def __init__(self, client: GNS3Client) -> None:
        self._client = client
        self.rows: list[str] = []
        self.within = True

    def row(self, what: str, value: str, limit: str = "", *, holds: bool = True) -> None:
        """Add a figure, and whether it is within its limit."""
        self.rows.append(f"| {what} | {value} | {limit} |")
        self.within = self.within and holds
        print(f"{what}: {value}", file=sys.stderr)

    async def project(self, name: str) -> ProjectRef:
        """Make a project."""
        made = await self._client.post("/projects", {"name": name})
        return ProjectRef(made["project_id"], made["name"], made["path"])

    async def tool(self, project: ProjectRef, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Call a tool as the admin."""
        admin = User("00000000-0000-0000-0000-000000000000", "admin", True)
        context = ToolContext(project, admin, Mode.LAB_AUTOMATION, self._client, Settings())
        return await execute(name, arguments, context)

    async def warm_up(self) -> None:
        """Have everything imported, compiled and connected that only the first call needs."""
        project = await self.project("first")
        await self._all_done(self.tool(project, "create_gns3_node", {"nodes": [{"template": "VPCS", "name": "PC1"}]}))
        await self._client.delete(f"/projects/{project.project_id}")

    async def measure_creation(self) -> None:
        """Create the hundred nodes by the tool, and the 99 by plain calls."""
        names = [f"N{number}" for number in range(1, NODES + 1)]
        project = await self.project("by the tool")
        asked = [{"template": "VPX" if number == WRONG else "VPCS", "name": name} for number, name in enumerate(names)]
        async with looking() as stalls:
            begun = time.perf_counter()
            response = await self.tool(project, "create_gns3_node", {"nodes": asked})
            seconds = time.perf_counter() - begun
        if (response["successful"], response["failed"]) != (NODES - 1, 1):
            raise RuntimeError(f"not what was asked for: {response}")
        await self._client.delete(f"/projects/{project.project_id}")
        project = await self.project("by plain calls")
        async with looking() as plain_stalls:
            begun = time.perf_counter()
            await self._plain(project, [name for number, name in enumerate(names) if number != WRONG])
            plain = time.perf_counter() - begun
        await self._client.delete(f"/projects/{project.project_id}")
        what = f"{NODES} nodes, the {WRONG + 1}th wrong"
        self.row(what, f"{seconds:.1f} s", f"{LIMIT_SECONDS:g} s", holds=seconds < LIMIT_SECONDS)
        p99 = stalls.p99_ms
        self.row(
            "event loop meanwhile: p99 of its stalls (longest)",
            f"{p99:.0f} ms ({stalls.longest_ms:.0f} ms)",
            f"{LIMIT_STALL_MS:g} ms",
            holds=p99 < LIMIT_STALL_MS,
        )
        self.row(f"the {NODES - 1} by plain calls of the API", f"{plain:.1f} s")
        self.row(
            "event loop meanwhile: p99 of its stalls (longest)",
            f"{plain_stalls.p99_ms:.0f} ms ({plain_stalls.longest_ms:.0f} ms)",
        )

    async def _plain(self, project: ProjectRef, names: list[str]) -> None:
        templates = await self._client.get("/templates")
        (vpcs,) = (one["template_id"] for one in templates if one["name"] == "VPCS")
        width = asyncio.Semaphore(WIDTH)
        path = f"/projects/{project.project_id}"

        async def create(name: str) -> None:
            async with width:
                node = await self._client.post(f"{path}/templates/{vpcs}", {"x": 0, "y": 0}, timeout=600)
                await self._client.put(f"{path}/nodes/{node['node_id']}", {"name": name}, timeout=600)

        await asyncio.gather(*map(create, names))

    async def measure_reading(self) -> None:
        """Build the project of 200 nodes, read it and tell it."""
        project = await self.project("large")
        hubs = [{"template": "Ethernet hub", "name": f"HUB{number}"} for number in range(HUBS)]
        pcs = [{"template": "VPCS", "name": f"PC{number}"} for number in range(PCS)]
        await self._all_done(self.tool(project, "create_gns3_node", {"nodes": hubs + pcs}))
        links = [{"node_a": f"HUB{number}", "node_b": f"HUB{number + 1}"} for number in range(HUBS - 1)]
        links += [{"node_a": f"PC{number}", "node_b": f"HUB{number % HUBS}"} for number in range(PCS)]
        begun = time.perf_counter()
        async with looking() as stalls:
            await self._all_done(self.tool(project, "create_gns3_link", {"links": links}))
        seconds = time.perf_counter() - begun
        self.row(f"{len(links)} links with automatic ports", f"{seconds:.1f} s")
        self.row(
            "event loop meanwhile: p99 of its stalls (longest)", f"{stalls.p99_ms:.0f} ms ({stalls.longest_ms:.0f} ms)"
        )
        reads = []
        for _ in range(READS):
            begun = time.perf_counter()
            topology = await read_topology(self._client, project.project_id)
            reads.append(time.perf_counter() - begun)
        middle = 1000 * statistics.median(reads)
        what = f"reading a project of {len(topology.nodes)} nodes and {len(topology.links)} links"
        self.row(what, page.milliseconds(reads), f"{LIMIT_READ_MS:g} ms", holds=middle < LIMIT_READ_MS)
        await self._client.delete(f"/projects/{project.project_id}", timeout=120)
        small = await self._small()
        for text, count, limit in (
            (compact_text(topology, 10**6), len(topology.nodes), LIMIT_TOKENS),
            (small, SMALL, LIMIT_SMALL_TOKENS),
        ):
            (tokens,) = await count_tokens([text])
            self.row(f"its text for prompts, {count} nodes", f"{tokens} tokens", str(limit), holds=tokens < limit)

    async def _small(self) -> str:
        project = await self.project("small")
        nodes = [{"template": "Ethernet hub", "name": f"HUB{number}"} for number in range(3)]
        nodes += [{"template": "VPCS", "name": f"Host{number}"} for number in range(SMALL - 3)]
        await self._all_done(self.tool(project, "create_gns3_node", {"nodes": nodes}))
        links = [{"node_a": f"Host{number}", "node_b": f"HUB{number % 3}"} for number in range(SMALL - 3)]
        await self._all_done(self.tool(project, "create_gns3_link", {"links": links}))
        return compact_text(await read_topology(self._client, project.project_id), 10**6)

    async def _all_done(self, call: Awaitable[dict[str, Any]]) -> None:
        response = await call
        if not response["success"]:
            raise RuntimeError(str([item for item in response["data"] if item["status"] != "success"][:3] or response))


async def run(home: Path) -> Bench:
    """Measure in a fresh application."""
    # the application of the tests; imported once HOME is the throw-away one
    from tests.unit.in_process import running_app

    async with running_app(home, {"Server": {"udp_start_port_range": 10_000, "udp_end_port_range": 12_000}}) as server:
        token = await asyncio.to_thread(lambda: server.admin_token)
        bench = Bench(GNS3Client(server.app, token))
        await bench.warm_up()
        await bench.measure_creation()
        await bench.measure_reading()
    return bench


def main() -> int:
    """Measure, print, and give the exit status."""
    asked = page.options("Measure building and reading large labs.").parse_args()
    with tempfile.TemporaryDirectory() as name:
        os.environ["HOME"] = name
        bench = asyncio.run(run(Path(name)))
    figures = "\n".join(["| | | limit |", "|---|--:|--:|", *bench.rows])
    return page.report("topology", figures, within=bench.within, write=asked.write)


if __name__ == "__main__":
    sys.exit(main())
