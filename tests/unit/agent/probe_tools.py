"""Tools that do nothing to the lab and note what they were asked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from pydantic import Field

from gns3server_copilot.errors import ToolError
from gns3server_copilot.gns3.changes import let_finish
from gns3server_copilot.schemas.modes import Mode
from gns3server_copilot.tools.base import Tool, ToolArguments, ToolContext
from gns3server_copilot.tools.response import failed, succeeded

EVERY_MODE = frozenset(Mode)


class ProbeArguments(ToolArguments):
    n: int = Field(0, description="Which call this is, e.g. 1")
    how: str = Field("well", description="How it goes, e.g. well")


class Probes:
    """The tools, what ran, and what is done when a call says so."""

    def __init__(self) -> None:
        self.ran: list[tuple[str, int, Mode]] = []
        self.ended = 0
        self.abort: Callable[[], None] = lambda: None
        self.changes = asyncio.Event()
        self.begun = asyncio.Event()
        self.tools = (
            self._tool("look", EVERY_MODE, read_only=True),
            self._tool("look_again", EVERY_MODE, read_only=True),
            self._tool("change", {Mode.LAB_AUTOMATION, Mode.TEACHING}, read_only=False),
            self._tool("stop_it", {Mode.LAB_AUTOMATION}, read_only=False),
            self._tool("spoil", {Mode.INJECTION}, read_only=False),
        )

    async def run(self, name: str, arguments: ProbeArguments, context: ToolContext) -> list[dict[str, Any]]:
        self.ran.append((name, arguments.n, context.mode))
        try:
            return await self._do(name, arguments.how)
        finally:
            self.ended += 1

    async def _do(self, name: str, how: str) -> list[dict[str, Any]]:
        if how == "refuse":
            raise ToolError("It cannot be done.")
        if how == "crash":
            raise OSError("disk full")
        if how == "fail":
            return [failed("1", name, "It did not work.")]
        if how == "odd":
            return [{"id": None, "result": {1, 2}, "status": "success", "when": float("nan"), "raw": b"\xff"}]
        if how == "slow":
            for _ in range(5):
                await asyncio.sleep(0)
        if how == "abort":
            self.abort()
            await asyncio.Event().wait()
        if how in ("finish", "break", "go on"):
            await let_finish(f"make {how}", self._change(how), lambda made: f"{made} exists.")
        return [succeeded("1", name, "done")]

    async def _change(self, how: str) -> str:
        self.begun.set()
        await self.changes.wait()
        if how == "break":
            raise ToolError("There is no room.")
        return "R9"

    def _tool(self, tool_name: str, in_modes: frozenset[Mode] | set[Mode], *, read_only: bool) -> Tool:
        probes, reads = self, read_only

        class Probe(Tool[ProbeArguments]):
            name = tool_name
            description = f"Does {tool_name}."
            arguments = ProbeArguments
            modes = frozenset(in_modes)
            read_only = reads

            async def run(self, arguments: ProbeArguments, context: ToolContext) -> list[dict[str, Any]]:
                return await probes.run(tool_name, arguments, context)

        return Probe()
