"""Changes of configurations: merged into what is stored, locked by version, and as the web UI sends them."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tests.ground.llm_configs import config_body, make_config, of_group, of_user
from tests.ground.users import Accounts, UserClient, ok, unique

KEY = "sk-grep-for-this-key-0001"
LAB = "lab_automation_assistant"
URL = "https://llm.example.com/v1"
MakeUser = Callable[..., Awaitable[UserClient]]


class Scope:
    """A place for configurations, and somebody who may change them there."""

    def __init__(self, client: UserClient, path: str) -> None:
        self.client = client
        self.path = path

    async def make(self, name: str = "main", **fields: Any) -> dict[str, Any]:
        return await make_config(self.client, self.path, name, **{"provider": "openai", "model": "gpt"} | fields)

    async def put(self, config: dict[str, Any], body: Any, **headers: str) -> Any:
        return await self.client.put(f"{self.path}/{config['config_id']}", json=body, headers=headers)

    async def get(self, config: dict[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = await ok(self.client.get(f"{self.path}/{config['config_id']}"))
        return found


@pytest.fixture(params=["user", "group"])
async def scope(request: pytest.FixtureRequest, make_user: MakeUser, accounts: Accounts, admin: UserClient) -> Scope:
    if request.param == "user":
        user = await make_user()
        return Scope(user, of_user(user))
    return Scope(admin, of_group(await accounts.group(unique("group"))))


def web_ui_form(config: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """Give what the web UI's edit form sends: the whole object, flat, what it does not know as strings, and no key."""
    known = {"provider", "base_url", "model", "temperature", "context_limit", "context_strategy", "copilot_mode"}
    inner = config["config"]
    form = {"name": config["name"], "model_type": config["model_type"], "is_default": config["is_default"]}
    form |= {name: inner[name] for name in known}
    custom = {name: value for name, value in inner.items() if name not in known | {"api_key", "max_tokens"}}

    def text(value: Any) -> str:
        if value is None or isinstance(value, bool):
            return {None: "null", True: "true", False: "false"}[value]
        if isinstance(value, list):
            return ",".join(map(text, value))
        return "[object Object]" if isinstance(value, dict) else str(value)

    return form | {name: text(value) for name, value in custom.items()} | changes


# -- merging


async def test_a_change_leaves_what_it_does_not_carry(scope: Scope) -> None:
    made = await scope.make(base_url=URL, api_key=KEY, temperature=0.3, max_tokens=99, top_p="0.9", copilot_mode=LAB)
    changed = await scope.put(made, {"model": "other"})
    assert changed.status_code == 200
    assert changed.headers["ETag"] == '"1"'
    answer = changed.json()
    assert answer["config"] == made["config"] | {"model": "other"}
    assert (answer["version"], answer["has_api_key"], answer["name"]) == (1, True, "main")
    assert answer["updated_at"] > made["updated_at"] == made["created_at"] == answer["created_at"]
    assert await scope.get(made) == answer


async def test_values_can_be_cleared(scope: Scope) -> None:
    made = await scope.make(temperature=0.3, max_tokens=99, base_url=URL, note="x")
    for null in (None, "", "null"):
        await ok(scope.put(made, {"temperature": 0.3, "max_tokens": 99}))
        answer = await ok(scope.put(made, {"temperature": null, "max_tokens": null}))
        assert (answer["config"]["temperature"], answer["config"]["max_tokens"]) == (None, None)
    answer = await ok(scope.put(made, {"base_url": None, "note": None}))
    assert answer["config"]["base_url"] == ""
    assert "note" not in answer["config"]


async def test_wrong_fields_are_named_and_nothing_is_written(scope: Scope) -> None:
    made = await scope.make(max_tokens=5)
    for wrong, field in (
        ({"temperature": 2.1}, "temperature"),
        ({"max_tokens": -1}, "max_tokens"),
        ({"max_tokens": "many"}, "max_tokens"),
        ({"context_limit": 10_001}, "context_limit"),
        ({"context_limit": None}, "context_limit"),
        ({"name": None}, "name"),
        ({"name": "", "model": "good"}, "name"),
        ({"provider": "acme"}, "provider"),
        ({"copilot_mode": "troubleshooting_injection"}, "copilot_mode"),
        ({"has_api_key": True}, "has_api_key"),
        ({"my_token": KEY}, "my_token"),
        ({"aws_access_key_id": KEY}, "aws_access_key_id"),
        ({"expected_version": "latest"}, "expected_version"),
        ({f"field{number}": "x" for number in range(51)}, "custom fields"),
    ):
        answer = await scope.put(made, wrong)
        assert answer.status_code == 422, answer.text
        assert answer.json()["message"].startswith(f"{field}: ")
        assert KEY not in answer.text
    assert await scope.get(made) == made


