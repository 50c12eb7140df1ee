"""What providers demand of tool definitions: names, descriptions and plain JSON Schema.

Plain means: every property and every array item has one `type`, no `$ref`, no `anyOf`/`oneOf`/`allOf`, no null.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.ground.message_rules import TOOL_NAME

TYPES = {"string", "integer", "number", "boolean", "object", "array"}
REFUSED = {"$ref", "$defs", "definitions", "anyOf", "oneOf", "allOf", "not", "const", "nullable"}
#: OpenAI's limit.
LONGEST_DESCRIPTION = 1024
MOST_TOOLS = 128


def check_tools(tools: Any) -> list[str]:
    """Say, one sentence each, what is wrong with a request's `tools`; empty when nothing is."""
    if not isinstance(tools, list) or not tools:
        return ["tools is not a list with something in it"]
    found = [wrong for tool in tools for wrong in _check_tool(tool)]
    names = [tool["function"].get("name") for tool in tools if isinstance(tool.get("function"), dict)]
    if len(set(names)) != len(names):
        found.append(f"a tool name is used twice: {names}")
    if len(tools) > MOST_TOOLS:
        found.append(f"{len(tools)} tools are more than {MOST_TOOLS}")
    return found


def _check_tool(tool: Any) -> Iterator[str]:
    function = tool.get("function") if isinstance(tool, dict) and tool.get("type") == "function" else None
    if not isinstance(function, dict):
        yield f"{tool!r} is not a function tool"
        return
    name = function.get("name")
    if not (isinstance(name, str) and TOOL_NAME.match(name)):
        yield f"tool name {name!r} is not 1 to 64 letters, digits, _ and -"
    description = function.get("description")
    if not (isinstance(description, str) and description.strip()):
        yield f"{name} has no description"
    elif len(description) > LONGEST_DESCRIPTION:
        yield f"the description of {name} is longer than {LONGEST_DESCRIPTION} characters"
    parameters = function.get("parameters")
    if not isinstance(parameters, dict) or parameters.get("type") != "object":
        yield f"the parameters of {name} are not an object schema"
    else:
        yield from _check_schema(parameters, f"{name}")


def _check_schema(schema: Any, where: str) -> Iterator[str]:
    if not isinstance(schema, dict):
        yield f"{where} is not a schema"
        return
    for keyword in sorted(REFUSED & schema.keys()):
        yield f"{where} uses {keyword}"
    kind = schema.get("type")
    if not isinstance(kind, str) or kind not in TYPES:
        yield f"{where} has the type {kind!r}"
    if "enum" in schema and not (isinstance(schema["enum"], list) and schema["enum"] and None not in schema["enum"]):
        yield f"{where} has an empty enum or null in it"
    if kind == "array":
        if "items" not in schema:
            yield f"{where} is an array without items"
        else:
            yield from _check_schema(schema["items"], f"{where}[]")
    if kind == "object":
        yield from _check_properties(schema, where)


def _check_properties(schema: dict[str, Any], where: str) -> Iterator[str]:
    properties = schema.get("properties", {})
    if not isinstance(properties, dict):
        yield f"{where} has properties that are not an object"
        return
    for name, inner in properties.items():
        yield from _check_schema(inner, f"{where}.{name}")
        if isinstance(inner, dict) and not inner.get("description"):
            yield f"{where}.{name} has no description"
    required = schema.get("required", [])
    if not isinstance(required, list) or not set(required) <= properties.keys():
        yield f"{where} requires {required}, which are not all properties"
