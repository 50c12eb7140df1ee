"""Whatever a tool may have answered, as tool response v1.0: stored histories hold many older shapes."""

from __future__ import annotations

import re
from typing import Any

from gns3server_copilot.utils.parse_tool_content import read_text
from gns3server_copilot.utils.plain_data import as_text, plain, put
from gns3server_copilot.utils.tool_response import ITEM_KEYS, VERSION, failed, is_item, is_response, respond, succeeded

# Older names of what v1.0 calls data, id, name and result; the first that holds something wins, the others are kept
# as extra keys.
LIST_KEYS = ("data", "nodes", "created_nodes", "links", "results", "templates", "output")
ID_KEYS = ("id", "device_id", "node_id", "link_id", "template_id")
NAME_KEYS = ("name", "device_name", "node_name", "new_name", "template_name")
RESULT_KEYS = ("result", "output", "data")

#: Keys that make an object an entry about one thing; an `error` without any of them is about the whole call.
ENTRY_KEYS = {*ID_KEYS, *NAME_KEYS, *RESULT_KEYS, "status"}

#: Counters of older responses, by the counter of v1.0 that replaces them.
COUNTERS = {
    "total": ("total", "total_nodes", "count"),
    "successful": ("successful", "successful_nodes"),
    "failed": ("failed", "failed_nodes"),
}

#: Any other status of an entry means that it failed.
GOOD_STATUSES = {
    "success",
    "succeeded",
    "successful",
    "ok",
    "done",
    "completed",
    "started",
    "stopped",
    "suspended",
    "created",
    "unblocked",
}

#: Statuses of a whole response that mean failure; beside a list, other words are about something else ("opened").
BAD_STATUSES = {"failed", "failure", "error", "partial_success", "aborted", "cancelled", "timeout"}

#: A text whose first word says that it reports an error.
_ERROR_TEXT = re.compile(r"\W*(?:\w*error|\w*exception|traceback|failed to)\b", re.IGNORECASE)

#: A text that holds nothing, as JSON or as a Python literal. (`*+`: without it a long row of brackets takes hours.)
_EMPTY_TEXT = re.compile(r"""[\s()\[\]{}"']*+(?:null|none|false)?[\s()\[\]{}"']*""", re.IGNORECASE)


def normalize_tool_response(raw: object, tool_name: str | None = None) -> dict[str, Any]:
    """The answer of a tool as tool response v1.0; a response that is one already keeps its content.

    Takes anything, never raises, keeps every text and is idempotent. What has no place in v1.0 is kept as extra keys
    of the item, or in the metadata. Nothing at all, or only an error, is a failure.
    """
    content = plain(raw)
    if isinstance(content, str):
        content = _unpacked(content)
    if is_response(content):
        response = content
    elif isinstance(content, dict):
        response = _from_object(content)
    elif isinstance(content, list):
        response = _from_list(content)
    else:
        response = _from_scalar(content)
    metadata = response["metadata"]
    metadata["tool_name"] = metadata["tool_name"] or as_text(tool_name)
    result: dict[str, Any] = plain(response)  # again: nesting has grown, and its limit must hold for the next call too
    return result


def item_from(entry: object) -> dict[str, Any]:
    """The v1.0 item that an entry of any older shape stands for; an item keeps its content."""
    data = plain(entry)
    if isinstance(data, dict):
        return data if is_item(data) else _item_from_object(data)
    if _is_empty(data):
        return failed("", "", _no_result(data))
    text = as_text(data)
    return failed("", "", text) if _ERROR_TEXT.match(text) else succeeded("", "", text)


def _from_scalar(value: Any) -> dict[str, Any]:
    text = as_text(value)
    if _is_empty(value) or value == 0:
        return respond([], _metadata({}), error=_no_result(value))
    if _ERROR_TEXT.match(text):
        return respond([], _metadata({}), error=text)
    return respond([succeeded("", "", text)], _metadata({}))


def _from_list(entries: list[Any]) -> dict[str, Any]:
    return respond(map(item_from, entries), _metadata({}), error="" if entries else _no_result(None))


def _from_object(content: dict[str, Any]) -> dict[str, Any]:
    rest = dict(content)
    metadata = _metadata(rest)
    lists = [key for key in LIST_KEYS if key in rest and _holds_entries(key, rest[key])]
    items = [item_from(entry) for key in lists for entry in _entries(rest.pop(key))]
    only_empty_lists = bool(lists) and not items and not rest.get("result") and not rest.get("output")
    only_an_error = bool(rest.get("error")) and ENTRY_KEYS.isdisjoint(rest)
    if items or only_empty_lists or only_an_error or _is_empty(rest):
        return _from_entries(items, rest, metadata)
    return respond([item_from(rest)], metadata)


