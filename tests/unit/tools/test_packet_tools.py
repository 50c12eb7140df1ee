"""Field search and protocol knowledge, as the model asks for them."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest

from gns3server_copilot.gns3.client import GNS3Client
from gns3server_copilot.schemas.identity import ProjectRef, User
from gns3server_copilot.schemas.modes import Mode
from gns3server_copilot.settings import Settings
from gns3server_copilot.tools.base import ToolContext
from gns3server_copilot.tools.dispatch import execute
from gns3server_copilot.tools.packet_text import tidy, without_secrets
from tests.ground.users import Accounts
from tests.unit.in_process import InProcessServer

NOTHING: Any = None
VPCS = "52136454-1f50-590a-94e4-816bd02d1062"


def context(mode: Mode = Mode.TEACHING) -> ToolContext:
    """A context for calls that do not reach gns3-server."""
    return ToolContext(ProjectRef("p", "lab", "/nowhere"), User("u", "ann", False), mode, NOTHING, Settings())


async def linked_pcs(client: GNS3Client, project: ProjectRef) -> str:
    """The id of a link between PC1 and PC2, which are made."""
    path = f"/projects/{project.project_id}"
    pcs = [await client.post(f"{path}/templates/{VPCS}", {"x": 0, "y": 0}) for _ in range(2)]
    ends = [{"node_id": pc["node_id"], "adapter_number": 0, "port_number": 0} for pc in pcs]
    return str((await client.post(f"{path}/links", {"nodes": ends}))["link_id"])


async def search(query: str, **arguments: Any) -> list[dict[str, Any]]:
    """The fields found."""
    asked = {"action": "search_fields", "query": query, **arguments}
    response = await execute("packet_analysis", asked, context())
    assert response["success"], response
    found = json.loads(response["data"][0]["result"])
    assert isinstance(found, list)
    return found


async def test_fields_are_found_by_words_of_their_names_and_meanings() -> None:
    assert [one["field"] for one in await search("dead interval")][:2] == ["ospf.dead_interval", "ospfv3.dead_interval"]
    assert "cdp.native_vlan" in [one["field"] for one in await search("untagged frames", protocol="cdp")]
    assert (await search("frame.number"))[0]["field"] == "frame.number"
    assert len(await search("s")) == 40
    assert (await search("ospf.helo_intervall"))[0]["field"] == "ospf.hello_interval"


async def test_a_search_without_result_or_query_says_so() -> None:
    for arguments, words in (
        ({"query": "zzzz qqqq"}, "No field fits"),
        ({}, "What to look for?"),
        ({"query": "a", "protocol": "nonsense"}, "no protocol called nonsense"),
    ):
        response = await execute("packet_analysis", {"action": "search_fields", **arguments}, context())
        assert not response["success"]
        assert words in json.dumps(response)


async def test_protocols_are_listed_told_and_searched() -> None:
    listed = await execute("packet_analysis_skills", {}, context())
    assert listed["total"] >= 48
    told = await execute("packet_analysis_skills", {"action": "get", "protocol": "OSPF"}, context())
    skill = json.loads(told["data"][0]["result"])
    assert "hello_interval" in skill["fields"]
    assert {"field": "type", "op": "eq", "value": "Hello"} in skill["conditions"][0]["where"]
    found = await execute("packet_analysis_skills", {"action": "search", "query": "native vlan"}, context())
    assert "CDP: check cdp_native_vlan_mismatch" in [item["name"] for item in found["data"]]
    for arguments in ({"action": "get"}, {"action": "search"}, {"action": "search", "query": "qqqq"}):
        assert not (await execute("packet_analysis_skills", arguments, context()))["success"]


@pytest.mark.asyncio(loop_scope="session")
async def test_a_closed_project_and_a_link_of_endless_name_are_said(
    app_client: GNS3Client, app_project: ProjectRef
) -> None:
    await app_client.post(f"/projects/{app_project.project_id}/close")
    for tool, mode in (("packet_analysis", Mode.TEACHING), ("manage_gns3_packet_filter", Mode.INJECTION)):
        where = replace(context(mode), project=app_project, gns3=app_client)
        action = "analyse" if mode is Mode.TEACHING else "get"
        closed = await execute(tool, {"action": action, "link": "R1-R2"}, where)
        assert "Open it in GNS3" in closed["error"]
        long = await execute(tool, {"action": action, "link": "x" * 100_000}, where)
        assert "link: String should have at most 1000 characters" in long["error"]


@pytest.mark.asyncio(loop_scope="session")
async def test_who_may_not_set_filters_is_told_so_and_nothing_else(
    app_server: InProcessServer, app_accounts: Accounts, app_client: GNS3Client, app_project: ProjectRef
) -> None:
    await linked_pcs(app_client, app_project)
    auditor = await app_accounts.make_user(role="Auditor", on=app_project)
    where = replace(context(Mode.INJECTION), project=app_project, gns3=GNS3Client(app_server.app, auditor.token))
    for change in ({"action": "set", "filters": {"delay": 10}}, {"action": "clear"}):
        response = await execute("manage_gns3_packet_filter", {"link": "PC1-PC2", **change}, where)
        assert response["error"] == "Permission denied (privilege Link.Modify is required)"


@pytest.mark.asyncio(loop_scope="session")
async def test_filters_that_several_set_at_once_are_all_there(app_client: GNS3Client, app_project: ProjectRef) -> None:
    link = await linked_pcs(app_client, app_project)
    where = replace(context(Mode.INJECTION), project=app_project, gns3=app_client)
    wanted: dict[str, Any] = {"packet_loss": 5, "delay": [10, 0], "corrupt": 3}
    calls = [{"link": "PC1-PC2", "action": "set", "filters": {name: value}} for name, value in wanted.items()]
    found = await asyncio.gather(*(execute("manage_gns3_packet_filter", arguments, where) for arguments in calls))
    assert all(response["success"] for response in found), found
    now = await app_client.get(f"/projects/{app_project.project_id}/links/{link}")
    assert now["filters"] == {"packet_loss": [5], "delay": [10, 0], "corrupt": [3]}


async def test_the_filter_tool_belongs_to_one_mode() -> None:
    response = await execute("manage_gns3_packet_filter", {"action": "get", "link": "R1-R2"}, context())
    assert "does not belong to this mode" in response["error"]


def test_what_packets_say_is_made_fit_for_a_model() -> None:
    raw = {
        "na\nme": "\x1b[31mred\x1b[0m\r\nIgnore\u202e this",
        "many": list(range(60)),
        "long": "x" * 1000,
        "number": 5,
    }
    clean = tidy(raw)
    assert clean["na me"] == "red Ignore this"
    assert clean["many"][-1] == "… 20 more"
    assert len(clean["long"]) == 240
    assert clean["number"] == 5


def test_secrets_of_protocols_are_hidden_and_can_still_be_compared() -> None:
    packets = [
        {"number": 1, "community": "s3cret"},
        {"number": 2, "community": "s3cret"},
        {"number": 3, "oids": ["1.3"]},
    ]
    answer = {"protocol": "snmp", "facts": {"communities": ["s3cret"], "versions": {"v1": 2}}, "packets": packets}
    hidden = without_secrets(answer)
    assert "s3cret" not in json.dumps(hidden)
    assert hidden["packets"][0]["community"] == hidden["packets"][1]["community"] == hidden["facts"]["communities"][0]
    assert hidden["packets"][2] == packets[2]
    assert without_secrets({"protocol": "bgp", "facts": {"communities": ["1:2"]}}) == {
        "protocol": "bgp",
        "facts": {"communities": ["1:2"]},
    }
