"""LangChain messages to the messages of a history in OpenAI's shape, and back (docs/developer/http-api.md).

    {"id", "role": user|assistant|system|tool, "content": text, "created_at": ISO text or None, "name"?,
     "tool_call_id"?, "tool_calls"?: [{"id", "type": "function", "function": {"name", "arguments"}}], "metadata"}

`created_at` and `metadata` are what `response_metadata["copilot"]` of the LangChain message holds. No function here
raises, whatever the message holds.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable
from typing import Any

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    ChatMessage,
    HumanMessage,
    InvalidToolCall,
    SystemMessage,
    ToolCall,
    ToolMessage,
)

from gns3server_copilot.schemas.wire_names import THOUGHTS
from gns3server_copilot.utils.plain_data import as_text, json_text, plain, put

#: Roles of other programs and providers; any other role has no more authority than the user.
ROLES = {
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "model": "assistant",
    "system": "system",
    "developer": "system",
    "tool": "tool",
    "function": "tool",
}

#: Blocks that are not text: what the model thought, and calls that `tool_calls` holds already.
HIDDEN_BLOCKS = {
    "reasoning",
    THOUGHTS,
    "thinking",
    "redacted_thinking",
    "tool_use",
    "tool_call",
    "tool_call_chunk",
    "invalid_tool_call",
    "function_call",
    "input_json_delta",
    "server_tool_call",
    "server_tool_call_chunk",
    "server_tool_use",
}

#: Blocks of which the text says only that they are there, by the word for it.
NAMED_BLOCKS = {
    "image": "image",
    "image_url": "image",
    "input_image": "image",
    "audio": "audio",
    "input_audio": "audio",
    "video": "video",
    "media": "file",
    "file": "file",
    "input_file": "file",
    "document": "file",
}

_CLASSES: dict[str, type[BaseMessage]] = {
    "user": HumanMessage,
    "assistant": AIMessage,
    "system": SystemMessage,
    "tool": ToolMessage,
}

_LONGEST_BLOCK_NAME = 200
_ID_NAMESPACE = uuid.UUID("6c8a1f0e-3a5d-5d0b-9b52-5f6f0b0a7d11")


def to_openai(message: BaseMessage) -> dict[str, Any]:
    """The history message that the LangChain message stands for.

    A message or call without an id gets one that depends on what the message says alone, so it is the same at each
    reading. Calls whose arguments could not be read are kept: their arguments are the broken text as a JSON string,
    and `metadata["invalid_tool_calls"]` names them.
    """
    copilot = plain(_field(_field(message, "response_metadata"), "copilot"))
    metadata: dict[str, Any] = copilot if isinstance(copilot, dict) else {}
    created_at = as_text(metadata.pop("created_at", None)) or None
    role = _role_of(message, metadata)
    result: dict[str, Any] = {"id": as_text(_field(message, "id")), "role": role}
    result["content"] = content_text(_field(message, "content"))
    result["created_at"] = created_at
    name = as_text(_field(message, "name"))
    if name:
        result["name"] = name
    if role == "tool":
        result["tool_call_id"] = as_text(_field(message, "tool_call_id")) or name
        if result["content"].strip() in ("", "null"):
            result["content"] = "{}"  # the GNS3 web UI fails on a result without content
        if _field(message, "status") == "error":
            metadata.setdefault("status", "error")
    calls = [*_written_calls(message, "tool_calls"), *_written_calls(message, "invalid_tool_calls")]
    if calls:
        result["tool_calls"] = calls
    result["id"] = result["id"] or str(uuid.uuid5(_ID_NAMESPACE, json_text(result)))
    for number, call in enumerate(calls):
        call["id"] = call["id"] or f"call_{uuid.uuid5(_ID_NAMESPACE, json_text([result['id'], number])).hex[:24]}"
    broken = [{"id": call["id"], "error": call.pop("error")} for call in calls if "error" in call]
    if broken:
        put(metadata, "invalid_tool_calls", broken)
    result["metadata"] = metadata
    return result


def history_to_openai(messages: Iterable[BaseMessage]) -> list[dict[str, Any]]:
    """The messages of a history, each with an id of its own: a repeated id gets `-2`, `-3` … at its end."""
    uses: dict[str, int] = {}
    result = []
    for converted in map(to_openai, messages):
        wanted = converted["id"]
        while converted["id"] in uses:
            uses[wanted] += 1
            converted["id"] = f"{wanted}-{uses[wanted]}"
        uses[converted["id"]] = 1
        result.append(converted)
    return result


def from_openai(message: dict[str, Any]) -> BaseMessage:
    """The LangChain message that a history message stands for; calls in LangChain's own shape are read too."""
    data = plain(message)
    if not isinstance(data, dict):
        data = {"role": "user", "content": data}
    metadata = dict(data["metadata"]) if isinstance(data.get("metadata"), dict) else {}
    role = _known_role(as_text(data.get("role")), metadata)
    fields: dict[str, Any] = {"content": _langchain_content(data.get("content"))}
    fields["name"] = as_text(data.get("name")) or None
    if role == "tool":
        fields["tool_call_id"] = as_text(data.get("tool_call_id"))
        if metadata.get("status") == "error":
            fields["status"] = metadata.pop("status")
    if role == "assistant":
        fields["tool_calls"], fields["invalid_tool_calls"] = _read_calls(data.get("tool_calls"), metadata)
    if data.get("created_at") is not None:
        metadata["created_at"] = as_text(data["created_at"])
    if metadata:
        fields["response_metadata"] = {"copilot": metadata}
    result = _CLASSES[role](**fields)
    result.id = as_text(data.get("id")) or to_openai(result)["id"]
    return result


