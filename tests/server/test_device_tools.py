"""The tools for devices in whole conversations: a model calls them, a scripted device in a project answers."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from tests.devices import play
from tests.ground.chat import ask, configure_model, open_turn
from tests.ground.event_rules import check_event_order
from tests.ground.lab import Lab
from tests.ground.model_script import call, text, tool_calls
from tests.ground.model_server import ModelServer
from tests.ground.sse import tool_outputs
from tests.ground.waiting import until

READ, CONFIGURE = "execute_multiple_device_commands", "execute_multiple_device_config_commands"


@pytest.mark.lab("cloud")
async def test_a_conversation_reads_and_configures_a_router(
    lab: Lab, make_user: Any, model_server: ModelServer
) -> None:
    user = await make_user(role="User")
    await configure_model(user, model_server, copilot_mode="lab_automation_assistant")
    async with play("cisco_ios", hostname="R1") as device:
        await lab.cloud("R1", device.port, device_type="cisco_ios")
        lines = ["interface Gi0/1", "shutdown"]
        model_server.script(
            tool_calls(call(READ, {"devices": [{"device": "R1", "commands": ["show ip interface brief"]}]})),
            tool_calls(call(CONFIGURE, {"devices": [{"device": "R1", "config_commands": lines}]})),
            text("Done."),
        )
        events = await ask(user, lab.project, "Shut down Gi0/1.")
        check_event_order(events)
        read, configured = tool_outputs(events)
        assert read["success"] and "GigabitEthernet0/0" in read["data"][0]["result"]
        assert configured["success"], configured
        assert "+shutdown" in json.loads(configured["data"][0]["result"])["diff"]
        assert device.config == ["interface Gi0/1", "shutdown"]
        await until(lambda: left(device), 3)


@pytest.mark.lab("cloud")
async def test_a_stopped_turn_leaves_the_console_clean(lab: Lab, make_user: Any, model_server: ModelServer) -> None:
    user = await make_user(role="User")
    await configure_model(user, model_server)
    async with play("cisco_ios", hostname="R1") as device:
        await lab.cloud("R1", device.port, device_type="cisco_ios")
        asked = {"devices": [{"device": "R1", "commands": ["traceroute 10.0.0.9"]}]}
        model_server.script(tool_calls(call(READ, asked)))
        async with open_turn(user, lab.project, "Trace the way.") as stream:
            session_id = (await stream.next("tool_start"))["session_id"]
            await until(lambda: got(device, "traceroute"), 10)
            began = asyncio.get_running_loop().time()
            await user.post(f"{lab.project.chat}/sessions/{session_id}/abort")
            await stream.next("abort")
            await until(lambda: left(device), 3)
            assert asyncio.get_running_loop().time() - began < 2.5
        assert device.waiting and device.state == "privileged"


async def left(device: Any) -> bool:
    return bool(device.clients == 0)


async def got(device: Any, word: str) -> bool:
    return any(word in line for line in device.lines)
