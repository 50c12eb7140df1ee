"""Real users of the server: made, grouped and given privileges through its own API."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Iterable
from typing import Any

import httpx

from tests.ground.server import ADMIN, GNS3Server

TIMEOUT_SECONDS = 60.0


class UserClient(httpx.AsyncClient):
    """A logged-in user: an HTTP client that sends the user's token with every request.

    Paths are whole, `await user.get("/v3/projects")`.
    """

    def __init__(self, server: GNS3Server, *, username: str, password: str, user_id: str, token: str) -> None:
        super().__init__(
            base_url=server.url,
            headers={"Authorization": f"Bearer {token}"},
            timeout=TIMEOUT_SECONDS,
            trust_env=False,
        )
        self.server = server
        self.username = username
        self.password = password
        self.user_id = user_id
        self.token = token


async def log_in(server: GNS3Server, username: str, password: str, token: str | None = None) -> UserClient:
    """Give a client of an existing user; the caller closes it."""
    if token is None:
        token = await asyncio.to_thread(server.log_in, username, password)
    user = UserClient(server, username=username, password=password, user_id="", token=token)
    user.user_id = (await ok(user.get("/v3/access/users/me")))["user_id"]
    return user


async def log_in_admin(server: GNS3Server) -> UserClient:
    """Give a client of the superadmin; the caller closes it."""
    token = await asyncio.to_thread(lambda: server.admin_token)
    return await log_in(server, ADMIN, server.admin_password, token)


class Accounts:
    """Makes users, groups, roles and access control entries. Names end in something random, so nothing collides.

    They are left in the server, which is thrown away: deleting them would cost every test time.
    """

    def __init__(self, admin: UserClient) -> None:
        self._admin = admin
        self._made: list[UserClient] = []

    async def make_user(
        self,
        *,
        role: str | None = None,
        privileges: Iterable[str] = (),
        on: Any = "/",
        group: str | None = None,
        name: str = "user",
    ) -> UserClient:
        """Give a new, logged-in user.

        Without `role` and `privileges` the user has no privilege at all, as every new user of GNS3. `role` is a
        built-in one ("User", "Auditor", ...), `privileges` names single ones ("Project.Audit", ...); they hold on
        `on`: a path of the access control list ("/", "/projects/<id>") or a project, and what is below it. With
        `group` they are given to that group (made unless it exists) and the user becomes its member.
        """
        username = unique(name)
        password = secrets.token_urlsafe(12)
        body = {"username": username, "password": password}
        user_id = (await ok(self._admin.post("/v3/access/users", json=body)))["user_id"]
        owner = {"ace_type": "user", "user_id": user_id}
        if group is not None:
            group_id = await self.group(group)
            await self.add_to_group(user_id, group_id)
            owner = {"ace_type": "group", "group_id": group_id}
        path = on if isinstance(on, str) else f"/projects/{on.project_id}"
        names = list(privileges)
        if role is not None:
            await self.allow(owner, await self.role_id(role), path)
        if names:
            await self.allow(owner, await self.make_role(names), path)
        user = await log_in(self._admin.server, username, password)
        self._made.append(user)
        return user

    async def group(self, name: str) -> str:
        """Give the id of a group, which is made unless it exists."""
        groups = await ok(self._admin.get("/v3/access/groups"))
        for group in groups:
            if group["name"] == name:
                return str(group["user_group_id"])
        return str((await ok(self._admin.post("/v3/access/groups", json={"name": name})))["user_group_id"])

    async def add_to_group(self, user_id: str, group_id: str) -> None:
        """Make a user a member of a group."""
        await ok(self._admin.put(f"/v3/access/groups/{group_id}/members/{user_id}"))

    async def remove_from_group(self, user_id: str, group_id: str) -> None:
        """End a membership."""
        await ok(self._admin.delete(f"/v3/access/groups/{group_id}/members/{user_id}"))

    async def role_id(self, name: str) -> str:
        """Give the id of an existing role. Raises KeyError."""
        roles = {role["name"]: role["role_id"] for role in await ok(self._admin.get("/v3/access/roles"))}
        return str(roles[name])

    async def make_role(self, privileges: Iterable[str]) -> str:
        """Give the id of a new role with exactly these privileges. Raises KeyError for an unknown privilege."""
        known = {p["name"]: p["privilege_id"] for p in await ok(self._admin.get("/v3/access/privileges"))}
        role = await ok(self._admin.post("/v3/access/roles", json={"name": unique("role")}))
        for privilege in privileges:
            await ok(self._admin.put(f"/v3/access/roles/{role['role_id']}/privileges/{known[privilege]}"))
        return str(role["role_id"])

    async def allow(self, owner: dict[str, str], role_id: str, path: str, *, allowed: bool = True) -> str:
        """Add an access control entry and give its id; `allowed=False` takes the role's privileges away there."""
        entry = {**owner, "role_id": role_id, "path": path, "propagate": True, "allowed": allowed}
        return str((await ok(self._admin.post("/v3/access/acl", json=entry)))["ace_id"])

    async def aclose(self) -> None:
        """Close the clients of all users made here."""
        for user in self._made:
            await user.aclose()


def unique(name: str) -> str:
    """Give the name with a random ending, in letters that gns3-server allows everywhere."""
    return f"{name}-{secrets.token_hex(4)}"


async def ok(request: Any) -> Any:
    """Await a request and give its JSON (None for an empty body). Raises AssertionError with the server's message."""
    answer: httpx.Response = await request
    assert answer.is_success, f"{answer.request.method} {answer.request.url.path}: {answer.status_code} {answer.text}"
    # gns3-server sends a content type of JSON with its empty answers too.
    return answer.json() if answer.content else None
