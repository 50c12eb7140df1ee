"""What users inherit from their groups, and which configuration their turns use: over HTTP, with real tokens."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tests.ground.chat import ask
from tests.ground.llm_configs import config_body, default_name, make_config, of_group, of_user
from tests.ground.projects import Project
from tests.ground.users import Accounts, UserClient, ok, unique

LAB = "lab_automation_assistant"
TEACHING = "teaching_assistant"
MakeUser = Callable[..., Awaitable[UserClient]]


class Groups:
    """Three groups whose names sort in their order, and the users' memberships in them."""

    def __init__(self, admin: UserClient, accounts: Accounts, ids: list[str], names: list[str]) -> None:
        self.admin = admin
        self.accounts = accounts
        self.ids = ids
        self.names = names

    async def join(self, user: UserClient, *numbers: int) -> None:
        for number in numbers:
            await self.accounts.add_to_group(user.user_id, self.ids[number])

    async def leave(self, user: UserClient, number: int) -> None:
        await self.accounts.remove_from_group(user.user_id, self.ids[number])

    async def config(self, number: int, name: str, **fields: Any) -> dict[str, Any]:
        return await make_config(self.admin, of_group(self.ids[number]), name, **fields)


@pytest.fixture
async def groups(admin: UserClient, accounts: Accounts) -> Groups:
    end = unique("g")
    names = [f"{letter}-{end}" for letter in "abc"]
    # made in another order than that of their names
    made = {name: await accounts.group(name) for name in reversed(names)}
    return Groups(admin, accounts, [made[name] for name in names], names)


async def choose(user: UserClient, config: dict[str, Any]) -> dict[str, Any]:
    chosen: dict[str, Any] = await ok(user.put(of_user(user, f"/default/{config['config_id']}"), json={}))
    return chosen


async def test_a_member_sees_what_the_groups_have_and_whose_it_is(make_user: MakeUser, groups: Groups) -> None:
    user = await make_user()
    await groups.join(user, 1, 0)
    own = await make_config(user, of_user(user), "own")
    in_b = await groups.config(1, "in-b", is_default=True)
    in_a = [await groups.config(0, "a-1"), await groups.config(0, "a-2", model_type="embedding")]
    await groups.config(2, "not-mine")
    listed = await ok(user.get(of_user(user)))
    assert [one["config_id"] for one in listed["configs"]] == [one["config_id"] for one in (own, *in_a, in_b)]
    assert listed["total"] == 4
    assert [(one["source"], one["group_name"]) for one in listed["configs"]] == [
        ("user", None),
        ("group", groups.names[0]),
        ("group", groups.names[0]),
        ("group", groups.names[1]),
    ]
    assert listed["configs"][3]["group_id"] == groups.ids[1]
    assert listed["configs"][3]["is_default"] is True
    assert await ok(user.get(of_user(user, "/own"))) == [own]
    assert (await ok(user.get(of_user(user, f"/{in_b['config_id']}"))))["group_name"] == groups.names[1]


async def test_the_order_of_defaults(make_user: MakeUser, groups: Groups) -> None:
    user = await make_user()
    await groups.join(user, 2, 1, 0)
    assert await default_name(user) is None
    # the oldest of the first group, by name, that has any
    await groups.config(1, "b-vectors", model_type="embedding")
    await groups.config(2, "c-oldest")
    assert await default_name(user) == "c-oldest"
    b_oldest = await groups.config(1, "b-oldest")
    await groups.config(1, "b-younger", model_type="multimodal")
    assert await default_name(user) == "b-oldest"
    # a group's marked one, groups by name
    await groups.config(2, "c-marked", is_default=True)
    assert await default_name(user) == "c-marked"
    await groups.config(1, "b-marked", is_default=True)
    assert await default_name(user) == "b-marked"
    # the oldest own: a user with configurations does not fall back to a group's
    await make_config(user, of_user(user), "own-vectors", model_type="embedding")
    assert await default_name(user) == "b-marked"
    own_oldest = await make_config(user, of_user(user), "own-oldest")
    await make_config(user, of_user(user), "own-younger")
    assert await default_name(user) == "own-oldest"
    # the marked own one
    await make_config(user, of_user(user), "own-marked", is_default=True)
    assert await default_name(user) == "own-marked"
    # the user's choice, inherited or own
    await choose(user, b_oldest)
    assert await default_name(user) == "b-oldest"
    await choose(user, own_oldest)
    assert await default_name(user) == "own-oldest"