async def test_a_name_that_is_taken_is_refused(scope: Scope) -> None:
    made, other = await scope.make("first"), await scope.make("second")
    answer = await scope.put(other, {"name": "first"})
    assert (answer.status_code, "name" in answer.json()["message"]) == (409, True)
    assert await scope.get(other) == other
    assert (await scope.put(made, {"name": "first"})).status_code == 200


# -- keys


async def test_the_key_stays_goes_or_changes_as_the_request_says(scope: Scope) -> None:
    made = await scope.make(api_key=KEY, base_url=URL)
    assert (await ok(scope.put(made, {"model": "a"})))["has_api_key"] is True
    for nothing in (None, ""):
        await ok(scope.put(made, {"api_key": KEY}))
        assert (await ok(scope.put(made, {"api_key": nothing})))["has_api_key"] is False
    for masked in ("*" * 8, "****0001", "•••0001"):
        answer = await scope.put(made, {"api_key": masked})
        assert (answer.status_code, answer.json()["message"].startswith("api_key: ")) == (422, True)
    assert (await scope.get(made))["has_api_key"] is False


@pytest.mark.parametrize(
    "moved",
    [
        {"base_url": "https://attacker.example.com/v1"},
        {"base_url": "http://llm.example.com/v1"},
        {"base_url": "https://llm.example.com:8443/v1"},
        {"base_url": ""},
        {"provider": "anthropic"},
        {"provider": "ollama"},
    ],
)
async def test_a_stored_key_is_never_redirected(scope: Scope, moved: dict[str, str]) -> None:
    made = await scope.make(api_key=KEY, base_url=URL)
    answer = await scope.put(made, moved)
    assert answer.status_code == 422
    assert answer.json()["message"].startswith("api_key: ")
    assert await scope.get(made) == made
    again = await ok(scope.put(made, moved | {"api_key": KEY}))
    assert again["config"] == made["config"] | moved


async def test_what_moves_no_key_needs_none(scope: Scope) -> None:
    made = await scope.make(api_key=KEY, base_url=URL)
    for base_url in (URL, "https://llm.example.com:443/v1", "https://LLM.example.com/v2"):
        assert (await scope.put(made, {"base_url": base_url, "provider": "openai"})).status_code == 200
    # without the key it may go anywhere
    await ok(scope.put(made, {"base_url": "https://other.example.com", "api_key": ""}))
    await ok(scope.put(made, {"base_url": URL, "provider": "anthropic"}))


async def test_aws_credentials_are_kept_like_the_key(scope: Scope) -> None:
    secrets = {"aws_access_key_id": "AKIA0123456789", "aws_secret_access_key": KEY}
    made = await scope.make(provider="aws", region_name="eu-west-1", **secrets)
    assert made["has_api_key"] is True
    assert all(name not in made["config"] for name in secrets)
    kept = await ok(scope.put(made, {"model": "other", "aws_access_key_id": "AKIA9876543210"}))
    assert kept["has_api_key"] is True
    moved = await scope.put(made, {"base_url": "https://attacker.example.com"})
    assert (moved.status_code, moved.json()["message"].split(":")[0]) == (422, "aws_access_key_id")
    gone = await ok(scope.put(made, dict.fromkeys(secrets)))
    assert gone["has_api_key"] is False
    await ok(scope.put(made, secrets))
    # another provider has no use for them
    assert (await ok(scope.put(made, {"provider": "openai"})))["has_api_key"] is False


# -- as the web UI sends it


