"""What is asked of a capture. It goes to the worker as JSON, and so does the answer come back."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any

from gns3server_copilot.packets.budget import MAX_FRAMES, MAX_MEMORY, MAX_SECONDS

#: Rows of packets in an answer, unless the question says how many.
USUAL_ROWS = 20
MOST_ROWS = 200
CONVERSATIONS = 10


@dataclass(frozen=True)
class Question:
    """What to find out of the capture file at `path`.

    Without `protocol` the answer sums the capture up. `definitions` are the protocols' definitions as plain data, by
    name. `where` are conditions (`packets.conditions`), `fields` the columns of the rows.
    """

    path: str
    protocol: str = ""
    definitions: dict[str, Any] = field(default_factory=dict)
    where: tuple[dict[str, Any], ...] = ()
    fields: tuple[str, ...] = ()
    limit: int = USUAL_ROWS
    max_frames: int = MAX_FRAMES
    max_seconds: float = MAX_SECONDS
    max_memory: int = MAX_MEMORY

    def to_json(self) -> bytes:
        """One line for the worker."""
        return json.dumps(asdict(self)).encode()

    @classmethod
    def from_json(cls, line: bytes) -> Question:
        """The question that `to_json` wrote."""
        raw = json.loads(line)
        return cls(**{**raw, "where": tuple(raw["where"]), "fields": tuple(raw["fields"])})
