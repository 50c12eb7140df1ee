"""What somebody who can write into a project's folder might put into its chat database."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import ormsgpack
from langgraph.checkpoint.serde import jsonplus


def _constructor(module: str, name: str, arguments: Any, code: int = jsonplus.EXT_CONSTRUCTOR_POS_ARGS) -> Any:
    return ormsgpack.Ext(code, ormsgpack.packb((module, name, arguments)))


def shell_command(marker: Path) -> Any:
    """What makes LangGraph's default serializer run a shell command."""
    return _constructor("os", "system", (f"touch {marker}",))


def _message_with(field: Any) -> Any:
    inner = ("langchain_core.messages.human", "HumanMessage", {"content": "hi", "additional_kwargs": {"x": field}})
    return ormsgpack.Ext(jsonplus.EXT_PYDANTIC_V2, ormsgpack.packb(inner))


PLANTS: dict[str, Callable[[Path], Any]] = {
    "shell command": shell_command,
    "deep inside": lambda marker: {"a": [{"b": shell_command(marker)}]},
    "inside a message": lambda marker: _message_with(shell_command(marker)),
    "harmless constructor": lambda _: _constructor("fractions", "Fraction", (1, 2)),
    "type that strict mode allows": lambda _: _constructor("pathlib", "PosixPath", ("/", "etc")),
    "method": lambda _: ormsgpack.Ext(
        jsonplus.EXT_METHOD_SINGLE_ARG, ormsgpack.packb(("builtins", "str", "x", "upper"))
    ),
    "old pydantic": lambda _: _constructor("builtins", "dict", {"a": 1}, jsonplus.EXT_PYDANTIC_V1),
    "message-like class": lambda _: _constructor(
        "langchain_core.messages.base", "BaseMessage", {"content": ""}, jsonplus.EXT_PYDANTIC_V2
    ),
    "document": lambda _: _constructor(
        "langchain_core.documents.base", "Document", {"page_content": ""}, jsonplus.EXT_PYDANTIC_V2
    ),
    "message inside a message": lambda _: _message_with(_message_with("x")),
    "message with a list for fields": lambda _: _constructor(
        "langchain_core.messages.human", "HumanMessage", ["hi"], jsonplus.EXT_PYDANTIC_V2
    ),
    "numpy array": lambda _: ormsgpack.Ext(jsonplus.EXT_NUMPY_ARRAY, b""),
    "unknown extension": lambda _: ormsgpack.Ext(99, b""),
}