async def test_an_edit_in_the_web_ui_changes_what_was_edited_and_nothing_else(scope: Scope) -> None:
    custom = {
        "top_p": "0.9",
        "num_ctx": 4096,
        "ratio": 1.5,
        "seed": None,
        "logprobs": True,
        "stop": ["a", "b"],
        "extra": {"nested": [1]},
    }
    made = await scope.make(api_key=KEY, base_url="", temperature=None, max_tokens=77, is_default=True, **custom)
    answer = await ok(scope.put(made, web_ui_form(made, model="other")))
    assert answer["config"] == made["config"] | {"model": "other"}
    assert (answer["has_api_key"], answer["is_default"], answer["version"]) == (True, True, 1)
    edited = await ok(scope.put(made, web_ui_form(made, num_ctx="8192", max_tokens="100", temperature=None)))
    assert edited["config"]["num_ctx"] == "8192"
    assert (edited["config"]["max_tokens"], edited["config"]["temperature"]) == (100, None)
    # a row that was deleted in the form is absent, and stays
    form = web_ui_form(edited)
    del form["top_p"]
    assert (await ok(scope.put(made, form)))["config"]["top_p"] == "0.9"


async def test_the_default_is_switched_on_and_off(scope: Scope) -> None:
    first, second = await scope.make("first"), await scope.make("second", is_default=True)
    listed = await ok(scope.client.get(scope.path))
    assert [one["is_default"] for one in listed["configs"]] == [False, True]
    on = await scope.client.put(f"{scope.path}/default/{first['config_id']}", json={})
    assert (on.status_code, on.json()["is_default"], on.json()["config_id"]) == (200, True, first["config_id"])
    assert (await scope.get(second))["is_default"] is False
    off = await scope.put(first, {"is_default": False})
    assert (off.status_code, off.json()["is_default"]) == (200, False)
    listed = await ok(scope.client.get(scope.path))
    assert [one["is_default"] for one in listed["configs"]] == [False, False]
    assert listed["default_config"]["config_id"] == first["config_id"]  # the oldest
    # an edit of the other, with the flag that the form was opened with, switches nothing on
    await ok(scope.put(second, web_ui_form(second, is_default=False)))
    assert (await ok(scope.put(second, {"is_default": True})))["is_default"] is True
    assert (await ok(scope.client.get(scope.path)))["default_config"]["config_id"] == second["config_id"]


async def test_a_mode_switch_in_the_chat_panel(make_user: MakeUser) -> None:
    user = await make_user()
    own = await make_config(user, of_user(user), "own")
    answer = await ok(user.put(of_user(user, f"/{own['config_id']}"), json={"copilot_mode": LAB}))
    assert answer["config"] == own["config"] | {"copilot_mode": LAB}
    assert (answer["source"], answer["version"]) == ("user", 1)


async def test_an_edit_while_an_inherited_default_is_chosen_keeps_the_choice(
    make_user: MakeUser, admin: UserClient, accounts: Accounts
) -> None:
    user, group = await make_user(), await accounts.group(unique("group"))
    await accounts.add_to_group(user.user_id, group)
    inherited = await make_config(admin, of_group(group), "inherited")
    own = await make_config(user, of_user(user), "own", is_default=True)
    await ok(user.put(of_user(user, f"/default/{inherited['config_id']}"), json={}))
    shown = (await ok(user.get(of_user(user))))["configs"][0]
    assert shown["is_default"] is False
    await ok(user.put(of_user(user, f"/{own['config_id']}"), json=web_ui_form(shown, model="other")))
    assert (await ok(user.get(of_user(user))))["default_config"]["config_id"] == inherited["config_id"]
    # the star of the own row: one click, and it is the default
    await ok(user.put(of_user(user, f"/default/{own['config_id']}"), json={}))
    listed = await ok(user.get(of_user(user)))
    assert listed["default_config"]["config_id"] == own["config_id"]
    assert listed["configs"][0]["is_default"] is True


# -- optimistic locking


async def test_of_twenty_writers_who_saw_the_same_version_one_wins(scope: Scope) -> None:
    made = await scope.make()
    answers = await asyncio.gather(
        *(scope.put(made, {"model": f"model-{number}", "expected_version": 0}) for number in range(20))
    )
    assert sorted(answer.status_code for answer in answers) == [200] + [409] * 19
    now = await scope.get(made)
    [won] = [answer.json() for answer in answers if answer.status_code == 200]
    assert now == won
    assert now["version"] == 1
    assert all("its version is 1" in answer.json()["message"] for answer in answers if answer.status_code == 409)


