"""Tool response v1.0: the one shape in which every tool answers (docs/developer/tools.md).

    {"success", "total", "successful", "failed", "data": [item], "error"?, "metadata": {"tool_name", "version", …}}
    item: {"id", "name", "status": "success" | "failed", "result"?, "error"?, …}

A success has a `result`, a failure has an `error`, both texts. When a tool could do nothing at all there are no items
and the response has the `error`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gns3server_copilot.utils.plain_data import as_text, plain

VERSION = "v1.0"

#: Keys of an item that have a meaning of their own; all others are extras.
ITEM_KEYS = ("id", "name", "status", "result", "error")


def succeeded(id: str, name: str, result: object, **extra: object) -> dict[str, Any]:
    """An item for a thing that was done. A result that is not text becomes JSON text."""
    return {
        "id": as_text(id),
        "name": as_text(name),
        "status": "success",
        "result": as_text(result),
        **plain(extra),
    }


def failed(id: str, name: str, error: str, **extra: object) -> dict[str, Any]:
    """An item for a thing that was not done; `result=` may hold what came of it before it failed."""
    return {
        "id": as_text(id),
        "name": as_text(name),
        "status": "failed",
        "error": as_text(error) or "It failed without saying why.",
        **plain(extra),
    }


def respond(items: Iterable[dict[str, Any]], metadata: dict[str, Any], error: str = "") -> dict[str, Any]:
    """The response that holds these items, counted. `error` is what went wrong with the operation as a whole."""
    data = list(items)
    failures = sum(item["status"] == "failed" for item in data)
    response: dict[str, Any] = {
        "success": not failures and not error,
        "total": len(data),
        "successful": len(data) - failures,
        "failed": failures,
        "data": data,
    }
    if error:
        response["error"] = error
    response["metadata"] = metadata
    return response


def is_item(value: object) -> bool:
    """Whether the JSON data is an item as it must be."""
    if not isinstance(value, dict):
        return False
    texts = [value.get("id"), value.get("name"), value.get("result", ""), value.get("error", "")]
    if not all(isinstance(text, str) for text in texts):
        return False
    if value.get("status") == "success":
        return "result" in value and not value.get("error")
    return value.get("status") == "failed" and bool(value.get("error"))


def is_response(value: object) -> bool:
    """Whether the JSON data is a response as it must be, its counters included."""
    if not isinstance(value, dict):
        return False
    data, metadata, error = value.get("data"), value.get("metadata"), value.get("error", "")
    if not isinstance(data, list) or not all(map(is_item, data)) or not isinstance(error, str):
        return False
    if not isinstance(metadata, dict) or not isinstance(metadata.get("tool_name"), str):
        return False
    counted = respond(data, metadata, error)
    for key in ("success", "total", "successful", "failed"):
        if type(value.get(key)) is not type(counted[key]) or value[key] != counted[key]:
            return False
    return metadata.get("version") == VERSION