def _from_entries(items: list[dict[str, Any]], rest: dict[str, Any], metadata: dict[str, Any]) -> dict[str, Any]:
    """The response of these items, given what else the older response said."""
    says_failure = _counts_failures(rest) or rest.get("success") is False or _word(rest.get("status")) in BAD_STATUSES
    says_success = rest.get("success") is True or _word(rest.get("status")) in GOOD_STATUSES
    if isinstance(rest.get("success"), bool):
        del rest["success"]
    error = as_text(rest.pop("error", None) or None)
    if not error and says_failure and not any(item["status"] == "failed" for item in items):
        error = _take(rest, ("message",)) or "The tool reported a failure without saying of what."
    if not error and not items and not says_success:
        error = _no_result(None)
    response = respond(items, metadata, error)
    for counter, keys in COUNTERS.items():
        for key in keys:
            if _number(rest.get(key)) == response[counter]:
                del rest[key]
    for key, value in rest.items():
        put(metadata, key, value)
    return response


def _item_from_object(entry: dict[str, Any]) -> dict[str, Any]:
    rest = dict(entry)
    id, name = _take(rest, ID_KEYS), _take(rest, NAME_KEYS)
    error = as_text(rest.pop("error", None) or None)
    status = rest.pop("status", None)
    if status is None and isinstance(rest.get("success"), bool):
        status = "success" if rest.pop("success") else "failed"
    word = _word(status)
    is_failure = bool(error) or _is_empty(entry) or _counts_failures(rest) or rest.get("success") is False
    is_failure = is_failure or (word != "" and word not in GOOD_STATUSES)
    result = _take(rest, RESULT_KEYS)
    if is_failure:
        error = error or _take(rest, ("message",))
    else:
        result = result or _take(rest, ("message",)) or word
    for key in ITEM_KEYS:
        rest.pop(key, None)  # only empty ones are left
    if status not in (None, "", "success", "failed"):
        put(rest, "original_status", status)
    if not is_failure:
        return succeeded(id, name, result, **rest)
    if not error and word != "partial_success":
        error, result = result, ""
    if not error and word:
        error = f"The tool gave the status {word}."
    if result:
        rest["result"] = result
    return failed(id, name, error, **rest)


def _metadata(rest: dict[str, Any]) -> dict[str, Any]:
    """The metadata of v1.0, with what the older response says about itself taken out of it."""
    given = rest.pop("metadata", None) if isinstance(rest.get("metadata"), dict | None) else None
    metadata: dict[str, Any] = {"tool_name": "", "version": VERSION}
    for key, value in (given or {}).items():
        if key == "tool_name" and isinstance(value, str):
            metadata["tool_name"] = value
        elif metadata.get(key) != value:
            put(metadata, key, value)
    if rest.get("execution_time") is not None:
        put(metadata, "execution_time", rest.pop("execution_time"))
    return metadata


def _holds_entries(key: str, value: object) -> bool:
    """Whether the value is a list of things, or an object that holds them by name; null stands for an empty list."""
    if key == "output":  # one device's lines, unless they are entries
        return isinstance(value, list) and bool(value) and all(isinstance(member, dict) for member in value)
    if isinstance(value, dict):
        return key == "data" or all(isinstance(member, dict) for member in value.values())
    return value is None or isinstance(value, list)


def _entries(value: Any) -> list[Any]:
    if not isinstance(value, dict):
        return value or []
    if not all(isinstance(member, dict) for member in value.values()):
        return [value]
    entries = []
    for name, member in value.items():
        entry = dict(member)
        if entry.get("name") in (None, ""):
            entry["name"] = name
        elif entry["name"] != name:
            put(entry, "name", name)
        entries.append(entry)
    return entries


def _unpacked(text: str) -> Any:
    """The list or object that a text holds, also when it was encoded twice; else the text itself."""
    inner: Any = text
    while isinstance(inner, str | bytes):
        try:
            inner = read_text(as_text(inner))
        except ValueError:
            return text
    data = plain(inner)
    return data if isinstance(data, list | dict) else text


def _is_empty(value: object) -> bool:
    if isinstance(value, dict | list):
        return all(map(_is_empty, value.values() if isinstance(value, dict) else value))
    if isinstance(value, str):
        return _EMPTY_TEXT.fullmatch(value) is not None
    return value is None or value is False


def _counts_failures(entry: dict[str, Any]) -> bool:
    return any(_number(entry.get(key)) > 0 for key in COUNTERS["failed"])


def _no_result(value: object) -> str:
    text = as_text(value)
    return "The tool gave no result." + (f" It answered: {text}" if text else "")


def _take(entry: dict[str, Any], keys: tuple[str, ...]) -> str:
    """The text of the first of these keys that holds something; that key is removed."""
    for key in keys:
        if entry.get(key) not in (None, ""):
            return as_text(entry.pop(key))
    return ""


def _word(status: object) -> str:
    if isinstance(status, bool):
        return "success" if status else "failed"
    return as_text(status).strip().lower()


def _number(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else -1
