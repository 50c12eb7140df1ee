"""An injection has succeeded when a tool says that something was put into the lab."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import AsyncMock

import pytest
from langchain_core.messages import HumanMessage

from gns3server_copilot.agent import calling
from gns3server_copilot.agent.injection import failure
from gns3server_copilot.agent.turn import Turn
from gns3server_copilot.tools.response import build, failed, succeeded


async def turn_with(monkeypatch: pytest.MonkeyPatch, *items: dict[str, Any]) -> Turn:
    """Give a turn in which a tool has answered with these items."""
    response = build("manage_gns3_packet_filter", list(items), seconds=0.1)
    monkeypatch.setattr(calling, "execute", AsyncMock(return_value=response))
    request: Any = SimpleNamespace(session_id="s", config=SimpleNamespace(context_limit=8))
    turn, context = Turn(request, HumanMessage("break it"), 1.0), cast("Any", SimpleNamespace(redact=False))
    await calling.CallRunner(turn, context).run({"id": "a", "name": "manage_gns3_packet_filter", "args": {}}, None)
    return turn


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
async def test_what_puts_nothing_in_is_a_failure(monkeypatch, items: list[dict[str, Any]]) -> None:
    assert failure(await turn_with(monkeypatch, *items)) is not None


async def test_one_change_among_failures_is_enough(monkeypatch) -> None:
    items = failed("1", "R1", "It is not started."), succeeded("2", "R2", {"lines": []}, applied=True)
    assert failure(await turn_with(monkeypatch, *items)) is None


async def test_a_device_that_took_a_part_of_the_lines_has_a_fault(monkeypatch) -> None:
    item = failed("1", "R1", "The second line was rejected.", applied=True)
    assert failure(await turn_with(monkeypatch, item)) is None


async def test_so_many_faults_that_their_text_is_cut_are_faults(monkeypatch) -> None:
    lines = {"lines": [{"line": f"no router ospf {number}", "status": "accepted"} for number in range(50)]}
    items = [succeeded(str(number), f"R{number}", lines, applied=True) for number in range(200)]
    turn = await turn_with(monkeypatch, *items)
    assert not any("applied" in item for item in json.loads(turn.produced[0].text)["data"])
    assert failure(turn) is None
