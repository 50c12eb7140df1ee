"""The routes of users' LLM configurations on a real gns3-server."""

from __future__ import annotations

import uuid
from typing import Any

from tests.ground.server import GNS3Server
from tests.ground.users import UserClient

KEY = "sk-grep-for-this-key"


def url(user: UserClient, rest: str = "") -> str:
    return f"/v3/access/users/{user.user_id}/llm-model-configs{rest}"


def body(name: str = "main", **fields: Any) -> dict[str, Any]:
    return {"name": name, "model_type": "text", "provider": "openai", "model": "gpt", "context_limit": 128, **fields}


async def create(user: UserClient, name: str = "main", **fields: Any) -> dict[str, Any]:
    answer = await user.post(url(user), json=body(name, **fields))
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    return made


async def test_a_user_without_privileges_manages_own_configurations(make_user: Any) -> None:
    user = await make_user()
    empty = await user.get(url(user))
    assert empty.json() == {"configs": [], "default_config": None, "total": 0}
    assert (await user.get(url(user, "/default"))).status_code == 404
    first = await create(user, "first", api_key=KEY)
    second = await create(user, "second", is_default=True)
    listed = (await user.get(url(user))).json()
    assert [one["name"] for one in listed["configs"]] == ["first", "second"]
    assert listed["configs"][0] == first
    assert listed["default_config"] == second
    assert listed["total"] == 2
    assert (await user.get(url(user, "/own"))).json() == listed["configs"]
    assert (await user.get(url(user, "/default"))).json() == second
    chosen = await user.put(url(user, f"/default/{first['config_id']}"), json={})
    assert chosen.status_code == 200
    assert chosen.json()["config_id"] == first["config_id"]
    assert (await user.get(url(user, "/default"))).json() == chosen.json()
    assert (await user.get(url(user, f"/{first['config_id']}"))).json() == chosen.json()


async def test_others_need_a_privilege(make_user: Any, admin: UserClient) -> None:
    owner, stranger = await make_user(), await make_user()
    auditor = await make_user(privileges=["User.Audit"], on="/access/users")
    manager = await make_user(privileges=["User.Audit", "User.Modify"], on="/access/users")
    made = await create(owner)
    for user, reads, writes in ((stranger, 403, 403), (auditor, 200, 403), (manager, 200, 201), (admin, 200, 201)):
        for path in ("", "/own", "/default", f"/{made['config_id']}"):
            assert (await user.get(url(owner, path))).status_code == reads
        answer = await user.post(url(owner), json=body(f"by-{user.username}"))
        assert answer.status_code == writes
        default = await user.put(url(owner, f"/default/{made['config_id']}"))
        assert default.status_code == (200 if writes == 201 else 403)


async def test_unknown_things(make_user: Any, admin: UserClient) -> None:
    owner, other = await make_user(), await make_user()
    made = await create(owner)
    nobody = f"/v3/access/users/{uuid.uuid4()}/llm-model-configs"
    for path in ("", "/own", "/default"):
        assert (await admin.get(nobody + path)).status_code == 404
    assert (await admin.post(nobody, json=body())).status_code == 404
    assert (await owner.get(url(owner, f"/{uuid.uuid4()}"))).status_code == 404
    assert (await other.get(url(other, f"/{made['config_id']}"))).status_code == 403
    assert (await owner.get(url(owner, "/not-a-uuid"))).status_code == 422
    assert (await owner.get("/v3/access/users/me/llm-model-configs")).status_code == 422
    assert (await owner.post(url(owner), json=body())).status_code == 409


async def test_wrong_fields_are_named_and_never_repeated(make_user: Any, gns3_server: GNS3Server) -> None:
    user = await make_user()
    since = gns3_server.log_position()
    for wrong, field in (
        ({"temperature": 3, "api_key": KEY}, "temperature"),
        ({"api_key": f"{KEY}\n{KEY}"}, "api_key"),
        ({"my_token": KEY}, "my_token"),
        ({"base_url": f"https://user:{KEY}@host/"}, "base_url"),
        ({"provider": KEY}, "provider"),
        ({"context_limit": None, "api_key": KEY}, "context_limit"),
        ({"is_default": True, "model_type": "embedding"}, "is_default"),
    ):
        answer = await user.post(url(user), json=body(**wrong))
        assert answer.status_code == 422, answer.text
        assert answer.json()["message"].startswith(f"{field}: ")
        assert answer.json()["detail"][0]["loc"] == ["body", field]
        assert KEY not in answer.text
    for content in ("{", "[]", '"x"', "null", '{"name": NaN}', '{"context_limit": NaN}'):
        answer = await user.post(url(user), content=content, headers={"Content-Type": "application/json"})
        assert answer.status_code == 422
        assert answer.json()["message"]
    assert KEY not in gns3_server.log(since)


async def test_the_key_is_nowhere(make_user: Any, gns3_server: GNS3Server) -> None:
    user = await make_user()
    since = gns3_server.log_position()
    made = await create(user, api_key=KEY, is_default=True)
    assert made["has_api_key"] is True
    assert made["config"]["api_key"] is None
    for path in ("", "/own", "/default", f"/{made['config_id']}"):
        assert KEY not in (await user.get(url(user, path))).text
    assert KEY not in (await user.post(url(user), json=body(api_key=KEY))).text
    folder = gns3_server.database_path.parent
    assert all(KEY.encode() not in file.read_bytes() for file in folder.iterdir() if file.is_file())
    assert (folder / "copilot_encryption_key").stat().st_mode & 0o777 == 0o600
    assert KEY not in gns3_server.log(since)


async def test_the_routes_are_documented(gns3_server: GNS3Server, admin: UserClient) -> None:
    paths = (await admin.get("/openapi.json")).json()["paths"]
    operation = paths["/v3/access/users/{user_id}/llm-model-configs"]["post"]
    assert operation["tags"] == ["LLM model configs"]
