"""Scripted devices as nodes of a project in the application that runs in the test process."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from gns3server_copilot.consoles.device_settings import DeviceSettings
from gns3server_copilot.consoles.service import Consoles
from gns3server_copilot.gns3.client import GNS3Client
from gns3server_copilot.gns3.host import compute_host
from gns3server_copilot.gns3.privileges import Privileges
from gns3server_copilot.llm.keys import KeyRing
from gns3server_copilot.schemas.identity import ProjectRef, User
from gns3server_copilot.schemas.modes import Mode
from gns3server_copilot.settings import Settings
from gns3server_copilot.tools.base import ToolContext
from gns3server_copilot.tools.dispatch import execute
from gns3server_copilot.tools.scope import TurnScope
from tests.devices import Device, play
from tests.unit.in_process import InProcessServer


@dataclass
class DeviceLab:
    """A project whose devices are scripted. `context` is a turn of the superadmin in automation mode."""

    app: InProcessServer
    context: ToolContext
    nodes: dict[str, str] = field(default_factory=dict)
    _stack: AsyncExitStack = field(default_factory=AsyncExitStack)

    @property
    def consoles(self) -> Consoles:
        """The consoles that its turns share."""
        assert self.context.consoles is not None
        return self.context.consoles

    async def device(
        self, name: str, personality: str = "cisco_ios", device_type: str = "", **variables: str
    ) -> Device:
        """Add a scripted device as a node of this name; its declared type is the personality's unless told."""
        device = await self._stack.enter_async_context(play(personality, hostname=name, **variables))
        await self.node(name, device.port, device_type or personality)
        return device

    async def node(self, name: str, port: int | None, device_type: str = "", **extra: Any) -> str:
        """Add a cloud node with a console at this port; give its id."""
        udp = {"name": "unused", "port_number": 0, "type": "udp", "lport": 1, "rhost": "127.0.0.1", "rport": 1}
        body: dict[str, Any] = {
            "compute_id": "local",
            "node_type": "cloud",
            "name": name,
            "properties": {"ports_mapping": [udp]},
        }
        if port is not None:
            body |= {"console": port, "console_type": "telnet"}
            body["properties"] |= {
                "remote_console_host": "127.0.0.1",
                "remote_console_port": port,
                "remote_console_type": "telnet",
            }
        if device_type:
            body["properties"]["device_type"] = device_type
        body |= extra
        made = await self.context.gns3.post(f"/projects/{self.context.project.project_id}/nodes", body)
        self.nodes[name] = made["node_id"]
        return str(made["node_id"])

    def turn(self, user: User | None = None, **changes: Any) -> ToolContext:
        """Give the context of another turn."""
        return replace(self.context, scope=TurnScope(), user=user or self.context.user, **changes)

    async def run(self, tool: str, context: ToolContext | None = None, **arguments: Any) -> dict[str, Any]:
        """Call a tool and give its response."""
        return await execute(tool, arguments, context or self.context)

    async def read(self, context: ToolContext | None = None, **commands: list[str]) -> list[dict[str, Any]]:
        """Run read-only commands, by device; give the items."""
        devices = [{"device": name, "commands": lines} for name, lines in commands.items()]
        response = await self.run("execute_multiple_device_commands", context, devices=devices)
        return list(response["data"])


def results(item: dict[str, Any]) -> list[dict[str, Any]]:
    """Give the results of an item's commands."""
    return list(json.loads(item["result"]))


@asynccontextmanager
async def device_lab(
    server: InProcessServer, client: GNS3Client, project: ProjectRef, user: User, secrets: Any
) -> AsyncIterator[DeviceLab]:
    """Give such a project; its devices end with the block."""
    app: Any = server.app
    settings = DeviceSettings(app.state._db_engine, KeyRing(secrets))
    consoles = Consoles(settings, Privileges(app), compute_host)
    context = ToolContext(project, user, Mode.LAB_AUTOMATION, client, Settings(), consoles=consoles)
    lab = DeviceLab(server, context)
    async with lab._stack:
        try:
            yield lab
        finally:
            await lab.context.scope.close()
