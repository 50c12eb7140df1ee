"""A lab on two machines: a second real gns3-server as compute, with an address of its own, which then goes away."""

from __future__ import annotations

import json
from contextlib import aclosing
from typing import Any

import pytest

from tests.conftest import StartServer
from tests.ground.chat import ask, configure_model
from tests.ground.lab_tools import missing
from tests.ground.model_script import call, text, tool_calls
from tests.ground.model_server import ModelServer
from tests.ground.projects import Projects
from tests.ground.sse import tool_outputs
from tests.ground.users import log_in_admin, ok

CONTROLLER, REMOTE = "127.0.0.3", "127.0.0.2"
PASSWORD = "between the two"


@pytest.mark.lab("vpcs")
async def test_nodes_of_a_remote_compute_are_built_linked_started_and_said_to_be_out_of_reach(
    start_gns3_server: StartServer, model_server: ModelServer
) -> None:
    if reasons := missing(("vpcs",)):
        pytest.skip("; ".join(reasons))
    remote = start_gns3_server(copilot=False, conf={"Server": {"compute_password": PASSWORD}}, host=REMOTE)
    server = start_gns3_server(host=CONTROLLER)
    async with aclosing(await log_in_admin(server)) as admin:
        compute = {"protocol": "http", "host": REMOTE, "port": remote.ports.http, "user": "gns3", "password": PASSWORD}
        remote_id = (await ok(admin.post("/v3/computes?connect=true", json={**compute, "name": "second"})))[
            "compute_id"
        ]
        project = await Projects(admin).make()
        await configure_model(admin, model_server)

        async def tools(*calls: Any) -> list[dict[str, Any]]:
            model_server.script(tool_calls(*calls), text("Done."))
            events = await ask(admin, project, "Go", seconds=120, copilot_mode="lab_automation_assistant")
            return tool_outputs(events)

        nodes = [{"template": "VPCS", "name": "Here"}, {"template": "VPCS", "name": "There", "compute_id": remote_id}]
        created, linked, started, halted = await tools(
            call("create_gns3_node", {"nodes": [*nodes, {"template": "VPCS", "name": "X", "compute_id": "nowhere"}]}),
            call("create_gns3_link", {"links": [{"node_a": "Here", "node_b": "There"}]}),
            call("start_gns3_node", {"nodes": ["all"]}),
            call("stop_gns3_node", {"nodes": ["Here"]}),
        )
        assert [item["status"] for item in created["data"]] == ["success", "success", "failed"]
        assert created["data"][2]["error"] == "Compute ID nowhere doesn't exist"
        assert linked["success"], linked
        there = json.loads(started["data"][1]["result"])
        assert (started["data"][1]["name"], there["ready"]) == ("There", True)
        assert halted["success"], halted
        by_name = {node["name"]: node for node in await ok(admin.get(f"{project.url}/nodes"))}
        assert by_name["Here"]["compute_id"] == "local"
        assert (by_name["There"]["compute_id"], by_name["There"]["console_host"]) == (remote_id, REMOTE)

        remote.kill()
        stopped, late, started = await tools(
            call("stop_gns3_node", {"nodes": ["There"]}),
            call("create_gns3_node", {"nodes": [{"template": "VPCS", "name": "Late", "compute_id": remote_id}]}),
            call("start_gns3_node", {"nodes": ["Here"], "wait": "none"}),
        )
        assert f"There is started, not stopped: its emulator on the compute {remote_id}" in stopped["data"][0]["error"]
        assert late["data"][0]["error"].startswith("Cannot connect to compute 'second'")
        assert started["success"], started
        (again,) = await tools(call("start_gns3_node", {"nodes": ["There"]}))
        result = json.loads(again["data"][0]["result"])
        assert result["ready"] is False
        assert "Its console does not answer" in result["note"]
