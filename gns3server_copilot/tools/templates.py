"""The tool that lists what nodes can be made of."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from gns3server_copilot.errors import ToolError
from gns3server_copilot.gns3.names import loose, nearest
from gns3server_copilot.gns3.runs import in_runs
from gns3server_copilot.gns3.templates import Template, read_templates
from gns3server_copilot.gns3.text import clipped
from gns3server_copilot.tools.answer_size import MAX_TEXT_CHARS, too_long
from gns3server_copilot.tools.base import BUILDING_MODES, Tool, ToolArguments, ToolContext
from gns3server_copilot.tools.response import succeeded

Category = Literal["router", "switch", "guest", "firewall"]
TemplateType = Literal[
    "atm_switch",
    "cloud",
    "docker",
    "dynamips",
    "ethernet_hub",
    "ethernet_switch",
    "frame_relay_switch",
    "iou",
    "nat",
    "qemu",
    "virtualbox",
    "vmware",
    "vpcs",
]
MAX_USAGE = 200


class TemplateArguments(ToolArguments):
    """Filters; without any, every template is listed."""

    name: str | None = Field(None, description="Part of the template's name, whatever the case, e.g. switch")
    category: Category | None = Field(None, description="Only templates of this category, e.g. router")
    template_type: TemplateType | None = Field(None, description="Only templates of this type, e.g. qemu")


class GNS3TemplateTool(Tool[TemplateArguments]):
    """Lists the server's templates, one item each."""

    name = "get_gns3_templates"
    description = (
        "List the templates that nodes can be created from: appliances, switches, hubs, NAT and clouds. Gives for each "
        "its id, name, type, category, device type, console type, default name format and ports."
    )
    arguments = TemplateArguments
    modes = BUILDING_MODES
    read_only = True

    async def run(self, arguments: TemplateArguments, context: ToolContext) -> list[dict[str, Any]]:
        """Give one item a template, by name; only names when they are too many for one answer."""
        templates = await read_templates(context.gns3)
        found = [template for template in templates if _fits(template, arguments)]
        if not found:
            raise ToolError(_nothing_found(templates, arguments))
        found.sort(key=lambda template: template.name.casefold())
        items = [succeeded(template.id, template.name, _details(template)) for template in found]
        if too_long(items):
            names = clipped(", ".join(template.name for template in found), MAX_TEXT_CHARS)
            said = f"{len(found)} templates, too many to describe; ask again with name, category or template_type."
            return [succeeded("", "templates", f"{said} {names}")]
        return items


def _fits(template: Template, arguments: TemplateArguments) -> bool:
    return (
        (not arguments.name or loose(arguments.name) in loose(template.name))
        and arguments.category in (None, template.category)
        and arguments.template_type in (None, template.type)
    )


def _details(template: Template) -> dict[str, Any]:
    details: dict[str, Any] = {
        "type": template.type,
        "category": template.category,
        "device_type": template.device_type or "unknown",
        "console_type": template.console_type,
        "default_name_format": template.name_format,
    }
    if template.ports is None:
        details["ports"] = "known once the node exists"
    else:
        details["ports"] = in_runs(template.ports)
    if template.usage:
        details["usage"] = clipped(template.usage, MAX_USAGE)
    return details


def _nothing_found(templates: tuple[Template, ...], arguments: TemplateArguments) -> str:
    if not templates:
        return "This GNS3 server has no templates. An admin can add appliances in GNS3."
    near = nearest(arguments.name or "", [template.name for template in templates])
    hint = f"Nearest names: {', '.join(near)}." if near else "Ask without filters to see all."
    return f"None of the {len(templates)} templates fits. {hint}"
