"""How much was used: recorded by user, configuration and day, and shown to those it concerns."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.ground.chat import ask
from tests.ground.llm_configs import make_config, of_group, of_user
from tests.ground.users import Accounts, UserClient, ok, unique

USAGE = "/v3/copilot/usage"
MakeUser = Callable[..., Awaitable[UserClient]]


async def test_each_members_use_of_a_shared_key_is_known(
    make_user: MakeUser, accounts: Accounts, admin: UserClient, make_project: Any
) -> None:
    group = await accounts.group(unique("group"))
    alice, bob = await make_user(role="User"), await make_user(role="User")
    shared = await make_config(admin, of_group(group), "shared")
    own = await make_config(alice, of_user(alice), "own")
    for user in (alice, bob):
        await accounts.add_to_group(user.user_id, group)
    assert await ok(alice.get(USAGE)) == {
        "usage": [],
        "total": {"turns": 0, "model_calls": 0, "input_tokens": 0, "output_tokens": 0},
    }
    project = {alice: await make_project(alice), bob: await make_project(bob)}
    turns = await asyncio.gather(
        ask(alice, project[alice], "hello", config_id=shared["config_id"]),
        ask(alice, project[alice], "hello again", config_id=shared["config_id"]),
        ask(bob, project[bob], "hello"),
        ask(alice, project[alice], "hello", config_id=own["config_id"]),
    )
    billed = [events[-1]["usage"] for events in turns]
    day = datetime.now(UTC).date().isoformat()
    for user, expected in (
        (alice, {("shared", 2, billed[0]["input_tokens"] + billed[1]["input_tokens"])}),
        (bob, {("shared", 1, billed[2]["input_tokens"])}),
    ):
        answer = await ok(user.get(USAGE))
        assert {one["user_id"] for one in answer["usage"]} == {user.user_id}
        assert {one["day"] for one in answer["usage"]} == {day}
        figures = {(one["config_name"], one["turns"], one["input_tokens"]) for one in answer["usage"]}
        assert expected <= figures
        assert answer["total"]["turns"] == sum(one["turns"] for one in answer["usage"])
    assert (await ok(alice.get(USAGE)))["total"] == {
        "turns": 3,
        "model_calls": 3,
        "input_tokens": sum(billed[number]["input_tokens"] for number in (0, 1, 3)),
        "output_tokens": sum(billed[number]["output_tokens"] for number in (0, 1, 3)),
    }
    # a superadmin sees everybody's
    everybody = await ok(admin.get(USAGE))
    assert {alice.username, bob.username} <= {one["username"] for one in everybody["usage"]}
    only_bob = await ok(admin.get(USAGE, params={"user_id": bob.user_id}))
    assert {one["username"] for one in only_bob["usage"]} == {bob.username}
    assert (await bob.get(USAGE, params={"user_id": alice.user_id})).status_code == 403
    # what was used stays known when the configuration is gone
    await alice.delete(of_user(alice, f"/{own['config_id']}"))
    assert None in {one["config_name"] for one in (await ok(alice.get(USAGE)))["usage"]}


async def test_days_can_be_chosen(make_user: MakeUser, make_project: Any) -> None:
    user = await make_user(role="User")
    await make_config(user, of_user(user))
    await ask(user, await make_project(user), "hello")
    today = datetime.now(UTC).date()
    for params, turns in (
        ({"since": today}, 1),
        ({"until": today}, 1),
        ({"since": today + timedelta(2)}, 0),
        ({"until": today - timedelta(2)}, 0),
    ):
        assert (await ok(user.get(USAGE, params=params)))["total"]["turns"] == turns
    assert (await user.get(USAGE, params={"since": "yesterday"})).status_code == 422


async def test_a_turn_that_fails_is_counted(make_user: MakeUser, make_project: Any) -> None:
    user = await make_user(role="User")
    await make_config(user, of_user(user), provider="openai", base_url="http://127.0.0.1:9/v1", api_key="sk-0123456789")
    events = await ask(user, await make_project(user), "hello")
    assert events[-1]["type"] == "error"
    total = (await ok(user.get(USAGE)))["total"]
    assert (total["turns"], total["model_calls"]) == (1, 1)
