"""Reads what the model sent as arguments of a tool call, and says everything that is wrong with it at once."""

from __future__ import annotations

import difflib
import json
from typing import Any, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from gns3server_copilot.errors import ToolError
from gns3server_copilot.gns3.text import clipped, printable
from gns3server_copilot.schemas.identity import ProjectRef
from gns3server_copilot.tools.base import ArgumentsT, Tool

#: The older shape, which other copilots taught models: everything as JSON text in one argument.
WRAPPED = "tool_input"
MAX_ERRORS = 25
MAX_FIELD_NAME = 60


def read_arguments(tool: Tool[ArgumentsT], raw: str | dict[str, Any] | list[Any], project: ProjectRef) -> ArgumentsT:
    """Give the validated arguments of `tool`.

    Takes JSON text, an object, a bare array for a tool that takes one list, and `{"tool_input": <any of these>}`. A
    `project_id` is dropped when it names `project`: it is never the model's to choose. Raises ToolError that
    lists every wrong field.
    """
    arguments = _as_object(tool, _unwrapped(_parsed(raw)))
    _check_project(arguments, project)
    try:
        return tool.arguments.model_validate(arguments)
    except ValidationError as error:
        raise ToolError(_all_errors(tool, error.errors(include_url=False))) from None


def _parsed(raw: Any) -> Any:
    if not isinstance(raw, str):
        return raw
    if not raw.strip():
        return {}
    try:
        return json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise ToolError(f"The arguments are not valid JSON: {clipped(str(error), 100)}.") from None


def _unwrapped(arguments: Any) -> Any:
    if not isinstance(arguments, dict) or WRAPPED not in arguments:
        return arguments
    inner = _parsed(arguments[WRAPPED])
    if inner is None:
        inner = {}
    beside = {name: value for name, value in arguments.items() if name not in (WRAPPED, "kwargs")}
    return {**inner, **beside} if isinstance(inner, dict) else inner


def _as_object(tool: Tool, arguments: Any) -> dict[str, Any]:
    if isinstance(arguments, dict):
        return dict(arguments)
    lists = [
        name
        for name, field in tool.arguments.model_fields.items()
        if field.is_required() and get_origin(field.annotation) is list
    ]
    if isinstance(arguments, list) and len(lists) == 1:
        return {lists[0]: arguments}
    raise ToolError(f"The arguments must be a JSON object with the fields {', '.join(tool.arguments.model_fields)}.")


def _check_project(arguments: dict[str, Any], project: ProjectRef) -> None:
    sent = printable(arguments.pop("project_id", None))
    if sent and sent.lower() != project.project_id.lower() and sent != project.name:
        raise ToolError(
            f"This chat belongs to the project {clipped(printable(project.name), MAX_FIELD_NAME)} and works on no "
            "other one. Leave project_id out."
        )


def _all_errors(tool: Tool, errors: list[ErrorDetails]) -> str:
    said = [_one_error(tool.arguments, error) for error in errors[:MAX_ERRORS]]
    if len(errors) > MAX_ERRORS:
        said.append(f"and {len(errors) - MAX_ERRORS} more")
    return f"Wrong arguments, nothing was done. {'; '.join(said)}."


def _one_error(model: type[BaseModel], error: ErrorDetails) -> str:
    where = _path(error["loc"]) or "arguments"
    if error["type"] == "missing":
        return f"{where}: is missing"
    if error["type"] == "extra_forbidden":
        return f"{where}: there is no such field{_meant(model, error['loc'])}"
    if error["type"] == "model_type":
        return f"{where}: must be an object with the fields {', '.join(_model_at(model, error['loc']).model_fields)}"
    # "Value error, " is pydantic's own beginning of what our validators say
    return f"{where}: {printable(error['msg']).removeprefix('Value error, ')}"


def _path(location: tuple[int | str, ...]) -> str:
    """Give `nodes[0].x` for ("nodes", 0, "x")."""
    path = ""
    for step in location:
        if isinstance(step, int):
            path += f"[{step}]"
        else:
            path += f".{clipped(printable(step), MAX_FIELD_NAME)}"
    return path.removeprefix(".")


def _meant(model: type[BaseModel], location: tuple[int | str, ...]) -> str:
    model = _model_at(model, location[:-1])
    near = difflib.get_close_matches(str(location[-1]), model.model_fields, n=1)
    return f", did you mean {near[0]}" if near else f" among {', '.join(model.model_fields)}"


def _model_at(model: type[BaseModel], location: tuple[int | str, ...]) -> type[BaseModel]:
    for step in location:
        if isinstance(step, str) and step in model.model_fields:
            model = _model_in(model.model_fields[step].annotation) or model
    return model


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for inner in get_args(annotation) if (found := _model_in(inner))), None)
