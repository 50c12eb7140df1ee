"""What tools answer: items, the response that counts them, and its text for the model, the stream and the history."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from gns3server_copilot.utils.older_shapes import item_from
from gns3server_copilot.utils.plain_data import as_text, json_text, plain
from gns3server_copilot.utils.tool_response import ITEM_KEYS, VERSION, failed, respond, succeeded

__all__ = ["build", "failed", "failure", "succeeded", "to_text"]

#: Longest text of a tool's answer that goes to the model, in bytes.
TEXT_LIMIT = 32_768

#: No text is cut to fewer characters than this; what is still too long then loses entries instead.
SHORTEST_TEXT = 200

_METADATA_KEYS = ("tool_name", "version", "execution_time")


def build(
    tool_name: str, items: list[dict[str, Any]], *, seconds: float, error: str = "", **metadata: object
) -> dict[str, Any]:
    """The response of a tool that did, or tried to do, these things; items that are not as they must be are mended.

    `error` is for a tool that came to no end.
    """
    return respond(map(item_from, items), _metadata(tool_name, seconds, metadata), error)


def failure(tool_name: str, error: str, *, seconds: float = 0.0, **metadata: object) -> dict[str, Any]:
    """The response of a tool that could do nothing at all."""
    return respond([], _metadata(tool_name, seconds, metadata), error=as_text(error) or "It failed without saying why.")


def to_text(response: dict[str, Any], limit: int = TEXT_LIMIT) -> str:
    """The response as JSON text of at most `limit` bytes of UTF-8 (limits under 4 KB may be exceeded).

    Over the limit the longest texts lose their middle, then entries in the middle are left out; the text says so in
    those places, and `metadata.full_length` says how long it was. It always is a valid response.
    """
    text = json_text(response)
    length = len(text.encode())
    if length <= limit:
        return text
    for candidate in _ever_shorter(plain(response)):
        candidate["metadata"]["full_length"] = length
        text = _cut_text(candidate, SHORTEST_TEXT)
        if len(text.encode()) <= limit:
            return _longest_fitting(candidate, limit, text)
    return text


def _metadata(tool_name: str, seconds: float, more: dict[str, object]) -> dict[str, Any]:
    return {"tool_name": as_text(tool_name), "version": VERSION, "execution_time": round(seconds, 3), **plain(more)}


def _ever_shorter(response: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The response, then without structure beside its texts, then with half as many entries each time."""
    yield response
    items = [_fold(item, ITEM_KEYS) for item in response["data"]]
    metadata = _fold(response["metadata"], _METADATA_KEYS)
    error = response.get("error", "")
    yield respond(items, dict(metadata), error)
    kept = len(items) // 2
    while kept:
        head, tail = items[: (kept + 1) // 2], items[len(items) - kept // 2 :]
        left_out = items[len(head) : len(items) - len(tail)]
        yield respond([*head, _stand_in(left_out), *tail], dict(metadata), error)
        kept //= 2


def _fold(value: dict[str, Any], keys: Iterable[str]) -> dict[str, Any]:
    """The object with all but these keys as one JSON text, which can be cut."""
    folded = {key: value[key] for key in keys if key in value}
    others = {key: value[key] for key in value if key not in folded}
    return {**folded, "more": json_text(others)} if others else folded


def _stand_in(items: list[dict[str, Any]]) -> dict[str, Any]:
    failures = sum(item["status"] == "failed" for item in items)
    text = f"{len(items)} entries left out here: {len(items) - failures} successful, {failures} failed."
    return failed("", "", text) if failures else succeeded("", "", text)


def _longest_fitting(response: dict[str, Any], limit: int, shortest: str) -> str:
    """The JSON text with all strings cut to one length, the greatest at which it fits (within an eighth)."""
    fitting, longest = shortest, SHORTEST_TEXT
    while longest < limit:
        longest = longest * 9 // 8
        text = _cut_text(response, longest)
        if len(text.encode()) > limit:
            break
        fitting = text
    return fitting


def _cut_text(response: dict[str, Any], longest: int) -> str:
    return json.dumps(_cut(response, longest), ensure_ascii=False, allow_nan=False)


def _cut(value: Any, longest: int) -> Any:
    if isinstance(value, str) and len(value) > longest:
        half = longest // 2
        return f"{value[:half]}\n… {len(value) - 2 * half} characters left out …\n{value[-half:]}"
    if isinstance(value, dict):
        return {key: _cut(member, longest) for key, member in value.items()}
    return [_cut(member, longest) for member in value] if isinstance(value, list) else value
