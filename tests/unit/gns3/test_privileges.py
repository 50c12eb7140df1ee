"""Privileges as gns3-server has them at this moment."""

from __future__ import annotations

import pytest

from gns3server_copilot.gns3.privileges import Privileges
from gns3server_copilot.schemas.identity import ProjectRef
from tests.ground.users import Accounts, UserClient, ok
from tests.unit.in_process import InProcessServer

pytestmark = pytest.mark.asyncio(loop_scope="session")
UNKNOWN = "11111111-2222-3333-4444-555555555555"


async def test_they_are_asked_anew_each_time(
    app_server: InProcessServer, app_admin: UserClient, app_accounts: Accounts, app_project: ProjectRef
) -> None:
    resource = f"/projects/{app_project.project_id}/nodes/{UNKNOWN}"

    privileges = Privileges(app_server.app)

    async def may(user_id: str, privilege: str = "Node.Console") -> bool:
        return await privileges(user_id, resource, privilege)

    user = await app_accounts.make_user()
    assert not await may(user.user_id)
    role = await app_accounts.make_role(["Node.Console"])
    entry = await app_accounts.allow(
        {"ace_type": "user", "user_id": user.user_id}, role, f"/projects/{app_project.project_id}"
    )
    assert await may(user.user_id)
    assert not await may(user.user_id, "Node.Modify")
    await ok(app_admin.put(f"/v3/access/users/{user.user_id}", json={"is_active": False}))
    assert not await may(user.user_id)
    await ok(app_admin.put(f"/v3/access/users/{user.user_id}", json={"is_active": True}))
    assert await may(user.user_id)
    assert (await app_admin.delete(f"/v3/access/acl/{entry}")).status_code == 204
    assert not await may(user.user_id)
    assert not await may(UNKNOWN)
    me = (await app_admin.get("/v3/access/users/me")).json()
    assert await may(me["user_id"])
