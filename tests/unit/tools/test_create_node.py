"""Creating nodes, on a real application."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from gns3server_copilot.gns3 import node_creation
from gns3server_copilot.gns3.client import GNS3Client
from gns3server_copilot.schemas.identity import ProjectRef
from gns3server_copilot.tools.base import ToolContext
from gns3server_copilot.tools.dispatch import execute
from tests.ground.users import Accounts
from tests.ground.waiting import until
from tests.unit.in_process import InProcessServer, Meddler
from tests.unit.tools.conftest import context_of

pytestmark = pytest.mark.asyncio(loop_scope="session")
TOOL = "create_gns3_node"
VPCS = "52136454-1f50-590a-94e4-816bd02d1062"


@pytest.fixture
def door(app_server: InProcessServer) -> Meddler:
    """A way to the application where a test can meddle with the creation of nodes."""
    return Meddler(app_server.app, "POST", "/templates/")


async def nodes_of(app_client: GNS3Client, project: ProjectRef) -> list[dict[str, Any]]:
    """The project's nodes as gns3-server has them."""
    nodes: list[dict[str, Any]] = await app_client.get(f"/projects/{project.project_id}/nodes")
    return nodes


async def test_nodes_are_created_named_and_answered(context: ToolContext) -> None:
    asked = [{"template": "VPCS", "name": "Client", "x": -100, "y": 50}, {"template": VPCS, "name": "Server"}]
    response = await execute(TOOL, {"nodes": asked}, context)
    assert response["success"], response
    made = {node["node_id"]: node for node in await nodes_of(context.gns3, context.project)}
    assert [(item["name"], made[item["id"]]["name"]) for item in response["data"]] == [
        ("Client", "Client"),
        ("Server", "Server"),
    ]
    assert json.loads(response["data"][0]["result"]) == {
        "type": "vpcs",
        "status": "stopped",
        "console": {"type": "telnet", "port": made[response["data"][0]["id"]]["console"]},
        "ports": ["Ethernet0"],
        "x": -100,
        "y": 50,
    }


async def test_a_wrong_template_among_good_ones_fails_alone(context: ToolContext) -> None:
    asked = [{"template": "vpcs", "name": "A"}, {"template": "VPSC", "name": "B"}, {"template": "VPCS", "name": "C"}]
    response = await execute(TOOL, {"nodes": asked}, context)
    assert [(item["name"], item["status"]) for item in response["data"]] == [
        ("A", "success"),
        ("B", "failed"),
        ("C", "success"),
    ]
    assert "no template called VPSC. Nearest: VPCS" in response["data"][1]["error"]
    assert {node["name"] for node in await nodes_of(context.gns3, context.project)} == {"A", "C"}


async def test_default_names_count_up_in_the_order_asked(context: ToolContext) -> None:
    asked: list[dict[str, Any]] = [{"template": "VPCS"}] * 12
    asked.insert(5, {"template": "VPCS", "name": "Client"})
    response = await execute(TOOL, {"nodes": asked}, context)
    names = [item["name"] for item in response["data"]]
    assert names == [*(f"PC{number}" for number in range(1, 6)), "Client", *(f"PC{number}" for number in range(6, 13))]


@pytest.mark.parametrize(
    ("x", "y", "place"),
    [
        (10, 20, (10, 20)),
        (10.4, -20.6, (10, -21)),
        ("30", "40.2", (30, 40)),
        (1e9, -1e9, (50_000, -50_000)),
    ],
)
async def test_coordinates_of_any_kind_are_made_whole_and_kept_on_the_canvas(
    context: ToolContext, x: Any, y: Any, place: tuple[int, int]
) -> None:
    response = await execute(TOOL, {"nodes": [{"template": "VPCS", "x": x, "y": y}]}, context)
    result = json.loads(response["data"][0]["result"])
    assert (result["x"], result["y"]) == place
    assert ("Coordinates end at 50000 px" in result.get("note", "")) == (place[0] == 50_000)
    (node,) = await nodes_of(context.gns3, context.project)
    assert (node["x"], node["y"]) == place


async def test_nodes_without_coordinates_overlap_nothing(context: ToolContext) -> None:
    await execute(TOOL, {"nodes": [{"template": "VPCS", "x": 10, "y": 10}, {"template": "VPCS"}]}, context)
    await execute(TOOL, {"nodes": [{"template": "VPCS", "x": 600, "y": 0}, *[{"template": "VPCS"}] * 6]}, context)
    places = [complex(node["x"], node["y"]) for node in await nodes_of(context.gns3, context.project)]
    assert len(places) == 9
    assert min(abs(one - other) for i, one in enumerate(places) for other in places[:i]) >= 250


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"nodes": []}, "nodes: List should have at least 1 item"),
        ({"nodes": [{"template": "VPCS"}] * 201}, "nodes: List should have at most 200 items"),
        ({"nodes": [{"template": "VPCS", "x": 1}]}, "nodes[0]: give both x and y, or neither"),
        ({"nodes": [{"template": "VPCS", "x": "left", "y": None}]}, "nodes[0].x: Input should be a valid number"),
        ({"nodes": [{"template": "VPCS", "x": float("nan"), "y": 1}]}, "nodes[0].x: Input should be a finite number"),
        ({"nodes": [{"name": "R1"}, {"template": ""}]}, "nodes[0].template: is missing; nodes[1].template: String"),
    ],
)
async def test_wrong_arguments_change_nothing(context: ToolContext, arguments: Any, said: str) -> None:
    arguments = {"nodes": [*arguments["nodes"]]}
    response = await execute(TOOL, arguments, context)
    assert said in response["error"]
    assert await nodes_of(context.gns3, context.project) == []


