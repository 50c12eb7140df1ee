"""The template tool on a real application."""

from __future__ import annotations

import json

import pytest

from gns3server_copilot.gns3.client import GNS3Client
from gns3server_copilot.schemas.identity import ProjectRef, User
from gns3server_copilot.schemas.modes import Mode
from gns3server_copilot.settings import Settings
from gns3server_copilot.tools.base import ToolContext
from gns3server_copilot.tools.dispatch import execute
from gns3server_copilot.tools.response import to_text

pytestmark = pytest.mark.asyncio(loop_scope="session")
TOOL = "get_gns3_templates"


@pytest.fixture
def context(app_client: GNS3Client) -> ToolContext:
    """Any user may list templates, whatever the project."""
    return ToolContext(
        ProjectRef("no-project", "none", ""), User("u", "ann", False), Mode.TEACHING, app_client, Settings()
    )


async def test_switches_hubs_nat_and_clouds_are_listed_too(context: ToolContext) -> None:
    response = await execute(TOOL, {}, context)
    items = {item["name"]: json.loads(item["result"]) for item in response["data"]}
    assert list(items) == sorted(items, key=str.casefold)
    assert {"Cloud", "Ethernet hub", "Ethernet switch", "NAT", "VPCS"} <= set(items)
    assert items["VPCS"] == {
        "type": "vpcs",
        "category": "guest",
        "device_type": "vpcs",
        "console_type": "telnet",
        "default_name_format": "PC{0}",
        "ports": ["Ethernet0"],
    }
    assert items["Ethernet switch"]["ports"] == ["Ethernet0..Ethernet7"]


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        ({"name": "SWITCH"}, ["ATM switch", "Ethernet switch", "Frame Relay switch"]),
        ({"name": "ethernet_s"}, ["Ethernet switch"]),
        ({"category": "switch", "template_type": "ethernet_hub"}, ["Ethernet hub"]),
        ({"template_type": "nat", "name": None}, ["NAT"]),
    ],
)
async def test_filters_narrow_the_list(context: ToolContext, arguments: dict[str, str], names: list[str]) -> None:
    response = await execute(TOOL, arguments, context)
    assert [item["name"] for item in response["data"]] == names


async def test_no_match_suggests_near_names(context: ToolContext) -> None:
    response = await execute(TOOL, {"name": "ethernett swich"}, context)
    assert "Nearest names: Ethernet switch" in response["error"]
    response = await execute(TOOL, {"name": "vpcs", "category": "router"}, context)
    assert response["error"] == "None of the 7 templates fits. Nearest names: VPCS."


async def test_an_unknown_category_is_answered_with_those_that_exist(context: ToolContext) -> None:
    response = await execute(TOOL, {"category": "routers", "template_type": "vm"}, context)
    assert "category: Input should be 'router', 'switch', 'guest' or 'firewall'" in response["error"]
    assert "template_type: Input should be" in response["error"]


async def test_hundreds_of_templates_become_a_list_of_names(context: ToolContext, app_client: GNS3Client) -> None:
    made = [
        await app_client.post(
            "/templates", {"name": f"Appliance {number}", "template_type": "vpcs", "compute_id": "local"}
        )
        for number in range(130)
    ]
    try:
        response = await execute(TOOL, {}, context)
        (item,) = response["data"]
        assert "137 templates, too many to describe" in item["result"]
        assert "Appliance 129" in item["result"]
        assert json.loads(to_text(response)) == response
    finally:
        for template in made:
            await app_client.delete(f"/templates/{template['template_id']}")
