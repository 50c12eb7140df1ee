"""The tool that configures devices, on scripted devices in a real project."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.unit.tools.device_lab import DeviceLab

pytestmark = pytest.mark.asyncio(loop_scope="session")
TOOL = "execute_multiple_device_config_commands"


async def configure(devices: DeviceLab, lines: list[str], **arguments: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Configure R1; give its item and what its result says."""
    response = await devices.run(TOOL, devices=[{"device": "R1", "config_commands": lines}], **arguments)
    [item] = response["data"]
    return item, json.loads(item["result"])


async def test_lines_are_sent_in_configuration_mode_which_is_left_and_the_change_is_told(devices: DeviceLab) -> None:
    r1 = await devices.device("R1")
    item, result = await configure(devices, ["interface Gi0/0", "description to R2\nno shutdown"], save=True)
    assert item["status"] == "success", item
    assert [line["status"] for line in result["lines"]] == ["accepted"] * 3
    assert r1.config == ["interface Gi0/0", "description to R2", "no shutdown"]
    assert "+description to R2" in result["diff"].splitlines()
    assert result["saved"] is True
    assert r1.state == "privileged"
    assert "write memory" in r1.lines


async def test_after_a_rejected_line_the_following_ones_are_not_sent(devices: DeviceLab) -> None:
    r1 = await devices.device("R1")
    lines = ["interface Gi0/0", "descripton wrong", "shutdown"]
    item, result = await configure(devices, lines, save=True)
    assert item["status"] == "failed"
    assert 'Line 2 of 3 ("descripton wrong") was rejected: % Invalid input detected' in item["error"]
    assert [line["status"] for line in result["lines"]] == ["accepted", "rejected", "not sent"]
    assert result["saved"] is False
    assert "shutdown" not in r1.lines
    assert r1.state == "privileged"


async def test_following_lines_are_sent_when_that_is_wanted(devices: DeviceLab) -> None:
    r1 = await devices.device("R1")
    item, result = await configure(devices, ["interface Gi0/0", "wrong", "shutdown"], on_error="continue")
    assert item["status"] == "failed"
    assert [line["status"] for line in result["lines"]] == ["accepted", "rejected", "accepted"]
    assert r1.config == ["interface Gi0/0", "shutdown"]


async def test_nothing_is_sent_when_one_line_is_refused(devices: DeviceLab) -> None:
    r1 = await devices.device("R1")
    item, result = await configure(devices, ["interface Gi0/0\ndo reload"])
    assert item["status"] == "failed"
    assert [line["status"] for line in result["lines"]] == ["not sent", "refused"]
    assert r1.lines == []


async def test_a_dry_run_only_judges(devices: DeviceLab) -> None:
    r1 = await devices.device("R1")
    item, result = await configure(devices, ["interface Gi0/0"], dry_run=True)
    assert (item["status"], result["dry_run"]) == ("success", True)
    assert r1.lines == []