async def test_forgetting_the_choice_goes_back_to_what_was_before_it(make_user: MakeUser, groups: Groups) -> None:
    user = await make_user()
    await groups.join(user, 0)
    inherited = await groups.config(0, "inherited", is_default=True)
    await make_config(user, of_user(user), "oldest")
    await make_config(user, of_user(user), "marked", is_default=True)
    await choose(user, inherited)
    listed = await ok(user.get(of_user(user)))
    # one star at most: the web UI takes is_default of a row for what a click on it would undo
    assert [one["name"] for one in listed["configs"] if one["is_default"] and one["source"] == "user"] == []
    assert (await user.delete(of_user(user, "/default"))).status_code == 204
    assert await default_name(user) == "marked"
    assert (await user.delete(of_user(user, "/default"))).status_code == 204
    assert await default_name(user) == "marked"
    await choose(user, (await ok(user.get(of_user(user))))["configs"][0])
    assert (await user.delete(of_user(user, "/default"))).status_code == 204
    assert await default_name(user) == "oldest"
    assert inherited == await ok(groups.admin.get(of_group(groups.ids[0], f"/{inherited['config_id']}")))


async def test_only_users_themselves_forget_their_choice(make_user: MakeUser, admin: UserClient) -> None:
    user, other = await make_user(), await make_user()
    for client in (admin, other):
        assert (await client.delete(of_user(user, "/default"))).status_code == 403


async def test_leaving_a_group_takes_its_configurations_away(
    make_user: MakeUser, groups: Groups, make_project: Any
) -> None:
    user = await make_user(role="User")
    project: Project = await make_project(user)
    await groups.join(user, 0, 1)
    chosen = await groups.config(0, "chosen")
    await groups.config(1, "other")
    await choose(user, chosen)
    await ok(user.put(of_user(user, f"/{chosen['config_id']}"), json={"copilot_mode": LAB}))
    assert (await ask(user, project, "hello"))[-1]["type"] == "done"
    await groups.leave(user, 0)
    assert await default_name(user) == "other"
    refused = await user.post(f"{project.chat}/stream", json={"message": "x", "config_id": chosen["config_id"]})
    assert refused.status_code == 403
    for answer in (
        await user.get(of_user(user, f"/{chosen['config_id']}")),
        await user.put(of_user(user, f"/default/{chosen['config_id']}"), json={}),
        await user.put(of_user(user, f"/{chosen['config_id']}"), json={"copilot_mode": LAB}),
        await user.get(of_group(groups.ids[0])),
    ):
        assert answer.status_code == 403, answer.text
    await groups.leave(user, 1)
    assert await default_name(user) is None
    none = await user.post(f"{project.chat}/stream", json={"message": "x"})
    assert (none.status_code, "No language model" in none.json()["message"]) == (400, True)
    # back again, with what was chosen
    await groups.join(user, 0)
    assert await default_name(user) == "chosen"
    assert (await ok(user.get(of_user(user, "/default"))))["config"]["copilot_mode"] == LAB


async def test_a_turn_may_name_an_inherited_configuration(
    make_user: MakeUser, groups: Groups, make_project: Any, admin: UserClient
) -> None:
    user = await make_user(role="User")
    project: Project = await make_project(user)
    await groups.join(user, 0)
    inherited = await groups.config(0, "inherited")
    foreign = await groups.config(1, "foreign")
    await make_config(user, of_user(user), "own")
    events = await ask(user, project, "hello", config_id=inherited["config_id"])
    assert events[-1]["type"] == "done"
    for config_id, status in ((foreign["config_id"], 403), (str(uuid.uuid4()), 404)):
        answer = await user.post(f"{project.chat}/stream", json={"message": "x", "config_id": config_id})
        assert answer.status_code == status


