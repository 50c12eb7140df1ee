"""The tool that starts nodes and waits until one can work with them."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from gns3server_copilot.consoles.listener import Sighting, watch_console
from gns3server_copilot.consoles.waiting_signs import Sign
from gns3server_copilot.errors import ConsoleError, ForbiddenError
from gns3server_copilot.gns3.power import Power, PowerChange, Switchboard
from gns3server_copilot.gns3.project import require_open
from gns3server_copilot.gns3.topology import Node, read_nodes
from gns3server_copilot.tools.asked_nodes import NodesArguments, can_be_switched, not_reached, switch_each
from gns3server_copilot.tools.base import BUILDING_MODES, Tool, ToolContext
from gns3server_copilot.tools.devices import consoles_of
from gns3server_copilot.tools.response import failed, succeeded

Wait = Literal["none", "started", "console"]
LONGEST_WAIT = 600
#: How long the console of a node that was running already is listened to: when idle it shows nothing to a newcomer.
FIRST_WORDS_SECONDS = 1.5
#: How long a node whose console has ended may take to show that it has stopped.
ENDED_SECONDS = 2.0


class StartNodeArguments(NodesArguments):
    """Which nodes to start, and what to wait for."""

    wait: Wait = Field(
        "console",
        description="Wait until the console shows a prompt or a question, until the node is started, or not at all, "
        "e.g. console",
    )
    timeout_s: float = Field(120, ge=1, le=LONGEST_WAIT, description="Longest wait for a console in seconds, e.g. 120")


class GNS3StartNodeTool(Tool[StartNodeArguments]):
    """Starts or resumes nodes, one item each."""

    name = "start_gns3_node"
    description = (
        "Start nodes, or resume suspended ones, in parallel, and wait until each console shows a prompt or asks "
        "something. Nothing is typed. Gives for each its status, whether it is ready, and its console's last words. A "
        "node that runs already is success; a call again waits on for one that is still booting."
    )
    arguments = StartNodeArguments
    modes = BUILDING_MODES
    read_only = False

    async def run(self, arguments: StartNodeArguments, context: ToolContext) -> list[dict[str, Any]]:
        """Give one item for each node, started or not."""
        require_open(context.project)
        nodes = await read_nodes(context.gns3, context.project.project_id)
        starter = _Starter(arguments, context)
        return await switch_each(
            arguments.nodes, nodes, starter.start, nobody="There is no node to start: the project is empty."
        )


class _Starter:
    def __init__(self, arguments: StartNodeArguments, context: ToolContext) -> None:
        self._wait = arguments.wait
        self._seconds = arguments.timeout_s
        self._context = context
        self._switchboard = Switchboard(context.gns3, context.project.project_id)

    async def start(self, node: Node) -> dict[str, Any]:
        change = await self._switchboard.switch(Power.START, node)
        if change.node is None or not change.reached:
            return failed(node.id, node.name, not_reached(change, node.name))
        told: dict[str, Any] = {
            "type": node.type,
            "status": change.node.status,
            "console": {"type": node.console_type or "none", "port": change.node.console},
        }
        notes = [_how_it_was(change)]
        if self._wait == "console" and (can_be_switched(node) or node.console_type not in ("", "none")):
            try:
                sighting = await self._watch(change)
            except (ConsoleError, ForbiddenError) as error:
                notes.append(error.message)
            else:
                if sighting.closed and (problem := await self._ended(change, sighting)):
                    return failed(node.id, node.name, problem)
                told |= _seen(sighting)
                notes.append(self._remark(sighting, change))
        if said := " ".join(note for note in notes if note):
            told["note"] = said
        return succeeded(node.id, node.name, told)

    async def _watch(self, change: PowerChange) -> Sighting:
        """Listen to the console. Raises ConsoleError or ForbiddenError that say why it cannot be listened to."""
        node, context = change.node, self._context
        assert node is not None
        consoles = consoles_of(context)
        address = consoles.address(node)
        await consoles.require_permission(context.user.user_id, context.project.project_id, node)
        first_words = FIRST_WORDS_SECONDS if change.before in ("started", "suspended") else None
        return await watch_console(address, node.name, self._seconds, first_words=first_words)

    async def _ended(self, change: PowerChange, sighting: Sighting) -> str:
        """Say that the node has stopped again; "" when it has not."""
        after = PowerChange(Power.STOP, change.node, "started")
        await self._switchboard.read_back(after, ENDED_SECONDS)
        if after.node is None:
            return "It was started, but somebody has deleted it since."
        if after.node.status == Power.START.goal:
            return ""
        last = f" Its console's last words: {' | '.join(sighting.last_lines)}" if sighting.last_lines else ""
        return f"It was started, but is {after.node.status} again: its emulator has ended.{last}"

    def _remark(self, sighting: Sighting, change: PowerChange) -> str:
        if sighting.sign is Sign.BOOT_LOADER:
            return "It stays in its boot loader: the system itself has not been loaded."
        if sighting.sign is not None:
            return ""
        if sighting.closed:
            return "Its console does not answer: connecting to it failed, or it was closed."
        if change.before != "stopped" and sighting.silent:
            return "Its console is silent, as that of an idle device is."
        if sighting.silent:
            return f"Its console has shown nothing in {sighting.seconds:g} s."
        return f"It is still booting after {sighting.seconds:g} s: start it again to wait on."


def _how_it_was(change: PowerChange) -> str:
    if change.node is not None and not can_be_switched(change.node):
        return "Such a node is always on."
    return {"started": "It was running already.", "suspended": "It was resumed."}.get(change.before, "")


def _seen(sighting: Sighting) -> dict[str, Any]:
    told: dict[str, Any] = {}
    if not sighting.silent or sighting.closed or sighting.sign is not None:
        # of a silent console nobody can say
        told["ready"] = sighting.sign in (Sign.PROMPT, Sign.QUESTION)
    if sighting.sign is not None:
        told["console_shows"] = str(sighting.sign)
    if sighting.last_lines:
        told["last_lines"] = " | ".join(sighting.last_lines)
    told["waited_s"] = sighting.seconds
    return told
