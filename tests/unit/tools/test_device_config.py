"""The tool that configures devices, on scripted devices in a real project."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

import pytest

from tests.ground.waiting import until
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


async def test_a_text_of_many_lines_counts_as_many_lines(devices: DeviceLab) -> None:
    r1 = await devices.device("R1")
    asked = [{"device": "R1", "config_commands": ["interface Gi0/0", "no shutdown\n" * 500]}]
    response = await devices.run(TOOL, devices=asked)
    assert "more than 500 lines" in response["error"], response
    assert r1.lines == []


async def test_a_dry_run_only_judges(devices: DeviceLab) -> None:
    r1 = await devices.device("R1")
    item, result = await configure(devices, ["interface Gi0/0"], dry_run=True)
    assert (item["status"], result["dry_run"]) == ("success", True)
    assert r1.lines == []


async def test_a_placeholder_of_a_secret_is_not_sent(devices: DeviceLab) -> None:
    r1 = await devices.device("R1")
    item, _ = await configure(devices, ["snmp-server community <redacted:0a1b2c3d> RO"])
    assert item["status"] == "failed" and "placeholder" in item["error"]
    assert r1.lines == []


async def test_a_system_with_commits_takes_all_lines_or_none(devices: DeviceLab) -> None:
    junos = await devices.device("R1", "juniper_junos")
    item, result = await configure(devices, ["set interfaces ge-0/0/1 description to-R2", "sett wrong"])
    assert item["status"] == "failed" and "Nothing was committed" in item["error"]
    assert (result["committed"], junos.config) == (False, [])
    item, result = await configure(devices, ["set interfaces ge-0/0/1 description to-R2"], save=True)
    assert (item["status"], result["committed"], result["saved"]) == ("success", True, True)
    assert junos.config == ["set interfaces ge-0/0/1 description to-R2"]
    assert "+set interfaces ge-0/0/1 description to-R2" in result["diff"]


async def test_the_same_device_twice_gets_both_parts_in_order(devices: DeviceLab) -> None:
    r1 = await devices.device("R1")
    asked = [
        {"device": "R1", "config_commands": ["interface Gi0/0", "shutdown"]},
        {"device": "r1", "config_commands": ["interface Gi0/0", "no shutdown"]},
    ]
    response = await devices.run(TOOL, devices=asked)
    assert response["success"], response
    assert r1.config == ["interface Gi0/0", "shutdown", "interface Gi0/0", "no shutdown"]


async def test_a_stopped_call_leaves_the_configuration_mode(devices: DeviceLab) -> None:
    r1 = await devices.device("R1")
    lines = ["interface Gi0/0", *[f"description {number}" for number in range(300)]]
    turn = devices.turn()
    running = asyncio.create_task(devices.run(TOOL, turn, devices=[{"device": "R1", "config_commands": lines}]))

    async def configuring() -> bool:
        return r1.state == "config_if" and len(r1.config) > 3

    await until(configuring, 5)
    began = time.monotonic()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert time.monotonic() - began < 2
    assert r1.state == "privileged"
    assert len(r1.config) < 300


async def test_a_device_that_wants_a_password_for_more_says_so(devices: DeviceLab) -> None:
    r1 = await devices.device("R1", enable_state="enable_password")
    response = await devices.run(TOOL, devices=[{"device": "R1", "config_commands": ["ip cef"]}])
    assert "enable_password" in response["data"][0]["error"]
    assert r1.config == []