async def test_a_mode_of_an_inherited_configuration_is_the_members_own(
    make_user: MakeUser, groups: Groups, make_project: Any
) -> None:
    user, colleague = await make_user(role="User"), await make_user()
    project: Project = await make_project(user)
    await groups.join(user, 0)
    await groups.join(colleague, 0)
    config = await groups.config(0, "shared", copilot_mode=TEACHING)
    path = f"/{config['config_id']}"
    # as the chat panel sends it
    changed = await user.put(of_user(user, path), json={"copilot_mode": LAB})
    assert changed.status_code == 200
    assert changed.json()["config"]["copilot_mode"] == LAB
    assert changed.json()["version"] == config["version"]
    assert (await ok(user.get(of_user(user))))["default_config"]["config"]["copilot_mode"] == LAB
    assert (await ok(colleague.get(of_user(colleague, "/default"))))["config"]["copilot_mode"] == TEACHING
    assert await ok(groups.admin.get(of_group(groups.ids[0], path))) == config
    await ask(user, project, "hello")
    [session] = await ok(user.get(f"{project.chat}/sessions"))
    assert session["metadata"]["copilot_mode"] == LAB
    # any other field is the group's
    elsewhere = {"base_url": "https://attacker.example.com/v1"}
    for body in ({"copilot_mode": LAB, "name": "x"}, {"is_default": True}, {"api_key": "sk-0123456789"}, elsewhere):
        assert (await user.put(of_user(user, path), json=body)).status_code == 403
    assert (await user.delete(of_user(user, path))).status_code == 403
    assert (await user.put(of_user(user, path), json={"copilot_mode": "nonsense"})).status_code == 422
    assert (await user.put(of_user(user, path), json={"copilot_mode": LAB, "expected_version": 9})).status_code == 409
    assert (await user.put(of_user(user, path), json={})).json() == changed.json()
    assert await ok(groups.admin.get(of_group(groups.ids[0], path))) == config


async def test_a_deleted_default_gives_way_to_the_next(make_user: MakeUser, groups: Groups) -> None:
    user = await make_user()
    await groups.join(user, 0)
    inherited = await groups.config(0, "inherited")
    chosen = await groups.config(0, "chosen")
    first = await make_config(user, of_user(user), "first")
    marked = await make_config(user, of_user(user), "marked", is_default=True)
    await choose(user, chosen)
    assert (await groups.admin.delete(of_group(groups.ids[0], f"/{chosen['config_id']}"))).status_code == 204
    assert await default_name(user) == "marked"
    assert (await user.delete(of_user(user, f"/{marked['config_id']}"))).status_code == 204
    assert await default_name(user) == "first"
    assert (await user.delete(of_user(user, f"/{first['config_id']}"))).status_code == 204
    assert await default_name(user) == inherited["name"]
    assert (await user.delete(of_user(user, f"/{first['config_id']}"))).status_code == 404


async def test_a_deleted_group_takes_its_configurations_along(make_user: MakeUser, groups: Groups) -> None:
    user = await make_user()
    await groups.join(user, 0, 1)
    chosen = await groups.config(0, "chosen")
    await groups.config(1, "left")
    await choose(user, chosen)
    await ok(user.put(of_user(user, f"/{chosen['config_id']}"), json={"copilot_mode": LAB}))
    assert (await groups.admin.delete(f"/v3/access/groups/{groups.ids[0]}")).status_code == 204
    assert await default_name(user) == "left"
    assert (await user.get(of_user(user, f"/{chosen['config_id']}"))).status_code == 404
    assert (await groups.admin.get(of_group(groups.ids[0]))).status_code == 404


async def test_a_deleted_user_takes_own_configurations_along_and_no_others(make_user: MakeUser, groups: Groups) -> None:
    user, colleague = await make_user(), await make_user()
    for one in (user, colleague):
        await groups.join(one, 0)
    shared = await groups.config(0, "shared")
    own = await make_config(user, of_user(user), "own", is_default=True)
    await choose(user, shared)
    assert (await groups.admin.delete(f"/v3/access/users/{user.user_id}")).status_code == 204
    assert (await groups.admin.get(of_user(user))).status_code == 404
    assert (await colleague.get(of_user(colleague, f"/{own['config_id']}"))).status_code == 404
    assert await default_name(colleague) == "shared"


async def test_models_that_cannot_chat_are_no_default(make_user: MakeUser, groups: Groups) -> None:
    user = await make_user()
    await groups.join(user, 0)
    vectors = await groups.config(0, "vectors", model_type="embedding")
    chat = await groups.config(0, "chat")
    assert (await user.put(of_user(user, f"/default/{vectors['config_id']}"), json={})).status_code == 400
    await choose(user, chat)
    # one that has been chosen and cannot chat any more is passed over
    await groups.config(0, "next")
    await ok(groups.admin.put(of_group(groups.ids[0], f"/{chat['config_id']}"), json={"model_type": "vision"}))
    assert await default_name(user) == "next"
    marked = await groups.config(0, "marked", is_default=True)
    path = of_group(groups.ids[0], f"/{marked['config_id']}")
    deaf = {"model_type": "stt"}
    for body, field in ((deaf, "model_type"), (deaf | {"is_default": True}, "is_default")):
        refused = await groups.admin.put(path, json=body)
        assert (refused.status_code, refused.json()["message"].split(":")[0]) == (422, field)
    await ok(groups.admin.put(path, json=deaf | {"is_default": False}))


