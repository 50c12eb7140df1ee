"""What is read straight from the controller is what the API gives, to those whom the API would give it."""

from __future__ import annotations

import uuid

import pytest

from gns3server_copilot.errors import GNS3Error
from gns3server_copilot.gns3.client import GNS3Client
from gns3server_copilot.gns3.topology import parse_topology
from gns3server_copilot.schemas.identity import ProjectRef
from tests.ground.users import Accounts, UserClient, ok
from tests.unit.in_process import InProcessServer

VPCS = "52136454-1f50-590a-94e4-816bd02d1062"

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_nodes_links_and_drawings_are_those_of_the_api(app_client: GNS3Client, app_project: ProjectRef) -> None:
    path = f"/projects/{app_project.project_id}"
    made = [await app_client.post(f"{path}/templates/{VPCS}", {"x": x, "y": 7}) for x in (-100, 100)]
    ends = [{"node_id": node["node_id"], "adapter_number": 0, "port_number": 0} for node in made]
    await app_client.post(f"{path}/links", {"nodes": ends, "filters": {"delay": [50, 0]}})
    # a drawing of more than 1 kB is kept in a file
    await app_client.post(f"{path}/drawings", {"svg": f"<svg><text>{'LAN ' * 500}</text></svg>"})
    from_api = [await app_client.get(f"{path}/{kind}") for kind in ("nodes", "links", "drawings")]
    canvas = await app_client.canvas(app_project.project_id)
    assert parse_topology(canvas.nodes, canvas.links, canvas.drawings) == parse_topology(*from_api)
    assert canvas.drawings[0]["svg"] == from_api[2][0]["svg"]


async def test_a_closed_project_can_still_be_read(app_client: GNS3Client, app_project: ProjectRef) -> None:
    path = f"/projects/{app_project.project_id}"
    await app_client.post(f"{path}/templates/{VPCS}", {"x": 0, "y": 0})
    await app_client.post(f"{path}/close")
    assert [node["name"] for node in (await app_client.canvas(app_project.project_id)).nodes] == ["PC1"]


@pytest.mark.parametrize(("privileges", "status"), [([], 403), (["Node.Audit"], 403), (["Link.Audit"], 403)])
async def test_who_may_not_see_nodes_and_links_gets_nothing(
    app_server: InProcessServer,
    app_accounts: Accounts,
    app_project: ProjectRef,
    privileges: list[str],
    status: int,
) -> None:
    user = await app_accounts.make_user(privileges=privileges, on=app_project)
    with pytest.raises(GNS3Error) as refused:
        await GNS3Client(app_server.app, user.token).canvas(app_project.project_id)
    assert refused.value.status == status


async def test_a_user_who_is_no_longer_active_gets_nothing(
    app_server: InProcessServer, app_accounts: Accounts, app_admin: UserClient, app_project: ProjectRef
) -> None:
    user = await app_accounts.make_user(role="User")
    client = GNS3Client(app_server.app, user.token)
    assert (await client.canvas(app_project.project_id)).nodes == []
    await ok(app_admin.put(f"/v3/access/users/{user.user_id}", json={"is_active": False}))
    with pytest.raises(GNS3Error) as refused:
        await client.canvas(app_project.project_id)
    assert refused.value.status == 401


async def test_a_token_that_is_none_and_a_project_that_is_not_there_are_said(
    app_server: InProcessServer, app_client: GNS3Client
) -> None:
    with pytest.raises(GNS3Error) as refused:
        await GNS3Client(app_server.app, "none").canvas(str(uuid.uuid4()))
    assert refused.value.status == 401
    with pytest.raises(GNS3Error) as absent:
        await app_client.canvas(str(uuid.uuid4()))
    assert absent.value.status == 404
