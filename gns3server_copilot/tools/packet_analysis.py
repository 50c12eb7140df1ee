"""The tool that captures on a link and says what is in the capture, and what is wrong there."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, field_validator

from gns3server_copilot.errors import ToolError
from gns3server_copilot.gns3 import captures
from gns3server_copilot.gns3.links import LONGEST_LINK, find_link
from gns3server_copilot.gns3.project import require_open
from gns3server_copilot.gns3.text import printable
from gns3server_copilot.gns3.topology import Link, read_topology
from gns3server_copilot.knowledge.schemas.protocol import Protocol
from gns3server_copilot.packets.question import MOST_ROWS, USUAL_ROWS, Question
from gns3server_copilot.tools.base import BUILDING_MODES, Tool, ToolArguments, ToolContext
from gns3server_copilot.tools.capture_scope import fetched_file, own_capture, start_own, stop_own
from gns3server_copilot.tools.packet_fields import check_value, find_protocol, known_field, search_fields
from gns3server_copilot.tools.packet_text import tidy, without_secrets
from gns3server_copilot.tools.response import failed, succeeded

Operator = Literal["eq", "ne", "lt", "le", "gt", "ge", "contains", "exists"]
Action = Literal["analyse", "start_capture", "stop_capture", "search_fields"]
MAX_WAIT = 120


class WhereArguments(ToolArguments):
    """One condition."""

    field: str = Field(min_length=1, max_length=80, description="Name of a field, e.g. ospf.area")
    op: Operator = Field("eq", description="How to compare; contains is for texts, e.g. eq")
    value: str | None = Field(
        None, max_length=200, description="What to compare with; true or false for exists, e.g. 0.0.0.1"
    )

    @field_validator("value", mode="before")
    @classmethod
    def _as_text(cls, value: Any) -> Any:
        # models write numbers and truth values bare
        if isinstance(value, bool):
            return str(value).lower()
        return str(value) if isinstance(value, int | float) else value


class PacketAnalysisArguments(ToolArguments):
    """Which link, what to do, what to look for."""

    action: Action = Field(
        "analyse",
        description="analyse reads the link's capture, running or ended; search_fields finds names for where and "
        "fields, e.g. analyse",
    )
    link: str | None = Field(
        None,
        max_length=LONGEST_LINK,
        description="The link, by its two nodes, its ports or its id; all but search_fields need it, e.g. R1-R2",
    )
    protocol: str | None = Field(
        None,
        description="Look into this protocol only: its packets, their fields, and its checks. On a serial link it also "
        "chooses what start_capture takes the line for (ppp, hdlc, frame_relay), e.g. ospf",
    )
    where: list[WhereArguments] = Field(
        default_factory=list,
        max_length=20,
        description='Conditions that packets have to fulfil, all of them, e.g. [{"field": "frame.src", "value": '
        '"10.0.0.1"}]',
    )
    fields: list[str] = Field(
        default_factory=list,
        max_length=30,
        description='Columns to list instead of the usual ones, with protocol only, e.g. ["type", "area"]',
    )
    query: str | None = Field(
        None, max_length=100, description="Words to look for with search_fields, e.g. dead interval"
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
        """Give one item for the link, or for the fields found."""
        if arguments.action == "search_fields":
            return [await asyncio.to_thread(_search, arguments, context)]
        if arguments.link is None:
            raise ToolError("Which link? Give link, for example R1-R2.")
        asked = await asyncio.to_thread(_question, arguments, context)
        require_open(context.project)
        topology = await read_topology(context.gns3, context.project.project_id)
        # in a large lab it takes long enough to hold up the server
        link = await asyncio.to_thread(find_link, arguments.link, topology)
        if arguments.action == "start_capture":
            return [await _start(link, arguments, context)]
        if arguments.action == "stop_capture":
            return [await _stop(link, context)]
        return [await _analyse(link, arguments, asked, context)]


def _search(arguments: PacketAnalysisArguments, context: ToolContext) -> dict[str, Any]:
    if not arguments.query:
        raise ToolError("What to look for? Give query, for example dead interval.")
    protocol = find_protocol(arguments.protocol, context.knowledge) if arguments.protocol else None
    found = search_fields(arguments.query, protocol, context.knowledge)
    name = f"fields for {printable(arguments.query)}"
    if not found:
        return failed("", name, "No field fits. Try one word, such as area, or get a protocol's fields.")
    return succeeded("", name, found)


def _question(arguments: PacketAnalysisArguments, context: ToolContext) -> Question:
    """Give the question, still without a file. Raises ToolError for unknown protocols and fields, and wrong values."""
    knowledge = context.knowledge
    protocol = find_protocol(arguments.protocol, knowledge) if arguments.protocol else ""
    where = []
    for condition in arguments.where:
        field = known_field(condition.field, protocol or None, knowledge)
        check_value(field, condition.op, condition.value)
        where.append({"field": field, "op": condition.op, "value": condition.value or "true"})
    if arguments.fields and not protocol:
        raise ToolError("fields are columns of one protocol's packets: give protocol too.")
    entries = knowledge.of(Protocol).entries
    return Question(
        path="",
        protocol=protocol,
        definitions={
            entry.key: entry.value.model_dump(mode="json", by_alias=True)
            for entry in entries
            if protocol in ("", entry.key)
        },
        where=tuple(where),
        fields=tuple(known_field(name, protocol, knowledge) for name in arguments.fields),
        limit=arguments.limit,
    )


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


async def _analyse(
    link: Link, arguments: PacketAnalysisArguments, asked: Question, context: ToolContext
) -> dict[str, Any]:
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
            answer = await context.analyses.answer(dataclasses.replace(asked, path=str(path)))
            if context.redact:
                answer = without_secrets(answer)
    finally:
        if started is not None:
            await asyncio.shield(stop_own(started))
    if started is None:
        notes.append("The capture is still running." if now.capturing else "The capture has ended.")
    answer["notes"] = [*answer.get("notes", []), *notes]
    return succeeded(link.id, link.name, await asyncio.to_thread(tidy, answer))


@asynccontextmanager
async def _capture_file(capture: captures.LinkCapture, context: ToolContext) -> AsyncIterator[Path]:
    """Give the file to read; one that was fetched for it is gone afterwards. Raises ToolError when there is none."""
    path = await asyncio.to_thread(captures.local_file, context.project.path, capture)
    path = path or fetched_file(context, capture)
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
            f"The capture on this link has ended, and its file {capture.file_name} is not on this server: it was made "
            "on another compute, or has been removed. Start a capture again and analyse it while it runs."
        )
    return (
        "Nothing has been captured on this link since the project was opened. Start a capture, or give analyse some "
        "seconds to capture for itself."
    )
