"""The tool that captures on a link and says what is in the capture, and what is wrong there."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from gns3server_copilot.errors import ToolError
from gns3server_copilot.gns3 import captures
from gns3server_copilot.gns3.links import find_link
from gns3server_copilot.gns3.topology import Link, read_topology
from gns3server_copilot.packets.question import MOST_ROWS, USUAL_ROWS, Question
from gns3server_copilot.tools.base import BUILDING_MODES, Tool, ToolArguments, ToolContext
from gns3server_copilot.tools.capture_scope import own_capture, start_own, stop_own
from gns3server_copilot.tools.response import succeeded

Action = Literal["analyse", "start_capture", "stop_capture", "search_fields"]
MAX_WAIT = 120


class PacketAnalysisArguments(ToolArguments):
    """Which link, what to do, what to look for."""

    action: Action = Field(
        "analyse",
        description="analyse reads the link's capture, running or ended; search_fields finds names for where and "
        "fields, e.g. analyse",
    )
    link: str | None = Field(
        None, description="The link, by its two nodes, its ports or its id; all but search_fields need it, e.g. R1-R2"
    )
    protocol: str | None = Field(
        None,
        description="Look into this protocol only: its packets, their fields, and its checks. On a serial link it also "
        "chooses what start_capture takes the line for (ppp, hdlc, frame_relay), e.g. ospf",
    )
    limit: int = Field(
        USUAL_ROWS, ge=0, le=MOST_ROWS, description="Most packets to list; counts and findings are of all, e.g. 20"
    )
    seconds: int = Field(
        0,
        ge=0,
        le=MAX_WAIT,
        description="How long to let a capture run before reading it. With analyse on a link that is not captured it "
        "captures for so long itself; OSPF hellos come every 10 s, e.g. 15",
    )


class PacketAnalysisTool(Tool[PacketAnalysisArguments]):
    """Captures and reads packets of one link."""

    name = "packet_analysis"
    description = (
        "Capture packets on a link and read them. analyse without protocol: counts, protocols, conversations and what "
        "looks wrong; with protocol: its packets and checks. Start a capture first (start_capture), or let analyse "
        "capture for some seconds. Captures started here end with this answer; the user's own are never stopped."
    )
    arguments = PacketAnalysisArguments
    modes = BUILDING_MODES
    read_only = False

    async def run(self, arguments: PacketAnalysisArguments, context: ToolContext) -> list[dict[str, Any]]:
        """Give one item for the link."""
        if arguments.link is None:
            raise ToolError("Which link? Give link, for example R1-R2.")
        topology = await read_topology(context.gns3, context.project.project_id)
        link = find_link(arguments.link, topology)
        if arguments.action == "start_capture":
            return [await _start(link, arguments, context)]
        if arguments.action == "stop_capture":
            return [await _stop(link, context)]
        return [await _analyse(link, arguments, context)]


async def _start(link: Link, arguments: PacketAnalysisArguments, context: ToolContext) -> dict[str, Any]:
    now = await captures.read_capture(context.gns3, context.project.project_id, link.id)
    if now.capturing:
        whose = "the copilot's" if own_capture(context, link.id) else "not the copilot's, and goes on after this answer"
        return succeeded(link.id, link.name, f"A capture runs on this link already; it is {whose}. Analyse it.")
    kind = await _start_own(link, arguments, context)
    await asyncio.sleep(arguments.seconds)
    told = f"Capturing as {kind} since {arguments.seconds} s. It ends with stop_capture, or with this answer."
    return succeeded(link.id, link.name, told, data_link_type=kind)


async def _start_own(link: Link, arguments: PacketAnalysisArguments, context: ToolContext) -> str:
    project = f"/projects/{context.project.project_id}"
    raw, nodes = await asyncio.gather(
        context.gns3.get(f"{project}/links/{link.id}"), context.gns3.get(f"{project}/nodes")
    )
    kind = captures.data_link_type(raw, nodes, arguments.protocol or "")
    await start_own(context, link.id, kind)
    return kind


async def _stop(link: Link, context: ToolContext) -> dict[str, Any]:
    now = await captures.read_capture(context.gns3, context.project.project_id, link.id)
    own = own_capture(context, link.id)
    if not now.capturing:
        if own is not None:
            context.scope.forget(("capture", link.id))
        return succeeded(link.id, link.name, "No capture runs on this link.")
    if own is None or now.file_name != own.file_name:
        raise ToolError(
            "The capture on this link is not the copilot's: whoever started it may need it, so it goes on. It can be "
            "stopped by its owner in GNS3."
        )
    await stop_own(own)
    return succeeded(link.id, link.name, "The capture has been stopped. It can still be analysed.")


async def _analyse(link: Link, arguments: PacketAnalysisArguments, context: ToolContext) -> dict[str, Any]:
    project_id = context.project.project_id
    now = await captures.read_capture(context.gns3, project_id, link.id)
    notes = []
    started = None
    if not now.capturing and arguments.seconds:
        await _start_own(link, arguments, context)
        started = own_capture(context, link.id)
        notes.append(f"Captured for {arguments.seconds} s for this answer.")
    try:
        await asyncio.sleep(arguments.seconds)
        now = await captures.read_capture(context.gns3, project_id, link.id)
        async with _capture_file(now, context) as path:
            question = Question(str(path), limit=arguments.limit)
            answer = await context.analyses.answer(question)
    finally:
        if started is not None:
            await asyncio.shield(stop_own(started))
    if started is None:
        notes.append("The capture is still running." if now.capturing else "The capture has ended.")
    answer["notes"] = [*answer.get("notes", []), *notes]
    return succeeded(link.id, link.name, answer)


@asynccontextmanager
async def _capture_file(capture: captures.LinkCapture, context: ToolContext) -> AsyncIterator[Path]:
    """Give the file to read; one that was fetched for it is gone afterwards. Raises ToolError when there is none."""
    path = await asyncio.to_thread(captures.local_file, context.project.path, capture)
    if path is not None:
        yield path
        return
    if not capture.capturing:
        raise ToolError(_nothing_to_read(capture))
    fetched = await captures.fetch_stream(context.gns3, context.project.project_id, capture.link_id)
    try:
        yield fetched
    finally:
        await asyncio.to_thread(fetched.unlink, missing_ok=True)


def _nothing_to_read(capture: captures.LinkCapture) -> str:
    if capture.file_name:
        return (
            f"The capture on this link has ended, and its file {capture.file_name} is not on this server: it was made on "
            "another compute, or has been removed. Start a capture again and analyse it while it runs."
        )
    return (
        "Nothing has been captured on this link since the project was opened. Start a capture, or give analyse some "
        "seconds to capture for itself."
    )
