"""The tool that tells what packet analysis knows: protocols, their fields, ready conditions and checks."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from gns3server_copilot.errors import ToolError
from gns3server_copilot.knowledge.schemas.protocol import Protocol
from gns3server_copilot.tools.base import BUILDING_MODES, Tool, ToolArguments, ToolContext
from gns3server_copilot.tools.packet_fields import find_protocol
from gns3server_copilot.tools.response import succeeded

MAX_FOUND = 30


class PacketAnalysisSkillsArguments(ToolArguments):
    """What to tell."""

    action: Literal["list", "get", "search"] = Field(
        "list", description="list names all protocols, get tells one, search looks through all, e.g. get"
    )
    protocol: str | None = Field(None, description="The protocol that get tells about, e.g. ospf")
    query: str | None = Field(None, max_length=100, description="Words that search looks for, e.g. native vlan")


class PacketAnalysisSkillsTool(Tool[PacketAnalysisSkillsArguments]):
    """Looks protocols up."""

    name = "packet_analysis_skills"
    description = (
        "What packet_analysis knows about protocols: list gives one line for each, get one protocol's fields, ready "
        "conditions and checks, search finds checks and conditions by words, such as mtu or native vlan."
    )
    arguments = PacketAnalysisSkillsArguments
    modes = BUILDING_MODES
    read_only = True

    async def run(self, arguments: PacketAnalysisSkillsArguments, context: ToolContext) -> list[dict[str, Any]]:
        """Give one item for each protocol, or for each thing found."""
        protocols = context.knowledge.of(Protocol)
        if arguments.action == "list":
            return [succeeded(entry.key, entry.value.name, entry.value.description) for entry in protocols.entries]
        if arguments.action == "get":
            if not arguments.protocol:
                raise ToolError("Which protocol? Give protocol, for example ospf.")
            key = find_protocol(arguments.protocol, context.knowledge)
            return [succeeded(key, protocols[key].name, _told(protocols[key]))]
        if not arguments.query:
            raise ToolError("What to look for? Give query, for example native vlan.")
        found = _search(arguments.query, protocols.entries)
        if not found:
            raise ToolError("Nothing fits. Try one word, or list the protocols.")
        return found


def _told(protocol: Protocol) -> dict[str, Any]:
    return {
        "description": protocol.description,
        "fields": dict(protocol.fields),
        "usual_columns": list(protocol.columns),
        "conditions": [
            {"description": one.description, "where": [condition.model_dump(mode="json") for condition in one.where]}
            for one in protocol.filters
        ],
        "checks": [{"id": check.id, "severity": check.severity, "says": check.message} for check in protocol.checks],
    }


def _search(query: str, entries: Any) -> list[dict[str, Any]]:
    words = query.casefold().split()
    found = []
    for entry in entries:
        protocol: Protocol = entry.value
        things = [
            *((f"check {check.id}", check.message) for check in protocol.checks),
            *((f"condition {one.name}", one.description) for one in protocol.filters),
            *((f"field {entry.key}.{name}", meaning) for name, meaning in protocol.fields.items()),
        ]
        for name, text in things:
            told = f"{entry.key} {protocol.name} {name.replace('_', ' ')} {text}".casefold()
            if all(word in told for word in words):
                found.append(succeeded(entry.key, f"{protocol.name}: {name}", text))
    return found[:MAX_FOUND]
