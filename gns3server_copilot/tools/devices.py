"""What the tools for devices share: finding devices and their families, and doing something on many at once.

One device that cannot be used never keeps the others from being used, and a device that is named twice gets both its
parts, one after the other.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from gns3server_copilot.consoles.device_settings import DeviceSetting
from gns3server_copilot.consoles.families import Families
from gns3server_copilot.consoles.service import Consoles, FoundFamily, find_family
from gns3server_copilot.errors import CopilotError, ToolError
from gns3server_copilot.gns3.names import find
from gns3server_copilot.gns3.templates import Template, read_templates
from gns3server_copilot.gns3.topology import Node, read_topology
from gns3server_copilot.knowledge.schemas.family import Family
from gns3server_copilot.tools.base import ToolContext
from gns3server_copilot.tools.response import failed

log = logging.getLogger(__name__)

#: Devices whose consoles are used at once by one call.
WIDTH = 40
MAX_DEVICES = 200
MAX_LINES = 500

Item = dict[str, Any]


@dataclass(frozen=True)
class Device:
    """A node that was asked for. `found.family` is None when only its console can tell."""

    node: Node
    found: FoundFamily

    def item_name(self) -> tuple[str, str]:
        """Give id and name for an answer's item."""
        return self.node.id, self.node.name


#: Does one part of what was asked, on one device. What it raises becomes a failed item.
Work = Callable[[Device], Awaitable[Item]]


def consoles_of(context: ToolContext) -> Consoles:
    """Give the server's consoles."""
    if context.consoles is None:
        raise ToolError("Consoles cannot be used here.")
    return context.consoles


def families_of(context: ToolContext) -> Families:
    """Give the families that were loaded when the turn began."""
    return consoles_of(context).families(context.knowledge)


async def on_devices(context: ToolContext, wanted: Sequence[tuple[str, Work]]) -> list[Item]:
    """Do each part on the device that is named beside it; give the items in the order asked."""
    devices = await _Devices.read(context, [name for name, _ in wanted])
    items: list[Item | None] = [None] * len(wanted)
    parts: dict[str, list[int]] = {}
    found: dict[int, Device] = {}
    for index, (name, _) in enumerate(wanted):
        try:
            device = devices.find(name)
        except ToolError as error:
            items[index] = failed("", name, error.message)
        else:
            found[index] = device
            parts.setdefault(device.node.id, []).append(index)
    places = asyncio.Semaphore(WIDTH)

    async def on_one(indices: Sequence[int]) -> None:
        async with places:
            for index in indices:
                items[index] = await _done(found[index], wanted[index][1])

    # a group waits for all its tasks when it is cancelled, so that every console is left as it should be
    async with asyncio.TaskGroup() as group:
        for indices in parts.values():
            group.create_task(on_one(indices))
    return [item for item in items if item is not None]


async def _done(device: Device, work: Work) -> Item:
    try:
        return await work(device)
    except CopilotError as error:
        return failed(*device.item_name(), error.message)
    except Exception:
        log.exception("A device's console could not be used")
        return failed(*device.item_name(), "The copilot failed here; the server's log says why. Try again.")


@dataclass(frozen=True)
class _Devices:
    """Everything that tells which device is meant and what it is."""

    nodes: Sequence[Node]
    templates: dict[str, Template]
    settings: dict[str, DeviceSetting]
    families: Families

    @classmethod
    async def read(cls, context: ToolContext, names: Sequence[str]) -> _Devices:
        """Read the project, and the templates when they are of use."""
        project_id = context.project.project_id
        topology, settings = await asyncio.gather(
            read_topology(context.gns3, project_id), consoles_of(context).settings.of_project(project_id)
        )
        devices = cls(topology.nodes, {}, settings, families_of(context))
        if any(devices.is_unknown(name) for name in names):
            templates = await read_templates(context.gns3)
            devices.templates.update((template.id, template) for template in templates)
        return devices

    def find(self, name: str) -> Device:
        """Give the device that a name or id means. Raises ToolError that names the nearest ones."""
        node = find(name, self.nodes, "node")
        return Device(node, self._family(node))

    def is_unknown(self, name: str) -> bool:
        """Tell whether the template of a device could say what it is."""
        try:
            device = self.find(name)
        except ToolError:
            return False
        return device.found.family is None and bool(device.node.template_id)

    def _family(self, node: Node) -> FoundFamily:
        return find_family(node, self.settings.get(node.id), self.templates.get(node.template_id), self.families)


def family_name(family: Family | None) -> str:
    """Give a family's name for an answer."""
    return family.name if family is not None else "unknown"
