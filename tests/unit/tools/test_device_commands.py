"""The tool that reads devices, on scripted devices in a real project."""

from __future__ import annotations

import pytest

from tests.unit.tools.device_lab import DeviceLab, results

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_commands_run_in_order_and_give_what_the_device_printed(devices: DeviceLab) -> None:
    r1 = await devices.device("R1")
    [item] = await devices.read(R1=["show clock", "show ip interface brief"])
    assert item["status"] == "success", item
    clock, interfaces = results(item)
    assert (clock["command"], clock["output"]) == ("show clock", "*12:34:56.789 UTC Mon Mar 1 2021")
    assert interfaces["output"].startswith("Interface ")
    assert r1.lines[-2:] == ["show clock", "show ip interface brief"]
