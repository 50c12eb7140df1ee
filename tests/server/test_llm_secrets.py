"""Keys and tokens are nowhere that anybody could read them, and a lost encryption key breaks nothing but its use."""

from __future__ import annotations

import asyncio
import json
import secrets
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest
from cryptography.fernet import Fernet

from tests.conftest import StartServer
from tests.ground.chat import ask
from tests.ground.llm_configs import config_body, make_config, of_group, of_user
from tests.ground.model_script import openai_error, text
from tests.ground.model_server import ModelServer
from tests.ground.projects import Project, Projects
from tests.ground.server import GNS3Server
from tests.ground.users import Accounts, UserClient, log_in_admin, ok

KEY_FILE = "copilot_encryption_key"


class Bench:
    """A server of the test's own that logs everything, a group with a configuration, and a member with one, too."""

    def __init__(self, server: GNS3Server, admin: UserClient, accounts: Accounts, projects: Projects) -> None:
        self.server = server
        self.admin = admin
        self.accounts = accounts
        self.projects = projects
        self.group_key, self.own_key = (f"sk-grep-{secrets.token_hex(16)}" for _ in range(2))
        self.seen: list[str] = []
        self.user: UserClient
        self.project: Project
        self.group: str
        self.inherited: dict[str, Any]
        self.own: dict[str, Any]

    async def set_up(self, base_url: str) -> None:
        self.group = await self.accounts.group("students")
        self.user = await self.accounts.make_user(role="User")
        await self.accounts.add_to_group(self.user.user_id, self.group)
        self.project = await self.projects.make(self.user)
        at = {"provider": "openai", "base_url": base_url}
        self.inherited = await make_config(self.admin, of_group(self.group), "g", api_key=self.group_key, **at)
        self.own = await make_config(self.user, of_user(self.user), "own", api_key=self.own_key, **at)

    @property
    def key_file(self) -> Path:
        return self.server.database_path.parent / KEY_FILE

    async def request(self, client: UserClient, method: str, path: str, **options: Any) -> Any:
        """Send a request, remember its answer, and give it."""
        answer = await client.request(method, path, **options)
        self.seen.append(answer.text + str(answer.headers))
        return answer

    async def lists(self) -> list[dict[str, Any]]:
        """Get every view of the configurations, all of which must be there, and give the user's list."""
        for client, path in (
            (self.user, of_user(self.user, "/own")),
            (self.user, of_user(self.user, "/default")),
            (self.user, of_user(self.user, f"/{self.inherited['config_id']}")),
            (self.user, of_group(self.group)),
            (self.admin, of_group(self.group, f"/{self.inherited['config_id']}")),
            (self.admin, of_user(self.user)),
        ):
            assert (await self.request(client, "GET", path)).status_code == 200
        answer = await self.request(self.user, "GET", of_user(self.user))
        assert answer.status_code == 200
        configs = answer.json()["configs"]
        assert isinstance(configs, list)
        return configs

    async def turn(self, config: dict[str, Any]) -> dict[str, Any]:
        """Ask for a turn and give its last event."""
        events = await ask(self.user, self.project, "hello", config_id=config["config_id"])
        self.seen.append(json.dumps(events))
        return events[-1]

    async def refused_turn(self, config: dict[str, Any]) -> tuple[int, str]:
        """Ask for a turn that cannot begin."""
        body = {"message": "hello", "config_id": config["config_id"]}
        answer = await self.request(self.user, "POST", f"{self.project.chat}/stream", json=body)
        return answer.status_code, answer.json()["message"]

    def files(self) -> Iterator[Path]:
        """Yield the files in which anything could have been left."""
        yield from (file for file in self.server.database_path.parent.rglob("*") if file.is_file())
        yield from (file for file in self.server.projects_path.rglob("*") if file.is_file())

    def search(self, *more: str) -> None:
        """Fail when a key or a token is anywhere."""
        wanted = [self.group_key, self.own_key, self.user.token, self.admin.token, *more]
        log = self.server.log()
        assert " DEBUG " in log or "DEBUG" in log
        places = {"the answers": "\n".join(self.seen), "the log": log}
        places |= {str(file): file.read_bytes().decode("latin-1") for file in self.files()}
        assert any(name.endswith("copilot_checkpoints.db") for name in places)
        assert any(name.endswith("gns3_controller.db") for name in places)
        assert [(place, one[:12]) for place, content in places.items() for one in wanted if one in content] == []


@pytest.fixture
async def bench(start_gns3_server: StartServer, model_server: ModelServer) -> AsyncIterator[Bench]:
    server = await asyncio.to_thread(start_gns3_server, debug=True)
    server.expect_traceback(r"openai\.\w+Error")  # what providers' clients raise is in the log at DEBUG
    model_server.always(text("hello"))
    async with aclosing(await log_in_admin(server)) as admin:
        accounts = Accounts(admin)
        made = Bench(server, admin, accounts, Projects(admin))
        await made.set_up(model_server.base_url)
        yield made
        await accounts.aclose()


