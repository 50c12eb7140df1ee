"""What stays of a turn that was stopped in the middle of a tool, by a person or by the end of the process."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from gns3server_copilot.agent.service import AgentService
from gns3server_copilot.settings import Settings
from tests.ground.sse import kinds_of, tool_outputs
from tests.unit.agent.conftest import ALICE, ask, events_of
from tests.unit.agent.scripted_model import call
from tests.unit.in_process import Meddler, agent_server

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_a_node_that_was_being_created_is_finished_and_recorded(
    app_server: Any, app_client: Any, app_project: Any, request_of: Any, model: Any, tmp_path: Path
) -> None:
    door = Meddler(app_server.app, "POST", "/templates/")
    door.hold = asyncio.Event()
    agent = await AgentService.open(app_project, agent_server(door, Settings(), tmp_path), {ALICE.user_id})
    model.script(call("create_gns3_node", {"nodes": [{"template": "VPCS", "name": "Client"}]}))
    turn = await agent.start_turn(request_of())
    reading = asyncio.create_task(events_of(turn))
    async with asyncio.timeout(10):
        await door.begun.wait()
    turn.abort("The test.")
    await asyncio.sleep(0)
    door.hold.set()
    events = await reading
    assert kinds_of(events)[-2:] == ["abort", "done"]
    [output] = tool_outputs(events)
    [node] = await app_client.get(f"/projects/{app_project.project_id}/nodes")
    assert node["name"] == "Client"
    assert output["data"][0]["result"] == f"Client exists (id {node['node_id']})."
    assert output["data"][0]["name"] == "create a node from template VPCS"
    model.script([])
    await ask(agent, request_of(session_id=turn.request.session_id))
    assert "Client exists" in json.dumps(model.requests[-1][0])
    await agent.close("The test is over.")


@pytest.mark.parametrize("done", [0, 1, 2], ids=["none had a result", "one had a result", "two had a result"])
async def test_a_conversation_goes_on_after_the_process_was_killed_in_a_tool(
    agent: Any, app_server: Any, app_project: Any, request_of: Any, model: Any, probes: Any,
    tmp_path: Path, done: int,
) -> None:  # fmt: skip
    names = ["stop_it", "change", "look"]
    hows = ["well"] * done + ["go on"] + ["well"] * (2 - done)
    steps = [
        step
        for index, (name, how) in enumerate(zip(names, hows, strict=True))
        for step in call(name, {"how": how}, id=f"c{index}", index=index)
    ]
    model.script(steps)
    turn = await agent.start_turn(request_of())
    reading = asyncio.create_task(events_of(turn))
    async with asyncio.timeout(10):
        await probes.begun.wait()
    # what is on the disk at this moment is what a killed process leaves
    copy = dataclasses.replace(app_project, path=str(tmp_path))
    shutil.copytree(Path(app_project.path) / "gns3-copilot", tmp_path / "gns3-copilot")
    probes.changes.set()
    await reading
    after = await AgentService.open(copy, agent_server(app_server.app, Settings(), tmp_path), {ALICE.user_id})
    try:
        await ask(after, request_of("hi", turn.request.session_id))
        history = await after.history(turn.request.session_id)
        assert [one["role"] for one in history] == [
            "user",
            "assistant",
            *["tool"] * 3,
            "assistant",
            "user",
            "assistant",
        ]
        results = [json.loads(one["content"]) for one in history if one["role"] == "tool"]
        assert ["partly carried out" in result.get("error", "") for result in results] == [True] * 3
        assert [one["metadata"].get("aborted") for one in history if one["role"] == "tool"] == [True] * 3
        assert history[-1]["content"] == "Done."
    finally:
        await after.close("The test is over.")
