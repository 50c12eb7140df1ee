"""Creating links, on a real application."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from gns3server_copilot.gns3 import link_creation
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
TOOL = "create_gns3_link"
VPCS = "52136454-1f50-590a-94e4-816bd02d1062"


def context_of(client: GNS3Client, project: ProjectRef) -> ToolContext:
    """A context in the mode that builds labs."""
    return ToolContext(project, User("u", "ann", True), Mode.LAB_AUTOMATION, client, Settings())


@pytest.fixture
def context(app_client: GNS3Client, app_project: ProjectRef) -> ToolContext:
    """The superadmin in a fresh project."""
    return context_of(app_client, app_project)


@pytest.fixture
def door(app_server: InProcessServer) -> Meddler:
    """A way to the application where a test can meddle with the creation of links."""
    return Meddler(app_server.app, "POST", "/links")


@pytest.fixture
def meddled(door: Meddler, app_admin: UserClient, app_project: ProjectRef) -> ToolContext:
    """The superadmin behind that door."""
    return context_of(GNS3Client(door, app_admin.token), app_project)


async def pcs(context: ToolContext, count: int) -> list[dict[str, Any]]:
    """Make PC1, PC2, ..."""
    path = f"/projects/{context.project.project_id}/templates/{VPCS}"
    return [await context.gns3.post(path, {"x": 0, "y": 0}) for _ in range(count)]


async def links_of(context: ToolContext) -> list[dict[str, Any]]:
    """The project's links as gns3-server has them."""
    links: list[dict[str, Any]] = await context.gns3.get(f"/projects/{context.project.project_id}/links")
    return links


def between(a: int, b: int) -> dict[str, str]:
    """A link between two PCs."""
    return {"node_a": f"PC{a}", "port_a": "e0", "node_b": f"PC{b}", "port_b": "auto"}


async def test_a_link_is_made_and_answered_with_its_ends(context: ToolContext) -> None:
    made = await pcs(context, 2)
    response = await execute(TOOL, {"links": [between(1, 2)]}, context)
    assert response["success"], response
    (link,) = await links_of(context)
    (item,) = response["data"]
    assert (item["id"], item["name"]) == (link["link_id"], "PC1:e0–PC2:e0")
    assert json.loads(item["result"]) == {
        "node_a": "PC1",
        "port_a": "Ethernet0",
        "node_b": "PC2",
        "port_b": "Ethernet0",
        "media": "ethernet",
    }
    assert {end["node_id"] for end in link["nodes"]} == {node["node_id"] for node in made}
    assert [end["label"]["text"] for end in link["nodes"]] == ["e0", "e0"]


async def test_wrong_links_fail_alone_each_with_what_would_be_right(context: ToolContext) -> None:
    await pcs(context, 4)
    asked = [
        {"node_a": "PC1", "node_b": "PC9"},
        {"node_a": "PC1", "node_b": "PC1"},
        {"node_a": "PC1", "port_a": "e1", "node_b": "PC2"},
        between(3, 4),
        between(3, 4),
    ]
    response = await execute(TOOL, {"links": asked}, context)
    assert [item["status"] for item in response["data"]] == ["failed", "failed", "failed", "success", "failed"]
    errors = [item.get("error", "") for item in response["data"]]
    assert "no node called PC9. Nearest: PC" in errors[0]
    assert "linked to itself" in errors[1]
    assert "PC1 has no port e1. Free ports of PC1: Ethernet0." in errors[2]
    assert errors[4] == "Ethernet0 of PC3 is asked for by links[3] too. PC3 has no free port."
    assert response["data"][2]["name"] == "PC1:e1–PC2:auto"
    assert len(await links_of(context)) == 1


async def test_the_same_call_again_makes_nothing_and_says_so(context: ToolContext) -> None:
    await pcs(context, 2)
    asked = {"links": [{"node_a": "PC1", "port_a": "e0", "node_b": "PC2", "port_b": "e0"}]}
    first = await execute(TOOL, asked, context)
    again = await execute(TOOL, asked, context)
    assert again["data"][0]["status"] == "failed"
    assert again["data"][0]["id"] == first["data"][0]["id"]
    assert again["data"][0]["error"].startswith("This link exists already: PC1:e0–PC2:e0 (id ")
    assert len(await links_of(context)) == 1


async def test_the_older_shape_is_taken_and_ports_may_be_numbers(context: ToolContext) -> None:
    one, other = await pcs(context, 2)
    older = {"links": [{"node_id1": one["node_id"], "port1": "Ethernet0", "node_id2": other["node_id"], "port2": 0}]}
    response = await execute(TOOL, {"tool_input": json.dumps(older)}, context)
    assert response["success"], response


