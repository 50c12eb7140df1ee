"""Family and credentials of a project's nodes: who may set them, what is answered, and that secrets stay secret."""

from __future__ import annotations

import sqlite3
from typing import Any

import pytest

from tests.ground.projects import Project
from tests.ground.server import GNS3Server
from tests.ground.users import UserClient, ok

SECRET = "v3ry-s3cret-of-a-router"


async def make_node(admin: UserClient, project: Project, name: str = "PC1", **properties: Any) -> str:
    """Add a virtual PC and give its id."""
    body = {"compute_id": "local", "node_type": "vpcs", "name": name, "properties": properties}
    return str((await ok(admin.post(f"{project.url}/nodes", json=body)))["node_id"])


async def devices(user: UserClient, project: Project) -> dict[str, dict[str, Any]]:
    """Give the listed devices by name."""
    answer = await ok(user.get(f"{project.chat}/devices"))
    return {device["name"]: device for device in answer["devices"]}


async def test_every_node_is_listed_with_its_family_and_how_it_was_found(admin: UserClient, project: Project) -> None:
    await make_node(admin, project)
    device = (await devices(admin, project))["PC1"]
    assert (device["family"], device["found_by"]) == ("vpcs", "node type")
    assert device["console"]["type"] == "telnet"
    assert (device["usable"], device["has_credentials"]) == (False, False)
    assert "Start it first" in device["problem"]
    assert "cisco_ios" in (await ok(admin.get(f"{project.chat}/devices")))["families"]


async def test_what_is_set_wins_and_can_be_forgotten(admin: UserClient, project: Project) -> None:
    node_id = await make_node(admin, project)
    url = f"{project.chat}/devices/{node_id}"
    answer = await ok(admin.put(url, json={"family": "gns3_huawei_telnet_ce", "username": "u", "password": SECRET}))
    assert (answer["family"], answer["found_by"], answer["has_credentials"]) == (
        "huawei_vrpv8",
        "set for this node",
        True,
    )
    # what is left out stays
    answer = await ok(admin.put(url, json={"family": None}))
    assert (answer["family"], answer["has_credentials"]) == ("vpcs", True)
    answer = await ok(admin.put(url, json={"username": None, "password": None}))
    assert answer["has_credentials"] is False
    await ok(admin.put(url, json={"family": "linux"}))
    assert (await admin.delete(url)).status_code == 204
    assert (await devices(admin, project))["PC1"]["family"] == "vpcs"
    assert (await admin.delete(url)).status_code == 204


async def test_the_web_uis_prefix_works_too(admin: UserClient, project: Project) -> None:
    await make_node(admin, project)
    path = f"/v3/copilot/projects/{project.project_id}/chat/devices"
    assert len((await ok(admin.get(path)))["devices"]) == 1


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"family": "windows"}, "family"),
        ({"username": "a\nb"}, "username"),
        ({"password": "x" * 201}, "password"),
        ({"passwrod": "x"}, "passwrod"),
    ],
    ids=["family", "line break", "length", "field"],
)
async def test_wrong_values_are_refused_by_name(
    admin: UserClient, project: Project, body: dict[str, Any], said: str
) -> None:
    node_id = await make_node(admin, project)
    answer = await admin.put(f"{project.chat}/devices/{node_id}", json=body)
    assert answer.status_code == 422
    assert said in answer.json()["message"]
    assert "x" * 50 not in answer.text


async def test_only_nodes_of_the_project_can_be_set(admin: UserClient, project: Project) -> None:
    unknown = "11111111-2222-3333-4444-555555555555"
    answer = await admin.put(f"{project.chat}/devices/{unknown}", json={"family": "linux"})
    assert answer.status_code == 404


async def test_who_may_only_look_sets_nothing(admin: UserClient, project: Project, make_user: Any) -> None:
    node_id = await make_node(admin, project)
    auditor = await make_user(role="Auditor", on=project)
    assert (await auditor.get(f"{project.chat}/devices")).status_code == 200
    for call in (
        auditor.put(f"{project.chat}/devices/{node_id}", json={"family": "linux"}),
        auditor.delete(f"{project.chat}/devices/{node_id}"),
    ):
        answer = await call
        assert answer.status_code == 403
        assert "Node.Modify" in answer.json()["message"]
    stranger = await make_user()
    assert (await stranger.get(f"{project.chat}/devices")).status_code == 403


async def test_secrets_are_stored_encrypted_and_never_given_back(
    admin: UserClient, project: Project, gns3_server: GNS3Server
) -> None:
    node_id = await make_node(admin, project)
    url = f"{project.chat}/devices/{node_id}"
    answers = [await admin.put(url, json={"username": "u", "password": SECRET, "enable_password": SECRET + "2"})]
    answers.append(await admin.get(f"{project.chat}/devices"))
    assert all(SECRET not in answer.text for answer in answers)
    with sqlite3.connect(f"file:{gns3_server.database_path}?mode=ro", uri=True) as database:
        [stored] = database.execute(
            "SELECT encrypted_secrets FROM copilot_device_settings WHERE node_id = ?", [node_id.replace("-", "")]
        ).fetchone()
    assert stored and SECRET not in stored
    assert SECRET not in gns3_server.log()


async def test_the_settings_go_with_the_project(admin: UserClient, make_project: Any, gns3_server: GNS3Server) -> None:
    project = await make_project()
    node_id = await make_node(admin, project)
    await ok(admin.put(f"{project.chat}/devices/{node_id}", json={"password": SECRET}))
    assert (await admin.delete(project.url)).status_code == 204
    with sqlite3.connect(f"file:{gns3_server.database_path}?mode=ro", uri=True) as database:
        query = "SELECT count(*) FROM copilot_device_settings WHERE node_id = ?"
        assert database.execute(query, [node_id.replace("-", "")]).fetchone() == (0,)
