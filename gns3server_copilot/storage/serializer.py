"""How checkpoints are written and read: LangChain messages and plain values, nothing else.

The project's folder is not a safe place: whoever can change the project may have put the file there. LangGraph's own
serializer imports and calls what such a file names; its strict mode gives the arguments of what it refuses as if they
were the value. This one keeps LangGraph's format on disk and refuses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import ormsgpack
from langchain_core import messages as lc
from langgraph.checkpoint.serde.jsonplus import EXT_PYDANTIC_V2

from gns3server_copilot.errors import StorageError
from gns3server_copilot.storage.kept import PackedMessages

REFUSED = (
    "The stored conversation holds something that is not a chat message and is refused. Delete this conversation and "
    "start a new one."
)

_CLASSES: Final[tuple[type[lc.BaseMessage], ...]] = (
    lc.HumanMessage,
    lc.HumanMessageChunk,
    lc.AIMessage,
    lc.AIMessageChunk,
    lc.SystemMessage,
    lc.SystemMessageChunk,
    lc.ToolMessage,
    lc.ToolMessageChunk,
    lc.FunctionMessage,
    lc.FunctionMessageChunk,
    lc.ChatMessage,
    lc.ChatMessageChunk,
    lc.RemoveMessage,
)
_BY_NAME: Final = {(known.__module__, known.__name__): known for known in _CLASSES}

_IN_MESSAGES = ormsgpack.OPT_NON_STR_KEYS | ormsgpack.OPT_REPLACE_SURROGATES
#: What would come back as text or a mapping goes to `_encoded`, which refuses it.
_IN_STATE = (
    _IN_MESSAGES
    | ormsgpack.OPT_PASSTHROUGH_DATACLASS
    | ormsgpack.OPT_PASSTHROUGH_DATETIME
    | ormsgpack.OPT_PASSTHROUGH_ENUM
    | ormsgpack.OPT_PASSTHROUGH_UUID
)
#: msgpack's nesting limit is 1024; what a model nests deeper than this is kept as text.
_DEEPEST = 200


class CheckpointSerializer:
    """LangGraph's serializer protocol, restricted to messages and plain values in both directions.

    A message that it has read or written is not packed a second time: messages are replaced, never changed.
    """

    def __init__(self) -> None:
        self._known = PackedMessages()

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        """Give the stored form of a value. Raises TypeError for a state value that could not be read back."""
        if obj is None:
            return "null", b""
        return "msgpack", ormsgpack.packb(obj, default=self._encoded, option=_IN_STATE)

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        """Give the value back. Raises StorageError for anything but messages and plain values."""
        return _unpacked(data, self._message)

    def placeholder(self, data: tuple[str, bytes]) -> Any:
        """Give the value with every message an empty one: enough to judge a file, at a fraction of the time.

        A known message with impossible fields passes here: it costs its conversation, not the whole file.
        """
        return _unpacked(data, _message_placeholder)

    def _encoded(self, obj: Any) -> Any:
        for base in type(obj).__mro__:
            if base in _CLASSES:
                packed = self._known.get(obj)
                if packed is None:
                    packed = _packed_message(base, obj)
                    self._known.keep(obj, packed)
                return ormsgpack.Ext(EXT_PYDANTIC_V2, packed)
        if isinstance(obj, BaseException):
            # LangGraph stores a failed step's exception; its text may quote a key or a URL with credentials
            return type(obj).__name__
        raise TypeError(f"a checkpoint cannot hold a {type(obj).__name__}")

    def _message(self, code: int, data: bytes) -> lc.BaseMessage:
        known, fields = _named_message(code, data)
        message = known(**fields)
        self._known.keep(message, data)
        return message


def _packed_message(known: type[lc.BaseMessage], message: lc.BaseMessage) -> bytes:
    # the fourth item is what LangGraph's own reader expects to find there
    head = (known.__module__, known.__name__)
    fields = message.model_dump()
    try:
        return ormsgpack.packb((*head, fields, "model_validate_json"), default=str, option=_IN_MESSAGES)
    except ormsgpack.MsgpackEncodeError:  # a model's arguments may hold any number and any depth that JSON can
        return ormsgpack.packb((*head, _fitting(fields, 0), "model_validate_json"), default=str, option=_IN_MESSAGES)


def _fitting(value: Any, depth: int) -> Any:
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        return str(value)
    if isinstance(value, dict | list | tuple) and depth > _DEEPEST:
        return "(nested too deeply to be kept)"
    if isinstance(value, dict):
        return {key: _fitting(one, depth + 1) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_fitting(one, depth + 1) for one in value]
    return value


def _unpacked(data: tuple[str, bytes], extension: Callable[[int, bytes], Any]) -> Any:
    kind, blob = data
    if kind == "null":
        return None
    if kind != "msgpack":
        raise StorageError(REFUSED)
    try:
        # whatever `extension` raises comes out as a ValueError
        return ormsgpack.unpackb(blob, ext_hook=extension, option=ormsgpack.OPT_NON_STR_KEYS)
    except (ValueError, TypeError) as error:
        raise StorageError(REFUSED) from error


_PLACEHOLDER = lc.HumanMessage("")


def _message_placeholder(code: int, data: bytes) -> lc.BaseMessage:
    _named_message(code, data)
    return _PLACEHOLDER


def _named_message(code: int, data: bytes) -> tuple[type[lc.BaseMessage], Mapping[str, Any]]:
    if code != EXT_PYDANTIC_V2:
        raise ValueError("not a message")
    # no hook: nothing but plain values inside a message
    module, name, fields, *_ = ormsgpack.unpackb(data, option=ormsgpack.OPT_NON_STR_KEYS)
    known = _BY_NAME.get((module, name))
    if known is None or not isinstance(fields, dict):
        raise ValueError("not a message")
    return known, fields
