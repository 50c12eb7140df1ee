"""What the copilot takes a project's nodes for, and what is set for them: family and credentials."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Depends, Request, status
from pydantic import SecretStr

from gns3server_copilot.api.dependencies import Chats, ProjectChats, require_privilege
from gns3server_copilot.api.routing import CHATS, CopilotRoute, refusals
from gns3server_copilot.consoles.device_settings import DeviceSetting
from gns3server_copilot.consoles.families import Families
from gns3server_copilot.consoles.service import Consoles, find_family
from gns3server_copilot.errors import ConsoleError, InvalidFieldError, NotFoundError
from gns3server_copilot.gns3.client import GNS3Client
from gns3server_copilot.gns3.templates import Template, read_templates
from gns3server_copilot.gns3.topology import Node, read_topology
from gns3server_copilot.schemas.devices import DeviceAnswer, DeviceConsole, DeviceList, DeviceSettingChange

router = APIRouter(prefix=CHATS, route_class=CopilotRoute, tags=["Copilot chat"], responses=refusals())


async def _changed_node(request: Request, node_id: UUID, chats: Chats) -> ProjectChats:
    """Give the chats of the path's project, to holders of Node.Modify on the node."""
    resource = f"/projects/{chats.project.project_id}/nodes/{node_id}"
    await require_privilege(request, chats.user, resource, "Node.Modify")
    return chats


Changed = Annotated[ProjectChats, Depends(_changed_node)]


@router.get("/devices")
async def list_devices(request: Request, chats: Chats) -> DeviceList:
    """The project's nodes, with their families as the copilot sees them. Credentials are never among the answer."""
    consoles = chats.runtime.consoles
    families = await _families(chats)
    nodes, templates = await _nodes(request, chats)
    settings = await consoles.settings.of_project(chats.project.project_id)
    devices = [_answer(node, settings.get(node.id), templates, families, consoles) for node in nodes]
    return DeviceList(devices=devices, families=families.names)


@router.put("/devices/{node_id}")
async def set_device(request: Request, node_id: UUID, change: DeviceSettingChange, chats: Changed) -> DeviceAnswer:
    """Set a node's family and credentials; what is left out stays, null clears."""
    consoles = chats.runtime.consoles
    families = await _families(chats)
    nodes, templates = await _nodes(request, chats)
    node = next((one for one in nodes if one.id == str(node_id)), None)
    if node is None:
        raise NotFoundError(f"There is no node {node_id} in this project.")
    project_id = chats.project.project_id
    await consoles.settings.forget_others(project_id, [one.id for one in nodes])
    await consoles.settings.put(project_id, node.id, _changes(change, families))
    settings = await consoles.settings.of_project(project_id)
    return _answer(node, settings.get(node.id), templates, families, consoles)


@router.delete("/devices/{node_id}", status_code=status.HTTP_204_NO_CONTENT)
async def forget_device(node_id: UUID, chats: Changed) -> None:
    """Forget what is set for a node; nothing set is fine."""
    await chats.runtime.consoles.settings.delete(chats.project.project_id, str(node_id))


async def _families(chats: ProjectChats) -> Families:
    return chats.runtime.consoles.families(await chats.runtime.knowledge.current())


async def _nodes(request: Request, chats: ProjectChats) -> tuple[tuple[Node, ...], dict[str, Template]]:
    """Give the nodes that the user may see, and all templates."""
    client = GNS3Client(request.app, chats.token)
    topology = await read_topology(client, chats.project.project_id)
    return topology.nodes, {template.id: template for template in await read_templates(client)}


def _changes(change: DeviceSettingChange, families: Families) -> dict[str, str | None]:
    changes: dict[str, Any] = {name: getattr(change, name) for name in change.model_fields_set}
    if changes.get("family"):
        family = families.declared(changes["family"])
        if family is None:
            raise InvalidFieldError("family", f"there is none of this name; there are: {', '.join(families.names)}")
        changes["family"] = family.name
    elif "family" in changes:
        changes["family"] = None
    return {
        name: value.get_secret_value() if isinstance(value, SecretStr) else value for name, value in changes.items()
    }


def _answer(
    node: Node,
    setting: DeviceSetting | None,
    templates: dict[str, Template],
    families: Families,
    consoles: Consoles,
) -> DeviceAnswer:
    found = find_family(node, setting, templates.get(node.template_id), families)
    problem = None
    try:
        consoles.address(node)
    except ConsoleError as error:
        problem = error.message
    return DeviceAnswer(
        node_id=node.id,
        name=node.name,
        status=node.status,
        family=found.family.name if found.family is not None else None,
        found_by=found.how,
        console=DeviceConsole(type=node.console_type or "none", port=node.console),
        usable=problem is None,
        problem=problem,
        has_credentials=found.has_credentials,
    )
