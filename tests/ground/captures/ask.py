"""Questions about captures, answered in the test's own process."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

from gns3server_copilot.knowledge.loader import packaged_knowledge
from gns3server_copilot.knowledge.schemas.protocol import Protocol
from gns3server_copilot.packets.analysis import answer
from gns3server_copilot.packets.question import Question


@functools.cache
def definitions() -> dict[str, Any]:
    """All packaged protocols as plain data, as the tool hands them to the worker."""
    entries = packaged_knowledge().of(Protocol).entries
    return {entry.key: entry.value.model_dump(mode="json", by_alias=True) for entry in entries}


def ask_about(path: Path, protocol: str = "", **question: Any) -> dict[str, Any]:
    """Give the answer to a question about a capture file."""
    return answer(Question(str(path), protocol=protocol, definitions=definitions(), **question))
