"""What the model is shown of the tools."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Literal

import pytest
from pydantic import BaseModel, Field

from gns3server_copilot.schemas.modes import Mode
from gns3server_copilot.settings import Settings
from gns3server_copilot.tools.base import Tool
from gns3server_copilot.tools.registry import ALL_TOOLS, tools_for
from gns3server_copilot.tools.schema import plain_schema
from tests.ground.schema_rules import check_tools

#: Class, name and modes of the tools that there are.
BINDING = {
    "GNS3TemplateTool": ("get_gns3_templates", {Mode.TEACHING, Mode.LAB_AUTOMATION}),
    "GNS3CreateNodeTool": ("create_gns3_node", {Mode.TEACHING, Mode.LAB_AUTOMATION}),
    "GNS3LinkTool": ("create_gns3_link", {Mode.TEACHING, Mode.LAB_AUTOMATION}),
    "GNS3StartNodeTool": ("start_gns3_node", {Mode.TEACHING, Mode.LAB_AUTOMATION}),
    "GNS3UpdateNodeNameTool": ("update_gns3_node_name", {Mode.TEACHING, Mode.LAB_AUTOMATION}),
    "GNS3StopNodeTool": ("stop_gns3_node", {Mode.LAB_AUTOMATION}),
    "GNS3SuspendNodeTool": ("suspend_gns3_node", {Mode.LAB_AUTOMATION}),
    "ExecuteMultipleDeviceCommands": ("execute_multiple_device_commands", set(Mode)),
    "ExecuteMultipleDeviceConfigCommands": (
        "execute_multiple_device_config_commands",
        {Mode.LAB_AUTOMATION, Mode.INJECTION},
    ),
    "VPCSCommands": ("execute_vpcs_commands", {Mode.LAB_AUTOMATION}),
    "GNS3TopologyTool": ("gns3_topology_reader", {Mode.INJECTION}),
    "PacketAnalysisTool": ("packet_analysis", {Mode.TEACHING, Mode.LAB_AUTOMATION}),
    "PacketAnalysisSkillsTool": ("packet_analysis_skills", {Mode.TEACHING, Mode.LAB_AUTOMATION}),
    "GNS3PacketFilterTool": ("manage_gns3_packet_filter", {Mode.INJECTION}),
}


def test_tools_have_the_documented_names_and_modes() -> None:
    assert {type(tool).__name__: (tool.name, set(tool.modes)) for tool in ALL_TOOLS} == BINDING
    for mode in Mode:
        names = {tool.name for tool in tools_for(mode, Settings())}
        assert names == {name for name, modes in BINDING.values() if mode in modes}


def test_the_topology_tool_is_offered_everywhere_when_that_is_set() -> None:
    for mode in Mode:
        names = [tool.name for tool in tools_for(mode, Settings(topology_tool_everywhere=True))]
        assert names.count("gns3_topology_reader") == 1


@pytest.mark.parametrize("tool", ALL_TOOLS, ids=lambda tool: tool.name)
class TestDefinition:
    """Each tool's definition."""

    def test_pleases_every_provider(self, tool: Tool) -> None:
        assert check_tools([tool.definition()]) == []
        assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", tool.name)
        json.dumps(tool.definition(), allow_nan=False)

    def test_shows_an_example_for_every_field(self, tool: Tool) -> None:
        for path, field in fields(tool.definition()["function"]["parameters"], tool.name):
            assert "e.g. " in field["description"], path

    def test_leaves_the_project_out(self, tool: Tool) -> None:
        assert "project_id" not in json.dumps(tool.definition())


def fields(schema: dict[str, Any], path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every property of a schema, nested ones too."""
    for name, field in schema.get("properties", {}).items():
        yield f"{path}.{name}", field
        yield from fields(field, f"{path}.{name}")
        yield from fields(field.get("items", {}), f"{path}.{name}[]")


class Inner(BaseModel):
    """Something nested."""

    kind: Literal["only"] = Field(description="The kind, e.g. only")
    size: int | None = Field(None, ge=1, description="The size, e.g. 3")


class Outer(BaseModel):
    """Something with all that pydantic writes in its own ways."""

    many: list[Inner] = Field(min_length=1, description="Many, e.g. none")
    one: Inner | None = Field(None, description="One, e.g. none")
    mode: Literal["a", "b"] = Field("a", description="Mode, e.g. b")


class Torn(BaseModel):
    """A field of two types."""

    both: int | str


def test_references_null_unions_and_titles_are_gone() -> None:
    inner = {
        "type": "object",
        "properties": {
            "kind": {"type": "string", "enum": ["only"], "description": "The kind, e.g. only"},
            "size": {"type": "integer", "minimum": 1, "description": "The size, e.g. 3"},
        },
        "required": ["kind"],
    }
    assert plain_schema(Outer) == {
        "type": "object",
        "description": "Something with all that pydantic writes in its own ways.",
        "properties": {
            "many": {
                "type": "array",
                "minItems": 1,
                "description": "Many, e.g. none",
                "items": {**inner, "description": "Something nested."},
            },
            "one": {**inner, "description": "One, e.g. none"},
            "mode": {"type": "string", "enum": ["a", "b"], "default": "a", "description": "Mode, e.g. b"},
        },
        "required": ["many"],
    }


def test_a_field_of_several_types_is_a_mistake_of_ours() -> None:
    with pytest.raises(TypeError, match="one type"):
        plain_schema(Torn)


def test_a_definition_is_made_once() -> None:
    assert all(tool.definition() is tool.definition() for tool in ALL_TOOLS)
