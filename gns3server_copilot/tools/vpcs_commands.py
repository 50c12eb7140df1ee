"""The tool for virtual PCs: addresses, pings and what else VPCS understands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import AliasChoices, Field

from gns3server_copilot.errors import ToolError
from gns3server_copilot.schemas.modes import Mode
from gns3server_copilot.tools.base import Tool, ToolArguments, ToolContext
from gns3server_copilot.tools.device_arguments import MAX_COMMANDS, Lines
from gns3server_copilot.tools.device_commands import run_judged
from gns3server_copilot.tools.device_guard import vpcs_verdicts
from gns3server_copilot.tools.device_results import command_item, refused_result
from gns3server_copilot.tools.device_sessions import device_session
from gns3server_copilot.tools.devices import MAX_DEVICES, Device, Item, Work, consoles_of, family_name, on_devices

VPCS = "vpcs"


class VirtualPC(ToolArguments):
    """One virtual PC and its commands."""

    device: str = Field(
        min_length=1,
        validation_alias=AliasChoices("device", "device_name", "node"),
        description="Name or id of the VPCS node, e.g. PC1",
    )
    commands: Lines = Field(
        min_length=1,
        max_length=MAX_COMMANDS,
        description='VPCS commands, in order, e.g. ["ip 10.0.0.1/24 10.0.0.254", "ping 10.0.0.254"]',
    )


class VPCSCommandsArguments(ToolArguments):
    """Which virtual PCs do what."""

    devices: list[VirtualPC] = Field(
        min_length=1,
        max_length=MAX_DEVICES,
        validation_alias=AliasChoices("devices", "device_configs"),
        description='The virtual PCs and their commands, e.g. [{"device": "PC1", "commands": ["show ip"]}]',
    )


class VPCSCommands(Tool[VPCSCommandsArguments]):
    """Runs commands on virtual PCs, one item for each asked for."""

    name = "execute_vpcs_commands"
    description = (
        "Run commands on VPCS nodes, all at once: ip (address/prefix and gateway, or dhcp), ping, trace, show, save. "
        "Commands that touch the host's files or end the PC are refused. Gives each command's output."
    )
    arguments = VPCSCommandsArguments
    modes = frozenset({Mode.LAB_AUTOMATION})
    read_only = False

    async def run(self, arguments: VPCSCommandsArguments, context: ToolContext) -> list[dict[str, Any]]:
        """Give the PCs' items in the order asked."""
        return await on_devices(context, [(one.device, _running(context, one.commands)) for one in arguments.devices])


def _running(context: ToolContext, commands: Sequence[str]) -> Work:
    async def run(device: Device) -> Item:
        family = device.found.family
        if family is None or family.name != VPCS:
            kind = family_name(family) if family is not None else device.node.type
            raise ToolError(
                f"It is no VPCS node but {kind}: use execute_multiple_device_commands to read it and "
                "execute_multiple_device_config_commands to configure it."
            )
        verdicts = vpcs_verdicts(consoles_of(context), family, commands)
        if not any(verdict.allowed for verdict in verdicts):
            return command_item(device, [refused_result(verdict) for verdict in verdicts])
        async with device_session(context, device) as session:
            results = await run_judged(session, verdicts, context.settings.console_command_seconds)
        return command_item(device, results)

    return run
