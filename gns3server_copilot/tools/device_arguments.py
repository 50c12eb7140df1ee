"""The arguments that the tools for devices share, in the shapes that other copilots taught models too."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator

MAX_COMMANDS = 50


def _as_list(value: Any) -> Any:
    # models send one command as a text
    return [value] if isinstance(value, str) else value


#: Commands, in the order in which they are to run.
Lines = Annotated[list[str], BeforeValidator(_as_list)]
