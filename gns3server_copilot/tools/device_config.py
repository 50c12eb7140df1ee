"""The tool that configures devices: lines typed in the configuration mode of many at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import AliasChoices, Field, field_validator

from gns3server_copilot.consoles.configuring import Configured, configure
from gns3server_copilot.consoles.guard import Verdict
from gns3server_copilot.consoles.guard.lines import split_lines
from gns3server_copilot.consoles.output import bounded
from gns3server_copilot.knowledge.schemas.family import Family
from gns3server_copilot.schemas.modes import Mode
from gns3server_copilot.tools.base import Tool, ToolArguments, ToolContext
from gns3server_copilot.tools.device_arguments import Lines
from gns3server_copilot.tools.device_guard import config_verdicts
from gns3server_copilot.tools.device_sessions import device_session
from gns3server_copilot.tools.devices import MAX_DEVICES, MAX_LINES, Device, Item, Work, consoles_of, on_devices
from gns3server_copilot.tools.response import failed, succeeded
from gns3server_copilot.utils.plain_data import json_text

OnError = Literal["stop", "continue"]


class DeviceToConfigure(ToolArguments):
    """One device and its configuration lines."""

    device: str = Field(
        min_length=1,
        validation_alias=AliasChoices("device", "device_name", "node"),
        description="Name or id of the node, e.g. R1",
    )
    config_commands: Lines = Field(
        min_length=1,
        max_length=MAX_LINES,
        validation_alias=AliasChoices("config_commands", "commands"),
        description="Lines as typed in configuration mode, in order, without entering and leaving it, "
        'e.g. ["interface GigabitEthernet0/0", "no shutdown"]',
    )

    @field_validator("config_commands")
    @classmethod
    def _few_lines(cls, texts: list[str]) -> list[str]:
        """Count the lines themselves: one text may hold many."""
        if sum(map(len, map(split_lines, texts))) > MAX_LINES:
            raise ValueError(f"these are more than {MAX_LINES} lines; send them in several calls")
        return texts


class DeviceConfigArguments(ToolArguments):
    """What to configure, on which devices, and how."""

    devices: list[DeviceToConfigure] = Field(
        min_length=1,
        max_length=MAX_DEVICES,
        validation_alias=AliasChoices("devices", "device_configs"),
        description='The devices and their lines, e.g. [{"device": "R1", "config_commands": ["hostname R1"]}]',
    )
    save: bool = Field(False, description="Save the running configuration afterwards, e.g. true")
    dry_run: bool = Field(False, description="Only say which lines would be sent and which refused, e.g. true")
    on_error: OnError = Field(
        "stop", description="After a line that the device rejects: stop, or send the following ones, e.g. stop"
    )


class ExecuteMultipleDeviceConfigCommands(Tool[DeviceConfigArguments]):
    """Configures devices, one item for each device asked for."""

    name = "execute_multiple_device_config_commands"
    description = (
        "Configure devices through their consoles, all at once: enters configuration mode, sends the lines, commits "
        "where the system needs it, leaves, and saves if asked. Gives the lines that the device rejected and what "
        "changed in its running configuration. Lines that restart, erase or lock out are refused; nothing is sent then."
    )
    arguments = DeviceConfigArguments
    modes = frozenset({Mode.LAB_AUTOMATION, Mode.INJECTION})
    read_only = False

    async def run(self, arguments: DeviceConfigArguments, context: ToolContext) -> list[dict[str, Any]]:
        """Give the devices' items in the order asked."""
        wanted = [(one.device, _configuring(context, one.config_commands, arguments)) for one in arguments.devices]
        return await on_devices(context, wanted)


def _configuring(context: ToolContext, lines: Sequence[str], arguments: DeviceConfigArguments) -> Work:
    def judged(family: Family) -> list[Verdict]:
        return config_verdicts(consoles_of(context), family, lines)

    async def work(device: Device) -> Item:
        if device.found.family is not None:
            verdicts = judged(device.found.family)
            if arguments.dry_run or not _all_allowed(verdicts):
                return _unsent(device, verdicts)
        async with device_session(context, device) as session:
            verdicts = judged(session.family)
            if arguments.dry_run or not _all_allowed(verdicts):
                return _unsent(device, verdicts)
            done = await configure(
                session,
                [verdict.line for verdict in verdicts],
                stop_at_error=arguments.on_error == "stop",
                save=arguments.save,
                seconds=context.settings.console_command_seconds,
            )
        return _item(device, verdicts, done)

    return work


def _all_allowed(verdicts: Sequence[Verdict]) -> bool:
    return bool(verdicts) and all(verdict.allowed for verdict in verdicts)


def _unsent(device: Device, verdicts: Sequence[Verdict]) -> Item:
    """Give the item of a dry run, or of a configuration of which nothing was sent because of some of its lines."""
    if _all_allowed(verdicts):
        lines = [{"line": verdict.line, "status": "would be sent"} for verdict in verdicts]
        return succeeded(*device.item_name(), {"dry_run": True, "lines": lines})
    if not verdicts:
        return failed(*device.item_name(), "There is no line to send.")
    lines = [
        {"line": verdict.line, "status": "not sent"}
        if verdict.allowed
        else {"line": verdict.line, "status": "refused", "error": verdict.reason}
        for verdict in verdicts
    ]
    reasons = "; ".join(
        f'line {number} ("{verdict.line}"): {verdict.reason}'
        for number, verdict in enumerate(verdicts, 1)
        if not verdict.allowed
    )
    error = f"Nothing was sent, because of lines that are refused: {reasons}"
    return failed(*device.item_name(), error, result=json_text({"lines": lines}))


def _item(device: Device, verdicts: Sequence[Verdict], done: Configured) -> Item:
    lines: list[dict[str, Any]] = []
    for sent in done.lines:
        told: dict[str, Any] = {"line": sent.line, "status": "rejected" if sent.error else "accepted"}
        if sent.output:
            told["output"] = bounded(sent.output)
        lines.append(told)
    lines += [{"line": verdict.line, "status": "not sent"} for verdict in verdicts[len(done.lines) :]]
    result: dict[str, Any] = {"lines": lines}
    if done.diff is not None:
        result["diff"] = bounded(done.diff)
    if done.committed is not None:
        result["committed"] = done.committed
    if done.saved is not None:
        result["saved"] = done.saved
    applied = done.committed is not False and any(sent.error is None for sent in done.lines)
    if done.error is None:
        return succeeded(*device.item_name(), result, applied=applied)
    return failed(*device.item_name(), done.error, result=json_text(result), applied=applied)
