"""Makes the audit record of a tool call: names of what it was about, never what a device said or was told."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from gns3server_copilot.gns3.text import clipped, printable
from gns3server_copilot.redaction.text import redact
from gns3server_copilot.schemas.audit import ToolCall, Verdict

if TYPE_CHECKING:
    from gns3server_copilot.tools.base import ToolContext

MOST_TARGETS = 50
LONGEST_NAME = 64

#: Arguments that name what a call is about.
TARGET_FIELDS = frozenset(
    {"device", "devices", "node", "nodes", "name", "new_name", "link", "template", "node_a", "node_b"}
)


def record(
    context: ToolContext,
    tool: str,
    verdict: Verdict,
    seconds: float,
    *,
    items: list[dict[str, Any]] | None = None,
    arguments: Any = None,
) -> ToolCall:
    """Give the record: targets are those of the answer's items, or else those that the arguments name."""
    named = [str(item.get("name") or item.get("id") or "") for item in items or []]
    names = {clipped(redact(printable(name)), LONGEST_NAME): None for name in named or _named(arguments)}
    names.pop("", None)
    return ToolCall(
        time=datetime.now(UTC),
        user_id=context.user.user_id,
        username=context.user.username,
        project_id=context.project.project_id,
        project_name=clipped(printable(context.project.name), 2 * LONGEST_NAME),
        mode=str(context.mode),
        tool=tool,
        targets=list(names)[:MOST_TARGETS],
        verdict=verdict,
        seconds=round(seconds, 3),
    )


def verdict_of(response: Mapping[str, Any]) -> Verdict:
    """Give how a call ended, from its response. An item of a thing that was not tried has `refused: true`."""
    if response["success"]:
        return Verdict.DONE
    if response["successful"]:
        return Verdict.PARTLY
    items = response["data"]
    return Verdict.REFUSED if items and all(item.get("refused") is True for item in items) else Verdict.FAILED


def _named(value: Any, field: str = "") -> Iterator[str]:
    if isinstance(value, str):
        if field in TARGET_FIELDS:
            yield value
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from _named(inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield from _named(inner, field)