async def test_who_may_do_what_with_a_groups_configurations(
    make_user: MakeUser, groups: Groups, admin: UserClient
) -> None:
    group = groups.ids[0]
    member, stranger = await make_user(), await make_user()
    await groups.join(member, 0)
    auditor = await make_user(privileges=["Group.Audit"], on="/access/groups")
    manager = await make_user(privileges=["Group.Audit", "Group.Modify"], on=f"/access/groups/{group}")
    made = await groups.config(0, "shared")
    for user, reads, audits, writes in (
        (member, 200, 403, 403),
        (stranger, 403, 403, 403),
        (auditor, 200, 200, 403),
        (manager, 200, 200, 200),
        (admin, 200, 200, 200),
    ):
        for path in ("", "/default", f"/{made['config_id']}"):
            assert (await user.get(of_group(group, path))).status_code == reads
        policy = f"/v3/access/groups/{group}/llm-policy"
        assert (await user.get(policy)).status_code == audits
        assert (await user.put(policy, json={})).status_code == writes
        created = await user.post(of_group(group), json=config_body())
        assert created.status_code == (201 if writes == 200 else 403)
        config = created.json() if writes == 200 else made
        path = of_group(group, f"/{config['config_id']}")
        assert (await user.put(path, json={"model": "other"})).status_code == writes
        assert (await user.put(of_group(group, f"/default/{config['config_id']}"), json={})).status_code == writes
        assert (await user.delete(path)).status_code == (204 if writes == 200 else 403)
    assert (await manager.get(of_group(groups.ids[1]))).status_code == 403


async def test_a_groups_answers(make_user: MakeUser, groups: Groups, admin: UserClient) -> None:
    path = of_group(groups.ids[0])
    assert await ok(admin.get(path)) == {"configs": [], "default_config": None, "total": 0}
    assert (await admin.get(path + "/default")).status_code == 404
    first = await groups.config(0, "first", api_key="sk-0123456789")
    assert "source" not in first and "group_name" not in first
    assert (first["group_id"], first["user_id"], first["has_api_key"]) == (groups.ids[0], None, True)
    second = await groups.config(0, "second", is_default=True)
    assert await ok(admin.get(path)) == {"configs": [first, second], "default_config": second, "total": 2}
    elsewhere = await groups.config(1, "elsewhere")
    own = await make_config(admin, of_user(admin))
    for config_id, status in (
        (elsewhere["config_id"], 403),
        (own["config_id"], 403),
        (str(uuid.uuid4()), 404),
        ("not-a-uuid", 422),
    ):
        for answer in (
            await admin.get(f"{path}/{config_id}"),
            await admin.put(f"{path}/{config_id}", json={"model": "x"}),
            await admin.put(f"{path}/default/{config_id}", json={}),
            await admin.delete(f"{path}/{config_id}"),
        ):
            assert answer.status_code == status, answer.text
            assert answer.json()["message"]
    assert await ok(admin.get(path + "/default")) == second
    for request in (admin.get, admin.post):
        nowhere = of_group(str(uuid.uuid4()))
        answer = await (request(nowhere) if request == admin.get else request(nowhere, json=config_body()))
        assert answer.status_code == 404
    await admin.delete(of_user(admin, f"/{own['config_id']}"))


async def test_of_many_new_defaults_at_once_one_is_left(make_user: MakeUser, groups: Groups) -> None:
    user = await make_user()
    await groups.join(user, 0)
    for client, base, prefix in (
        (groups.admin, of_group(groups.ids[0]), "g"),
        (user, of_user(user), "u"),
    ):
        made = [await make_config(client, base, f"{prefix}{number}") for number in range(5)]
        answers = await asyncio.gather(
            *(client.put(f"{base}/default/{config['config_id']}", json={}) for config in made * 4)
        )
        assert {answer.status_code for answer in answers} == {200}
        listed = await ok(client.get(base))
        marked = [one for one in listed["configs"] if one["is_default"] and one["name"].startswith(prefix)]
        assert len(marked) == 1
        assert listed["default_config"]["config_id"] == marked[0]["config_id"]
