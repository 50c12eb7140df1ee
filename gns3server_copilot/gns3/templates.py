"""The templates that nodes are made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gns3server_copilot.gns3.device_types import declared_device_type
from gns3server_copilot.gns3.template_ports import template_ports
from gns3server_copilot.gns3.text import printable

if TYPE_CHECKING:
    from gns3server_copilot.gns3.client import GNS3Client


@dataclass(frozen=True)
class Template:
    """A template. `ports` are the port names of a new node; None where only the compute can tell."""

    id: str
    name: str
    type: str
    category: str
    device_type: str
    console_type: str
    name_format: str
    compute_id: str
    usage: str
    ports: tuple[str, ...] | None


async def read_templates(client: GNS3Client) -> tuple[Template, ...]:
    """Read every template of the server, switches, hubs, NAT and clouds included."""
    answer = await client.get("/templates")
    return tuple(parse_template(raw) for raw in answer or () if isinstance(raw, Mapping))


def parse_template(raw: Mapping[str, Any]) -> Template:
    """Make a Template of gns3-server's answer; what is missing is left empty."""
    kind = printable(raw.get("template_type")) or "unknown"
    return Template(
        id=printable(raw.get("template_id")),
        name=printable(raw.get("name")),
        type=kind,
        category=printable(raw.get("category")),
        device_type=declared_device_type(raw),
        # built-in templates do not say it
        console_type=printable(raw.get("console_type")) or ("telnet" if kind == "vpcs" else "none"),
        name_format=printable(raw.get("default_name_format")),
        compute_id=printable(raw.get("compute_id")),
        usage=printable(raw.get("usage")),
        ports=template_ports(kind, raw),
    )
