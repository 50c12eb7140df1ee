"""The tool for virtual PCs, on scripted ones in a real project."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gns3server_copilot.schemas.modes import Mode
from tests.unit.tools.device_lab import DeviceLab, results

pytestmark = pytest.mark.asyncio(loop_scope="session")
TOOL = "execute_vpcs_commands"


async def run(devices: DeviceLab, *asked: tuple[str, list[str]]) -> list[dict[str, Any]]:
    """Run commands on PCs; give the items."""
    response = await devices.run(TOOL, devices=[{"device": name, "commands": lines} for name, lines in asked])
    return list(response["data"])


async def test_commands_run_whatever_the_node_is_called(devices: DeviceLab) -> None:
    pc = await devices.device("Web-Server", "vpcs")
    [item] = await run(devices, ("Web-Server", ["ip 10.0.0.1/24 10.0.0.254", "show ip", "save"]))
    assert item["status"] == "success", item
    assert "10.0.0.1/24" in results(item)[1]["output"]
    assert pc.lines == ["ip 10.0.0.1/24 10.0.0.254", "show ip", "save"]


async def test_what_is_dangerous_is_refused_and_the_rest_runs(devices: DeviceLab) -> None:
    pc = await devices.device("PC1", "vpcs")
    dangerous = ["!id", "load /etc/passwd", "save /tmp/x", "quit", "rlogin 10.0.0.1 23", "set lport 1", "sleep 0"]
    [item] = await run(devices, ("PC1", [*dangerous, "show ip"]))
    assert [one["status"] for one in results(item)] == ["failed"] * len(dangerous) + ["success"]
    assert pc.lines == ["show ip"]


async def test_a_wrong_command_is_told_with_the_pcs_words(devices: DeviceLab) -> None:
    await devices.device("PC1", "vpcs")
    [item] = await run(devices, ("PC1", ["arp"]))
    assert item["status"] == "failed"
    assert "Bad command" in item["error"]


async def test_other_devices_are_refused_with_the_tool_to_use(devices: DeviceLab) -> None:
    await devices.device("PC1", "vpcs")
    r1 = await devices.device("R1")
    router, pc = await run(devices, ("R1", ["show version"]), ("PC1", ["show ip"]))
    assert router["status"] == "failed" and "execute_multiple_device_commands" in router["error"]
    assert pc["status"] == "success"
    assert r1.typed == []


@pytest.mark.parametrize("mode", [Mode.TEACHING, Mode.INJECTION])
async def test_it_belongs_to_the_automation_mode_alone(devices: DeviceLab, mode: Mode) -> None:
    response = await devices.run(TOOL, replace(devices.context, mode=mode), devices=[])
    assert "does not belong to this mode" in response["error"]