async def test_without_a_version_every_change_gets_in_and_none_takes_another_away(scope: Scope) -> None:
    made = await scope.make()
    answers = await asyncio.gather(*(scope.put(made, {f"field{number}": number}) for number in range(20)))
    assert {answer.status_code for answer in answers} == {200}
    now = await scope.get(made)
    assert now["version"] == 20
    assert {f"field{number}": number for number in range(20)}.items() <= now["config"].items()


async def test_every_way_to_name_the_expected_version(scope: Scope) -> None:
    made = await scope.make()
    for body, headers, status in (
        ({"model": "a", "expected_version": 1}, {}, 409),
        ({"model": "a"}, {"If-Match": '"1"'}, 409),
        ({"model": "a", "expected_version": "0"}, {}, 200),
        ({"model": "a"}, {"If-Match": '"1"'}, 200),
        ({"model": "a"}, {"If-Match": "2"}, 200),
        ({"model": "a"}, {"If-Match": "*"}, 200),
        ({"model": "a", "expected_version": None}, {}, 200),
        ({"model": "a", "expected_version": 5}, {"If-Match": '"6"'}, 422),
        ({"model": "a"}, {"If-Match": '"x"'}, 422),
    ):
        answer = await scope.put(made, body, **headers)
        assert answer.status_code == status, (body, headers, answer.text)
        assert answer.headers.get("ETag") == (f'"{answer.json()["version"]}"' if status == 200 else None)
    assert (await scope.get(made))["version"] == 5


async def test_a_deletion_is_locked_too(scope: Scope) -> None:
    made = await scope.make()
    path = f"{scope.path}/{made['config_id']}"
    await ok(scope.put(made, {"model": "newer"}))
    by_body = await scope.client.request("DELETE", path, json={"expected_version": 0})
    by_header = await scope.client.delete(path, headers={"If-Match": '"0"'})
    by_query = await scope.client.delete(path, params={"expected_version": 0})
    for refused in (by_body, by_header, by_query):
        assert (refused.status_code, "its version is 1" in refused.json()["message"]) == (409, True)
    contradictory = await scope.client.delete(path, params={"expected_version": 1}, headers={"If-Match": '"0"'})
    assert contradictory.status_code == 422
    assert (await scope.client.delete(path, headers={"If-Match": '"1"'})).status_code == 204
    assert (await scope.client.delete(path)).status_code == 404
    assert (await scope.put(made, {"model": "x"})).status_code == 404


async def test_of_a_deletion_and_changes_at_once_no_error_remains(scope: Scope) -> None:
    made = await scope.make()
    path = f"{scope.path}/{made['config_id']}"
    answers = await asyncio.gather(
        *(scope.put(made, {"model": f"m{number}"}) for number in range(5)), *(scope.client.delete(path) for _ in "ab")
    )
    assert {answer.status_code for answer in answers} <= {200, 204, 404}
    assert [answer.status_code for answer in answers].count(204) == 1


async def test_requests_for_others_configurations(make_user: MakeUser, admin: UserClient) -> None:
    owner, other = await make_user(), await make_user()
    auditor = await make_user(privileges=["User.Audit"], on="/access/users")
    manager = await make_user(privileges=["User.Audit", "User.Modify"], on="/access/users")
    for user, status in ((other, 403), (auditor, 403), (manager, 200), (admin, 200)):
        made = await make_config(owner, of_user(owner))
        path = of_user(owner, f"/{made['config_id']}")
        assert (await user.put(path, json={"model": "x"})).status_code == status
        assert (await user.delete(path)).status_code == (204 if status == 200 else 403)
        # not through the own path either
        assert (await other.put(of_user(other, f"/{made['config_id']}"), json={})).status_code in (403, 404)
    nobody = str(uuid.uuid4())
    assert (await admin.put(of_user(nobody, f"/{nobody}"), json={})).status_code == 404
    assert (await admin.delete(of_user(nobody, f"/{nobody}"))).status_code == 404
    assert (await owner.put(of_user(owner, f"/{nobody}"), json={})).status_code == 404
    assert (await owner.post(of_user(owner), json=config_body("x", expected_version=1))).status_code == 422