def content_text(content: object) -> str:
    """What is to be read of a message's content of any kind; thoughts are left out, images and files are named."""
    return _content_text(plain(content))


def _content_text(data: Any) -> str:
    text, after_text = "", True
    for block in data if isinstance(data, list) else [data]:
        is_text, part = _block_text(block)
        if part:
            text += part if not text or (is_text and after_text) else f"\n{part}"
            after_text = is_text
    return text


def _block_text(block: Any) -> tuple[bool, str]:
    """Whether a block is a piece of running text, and what is to be read of it."""
    if not isinstance(block, dict):
        return True, as_text(block)
    kind = as_text(block.get("type"))
    if kind in HIDDEN_BLOCKS:
        return True, ""
    if kind in NAMED_BLOCKS:
        name = _block_name(block)
        return False, f"[{NAMED_BLOCKS[kind]}: {name}]" if name else f"[{NAMED_BLOCKS[kind]}]"
    for key in ("text", "refusal", "content"):
        if key in block:
            return True, _content_text(block[key])
    return False, json_text(block)


def _block_name(block: dict[str, Any]) -> str:
    """The best name of an image or file: never its data."""
    holders = [block, *[value for value in block.values() if isinstance(value, dict)]]
    for key in ("name", "filename", "title", "url", "image_url", "file_id", "mime_type", "media_type", "format"):
        for holder in holders:
            name = holder.get(key)
            if isinstance(name, str) and name:
                if name.startswith("data:"):
                    name = name.removeprefix("data:").partition(",")[0].partition(";")[0]
                return name[:_LONGEST_BLOCK_NAME]
    return ""


def _role_of(message: object, metadata: dict[str, Any]) -> str:
    if issubclass(type(message), ChatMessage):
        return _known_role(as_text(_field(message, "role")), metadata)
    for role, kind in _CLASSES.items():
        if issubclass(type(message), kind):
            return role
    return _known_role(as_text(_field(message, "type")), metadata)


def _known_role(role: str, metadata: dict[str, Any]) -> str:
    known = ROLES.get(role.lower())
    if known is None:
        put(metadata, "original_role", role)
    return known or "user"


def _written_calls(message: object, field: str) -> list[dict[str, Any]]:
    """The calls of one field of a message in OpenAI's shape; invalid ones with their `error` beside."""
    calls = plain(_field(message, field))
    result = []
    for call in calls if isinstance(calls, list) else []:
        if not isinstance(call, dict):
            call = {"args": call}
        function = {"name": as_text(call.get("name")), "arguments": json_text(call.get("args") or {})}
        written = {"id": as_text(call.get("id")), "type": "function", "function": function}
        if field == "invalid_tool_calls":
            written["error"] = as_text(call.get("error"))
        result.append(written)
    return result


def _read_calls(calls: Any, metadata: dict[str, Any]) -> tuple[list[ToolCall], list[InvalidToolCall]]:
    broken = metadata.pop("invalid_tool_calls", None)
    errors = {as_text(_field(entry, "id")): as_text(_field(entry, "error")) for entry in _members(broken)}
    valid: list[ToolCall] = []
    invalid: list[InvalidToolCall] = []
    for call in _members(calls):
        function = _field(call, "function") or call
        id, name = as_text(_field(call, "id")) or None, as_text(_field(function, "name"))
        written = _field(function, "arguments") or _field(function, "args") or {}
        arguments = _loaded(written)
        if isinstance(arguments, dict) and (arguments or (id or "") not in errors):
            valid.append(ToolCall(name=name, args=arguments, id=id, type="tool_call"))
        else:
            text = as_text(arguments or None)
            error = errors.get(id or "") or None
            invalid.append(InvalidToolCall(name=name, args=text or None, id=id, error=error, type="invalid_tool_call"))
    return valid, invalid


def _loaded(arguments: Any) -> Any:
    """The data of a JSON text; anything else as it is."""
    if not isinstance(arguments, str):
        return arguments
    try:
        return plain(json.loads(arguments))
    except (ValueError, RecursionError):
        return arguments


def _langchain_content(content: Any) -> str | list[str | dict[str, Any]]:
    if isinstance(content, list) and content:
        return [block if isinstance(block, dict) else as_text(block) for block in content]
    return as_text(content or None)


def _members(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _field(holder: object, name: str) -> Any:
    try:
        return holder.get(name) if isinstance(holder, dict) else getattr(holder, name, None)
    except Exception:  # a property of somebody else's class
        return None
