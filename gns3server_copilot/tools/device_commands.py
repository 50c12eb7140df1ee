"""The tool that reads devices: show commands on many at once."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from pydantic import AliasChoices, Field

from gns3server_copilot.consoles.guard import Verdict
from gns3server_copilot.consoles.output import bounded
from gns3server_copilot.consoles.session import Session
from gns3server_copilot.errors import CopilotError
from gns3server_copilot.schemas.modes import Mode
from gns3server_copilot.tools.base import Tool, ToolArguments, ToolContext
from gns3server_copilot.tools.device_arguments import MAX_COMMANDS, Lines
from gns3server_copilot.tools.device_guard import read_verdicts
from gns3server_copilot.tools.device_results import CommandResult, command_item, refused_result
from gns3server_copilot.tools.device_sessions import device_session
from gns3server_copilot.tools.devices import MAX_DEVICES, Device, Item, Work, consoles_of, on_devices


class DeviceToRead(ToolArguments):
    """One device and what to read on it."""

    device: str = Field(
        min_length=1,
        validation_alias=AliasChoices("device", "device_name", "node"),
        description="Name or id of the node, e.g. R1",
    )
    commands: Lines = Field(
        min_length=1,
        max_length=MAX_COMMANDS,
        description='Read-only commands in the device\'s own language, in order, e.g. ["show ip interface brief"]',
    )


class DeviceCommandsArguments(ToolArguments):
    """What to read, on which devices."""

    devices: list[DeviceToRead] = Field(
        min_length=1,
        max_length=MAX_DEVICES,
        validation_alias=AliasChoices("devices", "device_configs"),
        description='The devices and their commands, e.g. [{"device": "R1", "commands": ["show version"]}]',
    )


class ExecuteMultipleDeviceCommands(Tool[DeviceCommandsArguments]):
    """Runs read-only commands on devices, one item for each device asked for."""

    name = "execute_multiple_device_commands"
    description = (
        "Run read-only commands (show, display, print, ping, traceroute) on the consoles of devices, all at once. "
        "Commands that change anything are refused. Gives each command's output and whether the device accepted it."
    )
    arguments = DeviceCommandsArguments
    modes = frozenset(Mode)
    read_only = True

    async def run(self, arguments: DeviceCommandsArguments, context: ToolContext) -> list[dict[str, Any]]:
        """Give the devices' items in the order asked."""
        return await on_devices(context, [(one.device, _reading(context, one.commands)) for one in arguments.devices])


def _reading(context: ToolContext, commands: Sequence[str]) -> Work:
    async def read(device: Device) -> Item:
        consoles, family = consoles_of(context), device.found.family
        if family is not None:
            verdicts = read_verdicts(consoles, family, commands)
            if not any(verdict.allowed for verdict in verdicts):
                return command_item(device, [refused_result(verdict) for verdict in verdicts])
        async with device_session(context, device) as session:
            verdicts = read_verdicts(consoles, session.family, commands)
            results = await run_judged(session, verdicts, context.settings.console_command_seconds)
        return command_item(device, results)

    return read


async def run_judged(session: Session, verdicts: Sequence[Verdict], seconds: float) -> list[CommandResult]:
    """Run the allowed ones of the commands in order. When the console is lost, those that are left are not run.

    Raises what ended it when not even the first of them ran.
    """
    results: list[CommandResult] = []
    lost: CopilotError | None = None
    for verdict in verdicts:
        if not verdict.allowed:
            results.append(refused_result(verdict))
            continue
        if lost is not None:
            results.append(CommandResult(verdict.line, error="Not run, because of what came before."))
            continue
        started = time.monotonic()
        try:
            output = await session.run(verdict.line, verdict.stop_after or seconds)
        except CopilotError as error:
            lost = error
            results.append(CommandResult(verdict.line, error=error.message))
            continue
        stopped = output.timed_out and verdict.stop_after is not None
        results.append(
            CommandResult(
                verdict.line,
                bounded(output.text),
                None if stopped else output.error,
                round(time.monotonic() - started, 3),
            )
        )
    if lost is not None:
        session.lost = True
    return results