async def test_the_older_shape_with_template_ids_is_taken(context: ToolContext) -> None:
    older = {"project_id": context.project.project_id, "nodes": [{"template_id": VPCS, "x": 0, "y": 0, "name": "PC7"}]}
    response = await execute(TOOL, {"tool_input": json.dumps(older)}, context)
    assert [item["name"] for item in response["data"]] == ["PC7"]


async def test_taken_names_are_refused_before_anything_is_made(context: ToolContext) -> None:
    asked = {"nodes": [{"template": "VPCS", "name": "A"}, {"template": "VPCS", "name": "B"}]}
    assert (await execute(TOOL, asked, context))["success"]
    again = await execute(TOOL, asked, context)
    assert [item["status"] for item in again["data"]] == ["failed", "failed"]
    assert "A exists already (id " in again["data"][0]["error"]
    twice = [{"template": "VPCS", "name": name} for name in ("C 1", "c1", "b", "D")]
    response = await execute(TOOL, {"nodes": twice}, context)
    assert [item["status"] for item in response["data"]] == ["success", "failed", "failed", "success"]
    assert "C1 is asked for twice" in response["data"][1]["error"]
    assert "GNS3 made C1 of the name C 1." in response["data"][0]["result"]
    names = sorted(node["name"] for node in await nodes_of(context.gns3, context.project))
    assert names == ["A", "B", "C1", "D"]


async def test_an_auditor_is_refused_item_by_item_and_nothing_is_made(
    app_server: InProcessServer, app_accounts: Accounts, app_client: GNS3Client, app_project: ProjectRef
) -> None:
    auditor = await app_accounts.make_user(role="Auditor", on=app_project)
    context = context_of(GNS3Client(app_server.app, auditor.token), app_project)
    response = await execute(TOOL, {"nodes": [{"template": "VPCS"}, {"template": "VPCS", "name": "B"}]}, context)
    assert [item["status"] for item in response["data"]] == ["failed", "failed"]
    assert "privilege Node.Allocate is required" in response["data"][0]["error"]
    assert await nodes_of(app_client, app_project) == []


async def test_a_user_without_any_privilege_is_refused_at_once(
    app_server: InProcessServer, app_accounts: Accounts, app_client: GNS3Client, app_project: ProjectRef
) -> None:
    nobody = await app_accounts.make_user()
    context = context_of(GNS3Client(app_server.app, nobody.token), app_project)
    response = await execute(TOOL, {"nodes": [{"template": "VPCS"}]}, context)
    assert (response["total"], response["data"]) == (0, [])
    assert "Permission denied" in response["error"]
    assert await nodes_of(app_client, app_project) == []


async def test_a_node_that_may_not_be_named_is_reported_with_its_id(
    app_server: InProcessServer, app_accounts: Accounts, app_client: GNS3Client, app_project: ProjectRef
) -> None:
    privileges = ["Node.Audit", "Link.Audit", "Drawing.Audit", "Node.Allocate"]
    user = await app_accounts.make_user(privileges=privileges, on=app_project)
    context = context_of(GNS3Client(app_server.app, user.token), app_project)
    response = await execute(TOOL, {"nodes": [{"template": "VPCS", "name": "Client"}]}, context)
    (node,) = await nodes_of(app_client, app_project)
    (item,) = response["data"]
    assert (item["id"], item["name"], item["status"]) == (node["node_id"], "PC1", "failed")
    assert item["error"].startswith("It exists as PC1, do not create it again. It was not named Client: ")
    assert "Node.Modify" in item["error"]


async def test_a_name_that_the_server_changed_is_noted(context: ToolContext, app_server: InProcessServer) -> None:
    # A failed creation keeps the name, so that the server numbers the next node of that name.
    from gns3server.controller import Controller

    project = await Controller.instance().get_loaded_project(context.project.project_id)
    project.update_allocated_node_name("R1")
    response = await execute(TOOL, {"nodes": [{"template": "VPCS", "name": "R1"}]}, context)
    (item,) = response["data"]
    assert (item["name"], item["status"]) == ("R2", "success")
    assert json.loads(item["result"])["note"] == "GNS3 made R2 of the name R1."


