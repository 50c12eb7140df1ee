"""The in-process client, against gns3-server's real application."""

from __future__ import annotations

import asyncio
import logging

import pytest

from gns3server_copilot.errors import GNS3Error
from gns3server_copilot.gns3.client import GNS3Client
from gns3server_copilot.schemas.identity import ProjectRef
from tests.ground.users import Accounts, UserClient
from tests.unit.in_process import InProcessServer, Meddler

pytestmark = pytest.mark.asyncio(loop_scope="session")

VPCS = "52136454-1f50-590a-94e4-816bd02d1062"


async def test_answers_are_python_data_and_empty_bodies_none(app_client: GNS3Client, app_project: ProjectRef) -> None:
    path = f"/projects/{app_project.project_id}"
    node = await app_client.post(f"{path}/templates/{VPCS}", {"x": 0, "y": 0})
    assert (node["name"], node["node_type"]) == ("PC1", "vpcs")
    assert [node["node_id"] for node in await app_client.get(f"{path}/nodes")] == [node["node_id"]]
    renamed = await app_client.put(f"{path}/nodes/{node['node_id']}", {"name": "Client"})
    assert renamed["name"] == "Client"
    assert await app_client.delete(f"{path}/nodes/{node['node_id']}") is None
    assert await app_client.get(f"{path}/nodes") == []


async def test_text_that_is_not_json_is_given_as_text(app_client: GNS3Client) -> None:
    assert "<svg" in await app_client.get("/symbols/:/symbols/classic/computer.svg/raw")


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        ("/projects/00000000-0000-0000-0000-000000000000", 404, "doesn't exist"),
        ("/projects/undefined", 422, "did not accept a value"),
        ("/no/such/route", 404, "Not Found"),
    ],
)
async def test_refusals_carry_the_servers_words_and_status(
    app_client: GNS3Client, path: str, status: int, words: str
) -> None:
    with pytest.raises(GNS3Error, match=words) as refused:
        await app_client.get(path)
    assert refused.value.status == status
    assert len(refused.value.message) <= 300
    assert not set("{}\n") & set(refused.value.message)


async def test_a_wrong_token_is_said_plainly_and_not_shown(
    app_server: InProcessServer, caplog: pytest.LogCaptureFixture
) -> None:
    client = GNS3Client(app_server.app, "not-a-token-at-all")
    with caplog.at_level(logging.DEBUG), pytest.raises(GNS3Error, match="Log in to GNS3 again") as refused:
        await client.get("/projects")
    assert refused.value.status == 401
    assert "not-a-token-at-all" not in f"{client!r} {vars(client)['_transport']!r} {caplog.text} {refused.value!r}"


async def test_the_users_own_privileges_apply(
    app_server: InProcessServer, app_accounts: Accounts, app_project: ProjectRef
) -> None:
    nobody = GNS3Client(app_server.app, (await app_accounts.make_user()).token)
    with pytest.raises(GNS3Error, match=r"Node\.Audit is required") as refused:
        await nobody.get(f"/projects/{app_project.project_id}/nodes")
    assert refused.value.status == 403


async def test_an_unhandled_error_of_the_server_is_a_plain_sentence(
    app_server: InProcessServer, app_admin: UserClient, app_project: ProjectRef, caplog: pytest.LogCaptureFixture
) -> None:
    door = Meddler(app_server.app, "POST", "/templates/")
    door.refuse = 1
    with pytest.raises(GNS3Error, match="failed with status 500; its log says why") as refused:
        await GNS3Client(door, app_admin.token).post(
            f"/projects/{app_project.project_id}/templates/{VPCS}", {"x": 0, "y": 0}
        )
    assert refused.value.status == 500
    assert "IndexError" in caplog.text
    assert app_admin.token not in caplog.text


async def test_a_late_answer_is_status_408_and_the_change_goes_on(
    app_server: InProcessServer, app_admin: UserClient, app_client: GNS3Client, app_project: ProjectRef
) -> None:
    door = Meddler(app_server.app, "POST", "/templates/")
    door.hold = asyncio.Event()
    with pytest.raises(GNS3Error, match=r"did not answer within 0\.05 seconds") as refused:
        await GNS3Client(door, app_admin.token).post(
            f"/projects/{app_project.project_id}/templates/{VPCS}", {"x": 0, "y": 0}, timeout=0.05
        )
    assert refused.value.status == 408
    await door.begun.wait()
    assert door.running == 1
    door.hold.set()
    assert len(await app_client.get(f"/projects/{app_project.project_id}/nodes")) == 1


async def test_a_cancelled_caller_does_not_stop_a_change(
    app_server: InProcessServer,
    app_admin: UserClient,
    app_client: GNS3Client,
    app_project: ProjectRef,
    caplog: pytest.LogCaptureFixture,
) -> None:
    door = Meddler(app_server.app, "POST", "/templates/")
    door.hold = asyncio.Event()
    client = GNS3Client(door, app_admin.token)
    path = f"/projects/{app_project.project_id}/templates/{VPCS}"
    caller = asyncio.create_task(client.post(path, {"x": 0, "y": 0}))
    await door.begun.wait()
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    await client.aclose()
    door.lose_answers = 1
    with caplog.at_level(logging.WARNING, "gns3server_copilot"):
        door.hold.set()
        await door.idle.wait()
        await asyncio.sleep(0)
    assert len(await app_client.get(f"/projects/{app_project.project_id}/nodes")) == 1
    assert f"POST {path}: failed after nobody waited for it any more" in caplog.text


async def test_a_cancelled_caller_leaves_a_read_at_once_and_it_goes_on(
    app_server: InProcessServer, app_admin: UserClient
) -> None:
    door = Meddler(app_server.app, "GET", "/projects")
    door.hold = asyncio.Event()
    caller = asyncio.create_task(GNS3Client(door, app_admin.token).get("/projects"))
    await door.begun.wait()
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    assert door.running == 1
    door.hold.set()
    await door.idle.wait()
