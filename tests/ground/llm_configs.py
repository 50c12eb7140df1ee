"""LLM configurations of users and groups over HTTP, as clients ask for them."""

from __future__ import annotations

from typing import Any

import httpx

from tests.ground.users import UserClient, ok, unique


def of_user(user: UserClient | str, rest: str = "") -> str:
    """Give the path of a user's configurations."""
    user_id = user if isinstance(user, str) else user.user_id
    return f"/v3/access/users/{user_id}/llm-model-configs{rest}"


def of_group(group_id: str, rest: str = "") -> str:
    """Give the path of a group's configurations."""
    return f"/v3/access/groups/{group_id}/llm-model-configs{rest}"


def policy_of(group_id: str) -> str:
    """Give the path of a group's policy."""
    return f"/v3/access/groups/{group_id}/llm-policy"


def config_body(name: str | None = None, **fields: Any) -> dict[str, Any]:
    """Give a request for a configuration; of the offline model unless `fields` say otherwise."""
    return {
        "name": name or unique("config"),
        "model_type": "text",
        "provider": "offline",
        "model": "offline",
        "context_limit": 128,
        **fields,
    }


async def make_config(client: UserClient, path: str, name: str | None = None, **fields: Any) -> dict[str, Any]:
    """Create a configuration below `path` and give it."""
    made: dict[str, Any] = await ok(client.post(path, json=config_body(name, **fields)))
    return made


async def default_name(user: UserClient) -> str | None:
    """Give the name of a user's effective default, which the list and `/default` agree on; None when there is none."""
    listed = (await ok(user.get(of_user(user))))["default_config"]
    answer: httpx.Response = await user.get(of_user(user, "/default"))
    assert answer.status_code == (404 if listed is None else 200)
    if listed is None:
        return None
    assert answer.json() == listed
    name = listed["name"]
    assert isinstance(name, str)
    return name
