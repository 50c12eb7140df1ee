"""An injection has succeeded when a tool says that something was put into the lab."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest
from langchain_core.messages import AIMessage, ToolMessage

from gns3server_copilot.agent.injection import failure
from gns3server_copilot.tools.response import build, failed, succeeded


def turn_with(*items: dict[str, Any], tool: str = "manage_gns3_packet_filter") -> Any:
    response = build(tool, list(items), seconds=0.1)
    result = ToolMessage(json.dumps(response), tool_call_id="a", name=tool)
    return SimpleNamespace(produced=[AIMessage(""), result])


@pytest.mark.parametrize(
    "items",
    [
        [],
        [succeeded("l", "R1–R2", {"available": {}})],
        [succeeded("l", "R1–R2", {"filters": {}}, applied=False)],
        [succeeded("n", "R1", {"dry_run": True})],
        [failed("n", "R1", "The first line was rejected.", applied=False)],
    ],
    ids=["nothing", "read", "cleared", "tried", "rejected"],
)
def test_what_puts_nothing_in_is_a_failure(items: list[dict[str, Any]]) -> None:
    assert failure(turn_with(*items)) is not None


def test_one_change_among_failures_is_enough() -> None:
    items = failed("1", "R1", "It is not started."), succeeded("2", "R2", {"lines": []}, applied=True)
    assert failure(turn_with(*items)) is None


def test_a_device_that_took_a_part_of_the_lines_has_a_fault() -> None:
    assert failure(turn_with(failed("1", "R1", "The second line was rejected.", applied=True))) is None