async def test_an_auditor_is_refused_item_by_item_and_nothing_is_made(
    app_server: InProcessServer, app_accounts: Accounts, app_client: GNS3Client, app_project: ProjectRef
) -> None:
    await pcs(context_of(app_client, app_project), 4)
    auditor = await app_accounts.make_user(role="Auditor", on=app_project)
    context = context_of(GNS3Client(app_server.app, auditor.token), app_project)
    response = await execute(TOOL, {"links": [between(1, 2), between(3, 4)]}, context)
    assert [item["status"] for item in response["data"]] == ["failed", "failed"]
    assert "privilege Link.Allocate is required" in response["data"][0]["error"]
    assert response["data"][0]["name"] == "PC1:e0–PC2:e0"
    assert await links_of(context) == []


async def test_a_closed_project_is_said_and_nothing_is_made(context: ToolContext) -> None:
    await pcs(context, 2)
    project = f"/projects/{context.project.project_id}"
    await context.gns3.post(f"{project}/close")
    response = await execute(TOOL, {"links": [between(1, 2)]}, context)
    assert "project is not opened" in response["error"]
    await context.gns3.post(f"{project}/open")
    assert await links_of(context) == []


async def test_a_node_that_is_deleted_after_the_check_fails_its_link_alone(
    context: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = await pcs(context, 4)
    create_links = link_creation.create_links

    async def late(client: GNS3Client, project_id: str, wanted: Any) -> Any:
        await client.delete(f"/projects/{project_id}/nodes/{made[0]['node_id']}")
        return await create_links(client, project_id, wanted)

    monkeypatch.setattr("gns3server_copilot.tools.create_link.create_links", late)
    response = await execute(TOOL, {"links": [between(1, 2), between(3, 4)]}, context)
    assert [item["status"] for item in response["data"]] == ["failed", "success"]
    assert "doesn't exist" in response["data"][0]["error"]
    assert len(await links_of(context)) == 1


async def test_an_answer_that_is_lost_makes_no_second_link(meddled: ToolContext, door: Meddler) -> None:
    await pcs(meddled, 4)
    door.lose_answers = 1
    response = await execute(TOOL, {"links": [between(1, 2), between(3, 4)]}, meddled)
    assert response["success"], response
    assert {item["id"] for item in response["data"]} == {link["link_id"] for link in await links_of(meddled)}
    assert len(door.seen) == 2


async def test_a_link_without_an_answer_in_time_is_looked_for(
    meddled: ToolContext, door: Meddler, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(link_creation, "LINK_SECONDS", 1.0)
    await pcs(meddled, 2)
    door.hold = asyncio.Event()
    response = await execute(TOOL, {"links": [between(1, 2)]}, meddled)
    assert response["success"], response
    door.hold.set()
    await door.idle.wait()
    assert len(await links_of(meddled)) == 1


async def test_of_a_link_that_failed_half_way_nothing_stays(
    context: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    # An error that is not one of gns3-server's own leaves the link in the project's list.
    from gns3server.controller.udp_link import UDPLink

    async def broken(self: UDPLink) -> None:
        raise RuntimeError("the compute said nonsense")

    await pcs(context, 2)
    with monkeypatch.context() as patch:
        patch.setattr(UDPLink, "create", broken)
        response = await execute(TOOL, {"links": [between(1, 2)]}, context)
    assert "failed with status 500" in response["data"][0]["error"]
    assert await links_of(context) == []
    assert (await execute(TOOL, {"links": [between(1, 2)]}, context))["success"]


async def test_what_has_begun_is_made_when_the_caller_is_cancelled_and_no_more_begins(
    meddled: ToolContext, door: Meddler
) -> None:
    await pcs(meddled, 6)
    door.hold = asyncio.Event()
    asked = {"links": [between(1, 2), between(3, 4), between(5, 6)]}
    caller = asyncio.create_task(execute(TOOL, asked, meddled))
    await door.begun.wait()
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    # who comes next waits for what still goes on
    after = asyncio.create_task(execute(TOOL, {"links": [between(3, 4)]}, meddled))
    await until(lambda: asyncio.sleep(0, len(door.seen) == 1), seconds=2)
    door.hold.set()
    assert (await after)["success"]
    assert door.most_running == 1
    assert len(door.seen) == len(await links_of(meddled)) == 2


async def test_links_are_made_one_after_another_whoever_makes_them(meddled: ToolContext, door: Meddler) -> None:
    # a compute may give one UDP port to two links that are made at the same time
    await pcs(meddled, 12)
    one = {"links": [between(number, number + 1) for number in (1, 3, 5)]}
    other = {"links": [between(number, number + 1) for number in (7, 9, 11)]}
    responses = await asyncio.gather(execute(TOOL, one, meddled), execute(TOOL, other, meddled))
    assert all(response["success"] for response in responses), responses
    assert door.most_running == 1
    assert len(await links_of(meddled)) == 6