async def test_keys_and_tokens_are_nowhere(bench: Bench, model_server: ModelServer) -> None:
    await bench.lists()
    for config, key in ((bench.own, bench.own_key), (bench.inherited, bench.group_key)):
        answers = [text("hello"), text("one two three", pieces=3).cut(after=1)]
        # providers that say which key they refuse, in every way that a client may raise
        words = f"The key {key} is wrong"
        answers += [openai_error(status, words) for status in (400, 401, 403, 404, 422, 500)]
        answers += [openai_error(429, words, "insufficient_quota")]
        model_server.script_for(key, *answers)
        kinds = [(await bench.turn(config))["type"] for _ in answers]
        assert kinds == ["done"] + ["error"] * (len(answers) - 1)
        assert model_server.last_request.key == key
    # a member's own configuration without a key gets none, least of all the group's
    at = {"provider": "openai", "base_url": bench.own["config"]["base_url"]}
    bare = await make_config(bench.user, of_user(bench.user), **at)
    await bench.turn(bare)
    assert not any(key in str(model_server.last_request.headers) for key in (bench.group_key, bench.own_key))
    own, group = of_user(bench.user), of_group(bench.group)
    key = bench.own_key
    for client, path in ((bench.user, own), (bench.admin, group)):
        config = bench.own if client is bench.user else bench.inherited
        one = f"{path}/{config['config_id']}"
        for body in (
            config_body(api_key=key, temperature=9),
            config_body(api_key=key, context_limit=None),
            config_body(api_key=[key]),
            config_body(openai_api_key=key),
            config_body(headers={"Authorization": f"Bearer {bench.user.token}"}),
            config_body(base_url=f"https://x:{key}@host/"),
            config_body(base_url=f"https://host/?api_key={key}"),
            config_body(provider=key),
            {key: key, "context_limit": key},
            [key],
            key,
        ):
            for method, where in (("POST", path), ("PUT", one)):
                answer = await bench.request(client, method, where, json=body)
                assert answer.status_code == 422, answer.text
        for content in (f'{{"api_key": "{key}"', f"{key}"):
            headers = {"Content-Type": "application/json"}
            assert (await bench.request(client, "PUT", one, content=content, headers=headers)).status_code == 422
        assert (await bench.request(client, "PUT", one, json={"base_url": "https://elsewhere"})).status_code == 422
        changed = await bench.request(client, "PUT", one, json={"api_key": key, "expected_version": 99})
        assert changed.status_code == 409
        taken = await bench.request(client, "POST", path, json=config_body(config["name"], api_key=key))
        assert taken.status_code == 409
    bench.search()


async def test_a_failure_of_the_database_gives_no_key_away(bench: Bench) -> None:
    await bench.turn(bench.own)
    with sqlite3.connect(bench.server.database_path) as database:
        database.execute("ALTER TABLE copilot_llm_configs RENAME TO gone")
    for client, path in ((bench.user, of_user(bench.user)), (bench.admin, of_group(bench.group))):
        answer = await bench.request(client, "POST", path, json=config_body(api_key=bench.own_key))
        assert answer.status_code == 503
        assert answer.json()["message"].startswith("gns3-server's database is busy or cannot be used.")
    with sqlite3.connect(bench.server.database_path) as database:
        database.execute("ALTER TABLE gone RENAME TO copilot_llm_configs")
    bench.search()


async def test_the_encryption_key_itself_is_shown_nowhere(bench: Bench) -> None:
    await bench.lists()
    await bench.turn(bench.own)
    key = bench.key_file.read_text().strip()
    bench.key_file.write_text(key + "\ndamaged")
    await bench.lists()
    bench.seen.append(str(await bench.refused_turn(bench.own)))
    bench.key_file.unlink()
    bench.search(key)


# -- a lost encryption key


def _remove(file: Path) -> None:
    file.unlink()


def _empty(file: Path) -> None:
    file.write_text("")


def _replace(file: Path) -> None:
    file.write_text(Fernet.generate_key().decode())


def _truncate(file: Path) -> None:
    file.write_text(file.read_text()[:20])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("damage", "status", "advice"),
    [
        (_remove, 400, "Enter the API key again"),
        (_replace, 400, "Enter the API key again"),
        (_empty, 503, "Restore it, or remove it and enter all API keys again"),
        (_truncate, 503, "Restore it, or remove it and enter all API keys again"),
    ],
)
async def test_with_a_lost_encryption_key_the_server_starts_and_says_what_to_do(
    bench: Bench, model_server: ModelServer, damage: Any, status: int, advice: str
) -> None:
    kept = bench.key_file.read_text()
    assert [one["key_error"] for one in await bench.lists()] == [False, False]
    bench.server.kill()
    damage(bench.key_file)
    await asyncio.to_thread(bench.server.start)
    await ok(bench.user.post(f"/v3/projects/{bench.project.project_id}/open"))
    for one in await bench.lists():
        assert (one["has_api_key"], one["key_error"]) == (True, True)
    for config in (bench.own, bench.inherited):
        found, message = await bench.refused_turn(config)
        assert (found, advice in message) == (status, True), message
    # another model's use, changes of other fields and deletions go on
    offline = await make_config(bench.user, of_user(bench.user))
    assert (await bench.turn(offline))["type"] == "done"
    path = of_user(bench.user, f"/{bench.own['config_id']}")
    changed = await bench.request(bench.user, "PUT", path, json={"model": "other"})
    assert (changed.status_code, changed.json()["key_error"]) == (200, True)
    # a key that was lost may be another's loss: it is not replaced by a new one until somebody stores a key
    if status == 400:
        again = await bench.request(bench.user, "PUT", path, json={"api_key": bench.own_key})
        assert (again.status_code, again.json()["key_error"]) == (200, False)
        model_server.script_for(bench.own_key, text("hello"))
        assert (await bench.turn(bench.own))["type"] == "done"
        states = {one["name"]: one["key_error"] for one in await bench.lists()}
        assert (states["own"], states["g"]) == (False, True)
    else:
        refused = await bench.request(bench.user, "PUT", path, json={"api_key": bench.own_key})
        assert (refused.status_code, advice in refused.json()["message"]) == (503, True)
        bench.key_file.write_text(kept)
        assert [one["key_error"] for one in await bench.lists()] == [False, False, False]
    bench.search()
