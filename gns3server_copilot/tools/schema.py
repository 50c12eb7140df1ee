"""Plain JSON Schema of a tool's arguments, which every provider and small local models understand."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

#: What pydantic writes for people and machines that the model does not need.
NOISE = ("title", "additionalProperties", "default")


@functools.cache
def plain_schema(model: type[BaseModel]) -> dict[str, Any]:
    """Give `model`'s schema without `$ref`, titles and null unions; an optional field is simply not required.

    It is made once (pydantic takes milliseconds for it), so callers must not change it.
    """
    schema = model.model_json_schema()
    return _plain(schema, schema.get("$defs", {}))


def _plain(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    if "$ref" in schema:
        described = {key: value for key, value in schema.items() if key != "$ref"}
        return _plain({**definitions[schema["$ref"].rpartition("/")[2]], **described}, definitions)
    if "anyOf" in schema:
        kinds = [kind for kind in schema["anyOf"] if kind.get("type") != "null"]
        if len(kinds) != 1:
            raise TypeError(f"a tool's argument has one type, not several: {schema}")
        described = {key: value for key, value in schema.items() if key != "anyOf"}
        return _plain({**kinds[0], **described}, definitions)
    plain = {key: value for key, value in schema.items() if key not in (*NOISE, "$defs")}
    if "const" in plain:
        plain["enum"] = [plain.pop("const")]
    if schema.get("default") is not None:
        plain["default"] = schema["default"]
    if "properties" in plain:
        plain["properties"] = {name: _plain(field, definitions) for name, field in plain["properties"].items()}
    if "items" in plain:
        plain["items"] = _plain(plain["items"], definitions)
    return plain
