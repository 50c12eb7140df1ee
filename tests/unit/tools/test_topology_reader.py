"""The topology tool on a real application."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gns3server_copilot.gns3.client import GNS3Client
from gns3server_copilot.schemas.identity import ProjectRef, User
from gns3server_copilot.schemas.modes import Mode
from gns3server_copilot.settings import Settings
from gns3server_copilot.tools.base import ToolContext
from gns3server_copilot.tools.dispatch import execute
from gns3server_copilot.tools.response import to_text

pytestmark = pytest.mark.asyncio(loop_scope="session")
TOOL = "gns3_topology_reader"
VPCS = "52136454-1f50-590a-94e4-816bd02d1062"


@pytest.fixture
def context(app_client: GNS3Client, app_project: ProjectRef) -> ToolContext:
    """The mode in which the tool is always offered."""
    return ToolContext(app_project, User("u", "ann", True), Mode.INJECTION, app_client, Settings())


async def build(context: ToolContext, count: int = 2) -> list[dict[str, Any]]:
    """Make PCs, link the first two and write a note."""
    path = f"/projects/{context.project.project_id}"
    nodes = [await context.gns3.post(f"{path}/templates/{VPCS}", {"x": 0, "y": 0}) for _ in range(count)]
    ends = [{"node_id": node["node_id"], "adapter_number": 0, "port_number": 0} for node in nodes[:2]]
    link = await context.gns3.post(f"{path}/links", {"nodes": ends})
    await context.gns3.put(f"{path}/links/{link['link_id']}", {"filters": {"delay": [50, 0]}})
    await context.gns3.post(f"{path}/drawings", {"svg": "<svg><text>LAN 1</text></svg>"})
    return nodes


async def test_nodes_links_and_notes_are_told(context: ToolContext) -> None:
    nodes = await build(context, 3)
    response = await execute(TOOL, {}, context)
    assert [(item["kind"], item["name"]) for item in response["data"]] == [
        ("node", "PC1"),
        ("node", "PC2"),
        ("node", "PC3"),
        ("link", "PC1:e0–PC2:e0"),
        ("note", "note"),
    ]
    first, _, last, link, note = (item["result"] for item in response["data"])
    assert json.loads(first) == {
        "type": "vpcs",
        "device_type": "vpcs",
        "status": "stopped",
        "console": {"type": "telnet", "port": nodes[0]["console"]},
        "x": 0,
        "y": 0,
        "used_ports": {"Ethernet0": "PC2:e0"},
        "free_ports": [],
    }
    assert json.loads(last)["free_ports"] == ["Ethernet0"]
    assert json.loads(link) == {
        "ends": [{"node": "PC1", "port": "e0"}, {"node": "PC2", "port": "e0"}],
        "media": "ethernet",
        "filters": {"delay": [50, 0]},
        "suspended": False,
        "capturing": False,
    }
    assert note == "LAN 1"


async def test_only_the_nodes_asked_for_are_told_in_that_order_with_their_links(context: ToolContext) -> None:
    nodes = await build(context, 3)
    response = await execute(TOOL, {"nodes": ["pc3", "PC9", nodes[1]["node_id"]], "detail": "full"}, context)
    assert [(item["name"], item["status"]) for item in response["data"]] == [
        ("PC3", "success"),
        ("PC9", "failed"),
        ("PC2", "success"),
        ("PC1:e0–PC2:e0", "success"),
    ]
    assert "Nearest: PC" in response["data"][1]["error"]
    full = json.loads(response["data"][2]["result"])
    assert full["ports"][0]["peer"] == "PC1:e0"
    assert full["console"]["host"] == "127.0.0.1"
    assert full["compute_id"] == "local"


async def test_an_empty_project_is_said_to_be_empty(context: ToolContext) -> None:
    response = await execute(TOOL, {}, context)
    assert response["success"]
    assert response["data"][0]["result"] == "The project is empty: no nodes."


async def test_a_topology_too_large_for_one_answer_becomes_terse_and_stays_whole(context: ToolContext) -> None:
    await build(context, 70)
    response = await execute(TOOL, {"detail": "full"}, context)
    (item,) = response["data"]
    assert "PC70 (vpcs, stopped, at 0,0): free e0" in item["result"]
    assert json.loads(to_text(response)) == response
    every_name = [f"PC{number}" for number in range(1, 71)]
    response = await execute(TOOL, {"detail": "full", "nodes": every_name}, context)
    assert "ask about fewer nodes" in response["error"]


async def test_a_project_that_is_gone_is_said(context: ToolContext) -> None:
    await context.gns3.delete(f"/projects/{context.project.project_id}")
    response = await execute(TOOL, {}, context)
    assert "does not exist" in response["error"]
    await context.gns3.post("/projects", {"name": "again", "project_id": context.project.project_id})


async def test_hundreds_of_wrong_names_hold_nobody_up_and_more_are_refused(context: ToolContext) -> None:
    await build(context, 2)
    response = await execute(TOOL, {"nodes": ["PC1", "x" * 100_000, ""]}, context)
    assert [len(item["name"]) for item in response["data"][:3]] == [3, 60, 0]
    assert "no node called (empty)" in response["data"][2]["error"]
    many = await execute(TOOL, {"nodes": ["x"] * 10_000}, context)
    assert "nodes: List should have at most 400 items" in many["error"]
