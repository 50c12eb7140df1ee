"""Renaming nodes, on a real application."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from gns3server_copilot.errors import GNS3Error
from gns3server_copilot.gns3.client import GNS3Client
from gns3server_copilot.schemas.identity import ProjectRef, User
from gns3server_copilot.schemas.modes import Mode
from gns3server_copilot.settings import Settings
from gns3server_copilot.tools.base import ToolContext
from gns3server_copilot.tools.dispatch import execute
from tests.ground.users import Accounts, UserClient
from tests.ground.waiting import until
from tests.unit.in_process import InProcessServer, Meddler

pytestmark = pytest.mark.asyncio(loop_scope="session")
TOOL = "update_gns3_node_name"
VPCS = "52136454-1f50-590a-94e4-816bd02d1062"


def context_of(client: GNS3Client, project: ProjectRef) -> ToolContext:
    """A context in the mode that builds labs."""
    return ToolContext(project, User("u", "ann", True), Mode.TEACHING, client, Settings())


@pytest.fixture
def context(app_client: GNS3Client, app_project: ProjectRef) -> ToolContext:
    """The superadmin in a fresh project."""
    return context_of(app_client, app_project)


async def pcs(context: ToolContext, count: int) -> list[dict[str, Any]]:
    """Make PC1, PC2, ..."""
    path = f"/projects/{context.project.project_id}/templates/{VPCS}"
    return [await context.gns3.post(path, {"x": 0, "y": 0}) for _ in range(count)]


async def names(context: ToolContext) -> list[str]:
    """The nodes' names in the order of their creation."""
    nodes = await context.gns3.get(f"/projects/{context.project.project_id}/nodes")
    return [node["name"] for node in nodes]


def renames(*pairs: tuple[str, str]) -> dict[str, Any]:
    """The tool's arguments."""
    return {"nodes": [{"node": node, "new_name": name} for node, name in pairs]}


async def test_a_node_gets_its_name_and_is_answered_with_it(context: ToolContext) -> None:
    (pc,) = await pcs(context, 1)
    response = await execute(TOOL, renames(("pc1", "Client")), context)
    (item,) = response["data"]
    assert (item["id"], item["name"], item["status"]) == (pc["node_id"], "Client", "success")
    assert json.loads(item["result"]) == {"old_name": "PC1", "new_name": "Client"}
    assert await names(context) == ["Client"]


async def test_two_swap_their_names_three_turn_round_and_a_chain_moves_up(context: ToolContext) -> None:
    await pcs(context, 8)
    asked = renames(
        ("PC1", "PC2"),
        ("PC2", "PC1"),
        ("PC3", "PC4"),
        ("PC4", "PC5"),
        ("PC5", "PC3"),
        ("PC6", "PC7"),
        ("PC7", "PC8"),
        ("PC8", "End"),
    )
    response = await execute(TOOL, asked, context)
    assert response["success"], response
    wanted = ["PC2", "PC1", "PC4", "PC5", "PC3", "PC7", "PC8", "End"]
    assert [item["name"] for item in response["data"]] == wanted
    assert await names(context) == wanted


async def test_an_altered_name_is_success_with_a_note(context: ToolContext) -> None:
    from gns3server.controller import Controller

    await pcs(context, 2)
    project = await Controller.instance().get_loaded_project(context.project.project_id)
    project.update_allocated_node_name("R1")  # as a failed creation leaves it
    response = await execute(TOOL, renames(("PC1", "Web Server"), ("PC2", "R1")), context)
    assert response["success"], response
    assert [json.loads(item["result"])["note"] for item in response["data"]] == [
        "GNS3 made WebServer of the name Web Server.",
        "GNS3 made R2 of the name R1.",
    ]


async def test_wrong_ones_fail_alone(context: ToolContext) -> None:
    await pcs(context, 3)
    asked = renames(("PC9", "A"), ("PC1", "pc3"), ("PC2", "B{0}"), ("PC3", "C"), ("PC3", "D"))
    response = await execute(TOOL, asked, context)
    assert [item["status"] for item in response["data"]] == ["failed", "success", "failed", "success", "failed"]
    assert "no node called PC9" in response["data"][0]["error"]
    assert "cannot hold braces" in response["data"][2]["error"]
    assert await names(context) == ["pc3", "PC2", "C"]


async def test_the_same_call_again_says_what_is_wrong_now(context: ToolContext) -> None:
    await pcs(context, 1)
    await execute(TOOL, renames(("PC1", "Client")), context)
    again = await execute(TOOL, renames(("PC1", "Client")), context)
    assert "There is no node called PC1" in again["data"][0]["error"]
    same = await execute(TOOL, renames(("Client", "Client")), context)
    assert json.loads(same["data"][0]["result"])["note"] == "It was called so already."