async def test_an_unknown_compute_is_said(context: ToolContext) -> None:
    asked = [{"template": "VPCS", "compute_id": "elsewhere"}, {"template": "VPCS", "compute_id": "local"}]
    response = await execute(TOOL, {"nodes": asked}, context)
    assert response["data"][0]["error"] == "Compute ID elsewhere doesn't exist"
    assert response["data"][1]["status"] == "success"


async def test_an_answer_that_is_lost_makes_no_second_node(
    meddled: ToolContext, door: Meddler, app_client: GNS3Client
) -> None:
    door.lose_answers = 3
    asked = [{"template": "VPCS", "name": name} for name in "ABCD"]
    response = await execute(TOOL, {"nodes": asked}, meddled)
    assert response["success"], response
    nodes = await nodes_of(app_client, meddled.project)
    assert sorted(node["name"] for node in nodes) == ["A", "B", "C", "D"]
    assert [item["name"] for item in response["data"]] == ["A", "B", "C", "D"]
    assert {item["id"] for item in response["data"]} == {node["node_id"] for node in nodes}


async def test_a_creation_without_an_answer_in_time_is_looked_for(
    meddled: ToolContext, door: Meddler, app_client: GNS3Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(node_creation, "CREATE_SECONDS", 2.0)
    door.hold = asyncio.Event()
    response = await execute(TOOL, {"nodes": [{"template": "VPCS", "name": "A"}]}, meddled)
    assert response["data"][0]["name"] == "A"
    assert response["success"]
    door.hold.set()
    await door.idle.wait()
    assert len(await nodes_of(app_client, meddled.project)) == 1


async def test_a_server_that_has_just_started_is_asked_again(context: ToolContext, app_server: InProcessServer) -> None:
    # Until the controller has connected to its own compute, it has none to choose from and fails.
    from gns3server.controller import Controller

    compute = Controller.instance().get_compute("local")
    compute._connected = False
    asyncio.get_running_loop().call_later(0.5, setattr, compute, "_connected", True)
    response = await execute(TOOL, {"nodes": [{"template": "VPCS"}, {"template": "VPCS"}]}, context)
    assert response["success"], response
    assert len(await nodes_of(context.gns3, context.project)) == 2


async def test_a_server_that_keeps_failing_is_given_up(
    meddled: ToolContext, door: Meddler, app_client: GNS3Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(node_creation, "FRESH_SERVER_SECONDS", 0.5)
    door.refuse = 1000
    response = await execute(TOOL, {"nodes": [{"template": "VPCS"}]}, meddled)
    assert "failed with status 500" in response["data"][0]["error"]
    assert await nodes_of(app_client, meddled.project) == []


async def test_what_has_begun_is_made_and_named_when_the_caller_is_cancelled_and_no_more_begins(
    meddled: ToolContext, door: Meddler, app_client: GNS3Client
) -> None:
    door.hold = asyncio.Event()
    asked = {"nodes": [{"template": "VPCS", "name": f"N{number}"} for number in range(20)]}
    caller = asyncio.create_task(execute(TOOL, asked, meddled))
    while door.most_running < node_creation.WIDTH:
        await door.begun.wait()
        await asyncio.sleep(0)
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    door.hold.set()
    begun = {f"N{number}" for number in range(node_creation.WIDTH)}

    async def all_named() -> bool:
        return {node["name"] for node in await nodes_of(app_client, meddled.project)} == begun

    await until(all_named)
    assert len(door.seen) == node_creation.WIDTH


async def test_a_large_batch_with_one_wrong_is_made_in_parallel(
    meddled: ToolContext, door: Meddler, app_client: GNS3Client
) -> None:
    asked = [{"template": "VPCS", "name": f"N{number}"} for number in range(100)]
    asked[56]["template"] = "VPX"
    response = await execute(TOOL, {"nodes": asked}, meddled)
    assert (response["successful"], response["failed"]) == (99, 1)
    assert response["data"][56]["status"] == "failed"
    assert [item["name"] for item in response["data"]] == [node["name"] for node in asked]
    assert len(await nodes_of(app_client, meddled.project)) == 99
    assert door.most_running == node_creation.WIDTH
    assert response["metadata"]["execution_time"] < 45


async def test_a_closed_project_is_said(context: ToolContext) -> None:
    await context.gns3.post(f"/projects/{context.project.project_id}/close")
    response = await execute(TOOL, {"nodes": [{"template": "VPCS"}]}, context)
    assert "not opened" in json.dumps(response)
    await context.gns3.post(f"/projects/{context.project.project_id}/open")
    assert await nodes_of(context.gns3, context.project) == []


async def test_a_locked_project_takes_new_nodes_and_they_are_said_not_to_be_locked(context: ToolContext) -> None:
    await execute(TOOL, {"nodes": [{"template": "VPCS"}]}, context)
    await context.gns3.post(f"/projects/{context.project.project_id}/lock")
    response = await execute(TOOL, {"nodes": [{"template": "VPCS"}]}, context)
    assert json.loads(response["data"][0]["result"])["note"].startswith("The project was locked; this node is not")
