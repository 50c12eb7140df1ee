"""Captures that real nodes fill, asked about through the chat."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.ground.chat import ask, configure_model
from tests.ground.lab import Lab, Link
from tests.ground.model_script import call, text, tool_calls
from tests.ground.sse import tool_outputs
from tests.ground.users import UserClient, ok

TOOL = "packet_analysis"


async def outputs(user: UserClient, lab: Lab, model_server: Any, *calls: dict[str, Any]) -> list[dict[str, Any]]:
    """Have the model call the tool with these arguments, one call after the other, and give what the tool said."""
    model_server.script(*(tool_calls(call(TOOL, arguments)) for arguments in calls), text("Done."))
    return tool_outputs(await ask(user, lab.project, "What is on the wire?"))


async def capture_state(lab: Lab, link: Link) -> dict[str, Any]:
    """The link as gns3-server has it."""
    state = await ok(lab.admin.get(f"{lab.project.url}/links/{link.link_id}"))
    assert isinstance(state, dict)
    return state


@pytest.mark.lab("vpcs")
async def test_a_capture_is_started_read_while_it_grows_and_stopped_with_the_turn(lab, admin, model_server) -> None:
    await configure_model(admin, model_server)
    pc1, pc2 = await lab.vpcs("PC1", "10.0.0.1/24"), await lab.vpcs("PC2", "10.0.0.2/24")
    link = await lab.link(pc1, pc2)
    await lab.start()
    pinged: list[str] = []

    async def ping(_request: Any) -> Any:
        pinged.append(await lab.ping(pc1, "10.0.0.2"))
        return tool_calls(call(TOOL, {"link": "pc2 - PC1"}))

    model_server.script(
        tool_calls(call(TOOL, {"link": "PC1-PC2", "action": "start_capture"})),
        tool_calls(call(TOOL, {"link": "PC1-PC2"})),
        text("Done."),
    )
    found = tool_outputs(await ask(admin, lab.project, "What is on the wire?"))
    assert [output["success"] for output in found] == [True, True], found
    print(json.dumps(found, indent=1))
    assert not (await capture_state(lab, link))["capturing"]