async def test_an_auditor_is_refused_item_by_item_and_nothing_is_renamed(
    app_server: InProcessServer, app_accounts: Accounts, context: ToolContext
) -> None:
    await pcs(context, 2)
    user = await app_accounts.make_user(role="Auditor", on=context.project)
    auditor = context_of(GNS3Client(app_server.app, user.token), context.project)
    response = await execute(TOOL, renames(("PC1", "PC2"), ("PC2", "PC1")), auditor)
    assert [item["status"] for item in response["data"]] == ["failed", "failed"]
    assert "privilege Node.Modify is required" in json.dumps(response["data"])
    assert await names(context) == ["PC1", "PC2"]


async def test_a_swap_that_fails_half_way_leaves_nobody_with_a_stopgap_name(
    context: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = await pcs(context, 2)
    put = GNS3Client.put
    stubborn = made[1]["node_id"]

    async def refuse(self: GNS3Client, path: str, json: Any = None, **options: Any) -> Any:
        if path.endswith(stubborn) and json == {"name": "PC1"}:
            raise GNS3Error("The emulator says no.", 409)
        return await put(self, path, json, **options)

    monkeypatch.setattr(GNS3Client, "put", refuse)
    response = await execute(TOOL, renames(("PC1", "PC2"), ("PC2", "PC1")), context)
    assert [item["status"] for item in response["data"]] == ["failed", "failed"]
    assert "The emulator says no." in response["data"][1]["error"]
    assert await names(context) == ["PC1", "PC2"]


async def test_an_answer_that_is_lost_is_made_up_for_by_looking(
    app_server: InProcessServer, app_admin: UserClient, context: ToolContext
) -> None:
    await pcs(context, 1)
    door = Meddler(app_server.app, "PUT", "/nodes/")
    door.lose_answers = 1
    response = await execute(
        TOOL, renames(("PC1", "Client")), context_of(GNS3Client(door, app_admin.token), context.project)
    )
    assert response["success"], response


async def test_a_swap_that_has_begun_is_ended_when_the_caller_is_cancelled(
    app_server: InProcessServer, app_admin: UserClient, context: ToolContext
) -> None:
    await pcs(context, 2)
    door = Meddler(app_server.app, "PUT", "/nodes/")
    door.hold = asyncio.Event()
    behind = context_of(GNS3Client(door, app_admin.token), context.project)
    caller = asyncio.create_task(execute(TOOL, renames(("PC1", "PC2"), ("PC2", "PC1")), behind))
    await door.begun.wait()
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    door.hold.set()

    async def swapped() -> bool:
        return await names(context) == ["PC2", "PC1"]

    await until(swapped)


async def test_a_deleted_node_is_said_to_be_gone_and_a_locked_project_may_be_renamed_in(
    context: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gns3server_copilot.tools import rename_node

    made = await pcs(context, 2)
    await context.gns3.post(f"/projects/{context.project.project_id}/lock")
    assert (await execute(TOOL, renames(("PC2", "Client")), context))["success"]
    await context.gns3.post(f"/projects/{context.project.project_id}/unlock")
    read = rename_node.read_nodes

    async def then_delete(client: GNS3Client, project_id: str) -> Any:
        nodes = await read(client, project_id)
        await client.delete(f"/projects/{project_id}/nodes/{made[0]['node_id']}")
        return nodes

    monkeypatch.setattr(rename_node, "read_nodes", then_delete)
    response = await execute(TOOL, renames(("PC1", "A")), context)
    assert response["data"][0]["error"] == "PC1 is not there any more: somebody has deleted it."


async def test_a_closed_project_is_said(context: ToolContext) -> None:
    await pcs(context, 1)
    await context.gns3.post(f"/projects/{context.project.project_id}/close")
    assert "project is not opened" in (await execute(TOOL, renames(("PC1", "A")), context))["error"]
    await context.gns3.post(f"/projects/{context.project.project_id}/open")


@pytest.mark.lab("vpcs")
@pytest.mark.usefixtures("lab_parts")
async def test_a_running_pc_is_not_renamed_and_the_way_is_said(context: ToolContext) -> None:
    (pc,) = await pcs(context, 1)
    await context.gns3.post(f"/projects/{context.project.project_id}/nodes/{pc['node_id']}/start", {})
    await until(lambda: _started(context, pc))
    response = await execute(TOOL, renames(("PC1", "Client")), context)
    assert response["data"][0]["error"] == "PC1 is running: stop it first (stop_gns3_node), then rename it."
    assert await names(context) == ["PC1"]


async def _started(context: ToolContext, node: dict[str, Any]) -> bool:
    found = await context.gns3.get(f"/projects/{context.project.project_id}/nodes/{node['node_id']}")
    return bool(found["status"] == "started")
