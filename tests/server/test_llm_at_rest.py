"""Configurations at rest: their keys are rotated beside a busy server, and the stock server leaves them alone."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import StartServer
from tests.ground.chat import ask
from tests.ground.llm_configs import make_config, of_user
from tests.ground.model_script import text
from tests.ground.model_server import ModelServer
from tests.ground.projects import Projects
from tests.ground.server import GNS3Server
from tests.ground.users import UserClient, log_in_admin, ok

KEY_FILE = "copilot_encryption_key"


class Bench:
    """A server of the test's own whose admin has configurations."""

    def __init__(self, server: GNS3Server, admin: UserClient, base_url: str) -> None:
        self.server = server
        self.admin = admin
        self.base_url = base_url

    def keys(self, action: str) -> subprocess.Popen[str]:
        """Start `gns3server-copilot keys`, as an administrator would beside the running server."""
        command = Path(sys.executable).with_name("gns3server-copilot")
        return subprocess.Popen(
            [str(command), "keys", "--config", str(self.server.config_path), action],
            env=self.server.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    async def run_keys(self, action: str) -> tuple[int, str]:
        process = self.keys(action)
        output, _ = await asyncio.to_thread(process.communicate, timeout=60)
        return process.returncode, output

    async def make(self, count: int) -> list[dict[str, Any]]:
        at = {"provider": "openai", "base_url": self.base_url}
        return [await make_config(self.admin, of_user(self.admin), api_key=f"sk-{n:08}", **at) for n in range(count)]

    async def broken(self) -> list[str]:
        """Give the names of the configurations whose key cannot be decrypted."""
        return [one["name"] for one in (await ok(self.admin.get(of_user(self.admin))))["configs"] if one["key_error"]]

    @property
    def file(self) -> list[str]:
        """The keys in the key file."""
        return (self.server.database_path.parent / KEY_FILE).read_text().split()


@pytest.fixture
async def bench(start_gns3_server: StartServer, model_server: ModelServer) -> AsyncIterator[Bench]:
    server = await asyncio.to_thread(start_gns3_server)
    model_server.always(text("hello"))
    async with aclosing(await log_in_admin(server)) as admin:
        yield Bench(server, admin, model_server.base_url)


async def test_a_rotation_beside_a_server_that_is_used_loses_nothing(bench: Bench, model_server: ModelServer) -> None:
    configs = await bench.make(8)
    project = await Projects(bench.admin).make()
    wanted: dict[str, str] = {one["config_id"]: f"sk-{number:08}" for number, one in enumerate(configs)}
    done = asyncio.Event()

    async def change(config_id: str) -> None:
        turn = 0
        while not done.is_set():
            turn += 1
            key = f"sk-{config_id[:8]}-{turn}"
            await ok(bench.admin.put(of_user(bench.admin, f"/{config_id}"), json={"api_key": key}))
            wanted[config_id] = key
            assert await bench.broken() == []

    async def chat(config_id: str) -> None:
        while not done.is_set():
            events = await ask(bench.admin, project, "hello", config_id=config_id)
            assert events[-1]["type"] == "done", events[-1]

    async def rotate() -> None:
        try:
            for _ in range(3):
                before = bench.file
                status, output = await bench.run_keys("rotate")
                assert status == 0, output
                assert len(bench.file) == 1
                assert bench.file != before
                assert all(key not in output for key in before + bench.file)
        finally:
            done.set()

    ids = list(wanted)
    await asyncio.gather(rotate(), *map(change, ids[:3]), *map(chat, ids[3:5]))
    assert await bench.broken() == []
    for config_id, key in wanted.items():
        assert (await ask(bench.admin, project, "hello", config_id=config_id))[-1]["type"] == "done"
        assert model_server.last_request.key == key
    status, output = await bench.run_keys("status")
    assert status == 0
    assert "8 encrypted with the newest key, 0 with an older one" in output
    bench.server.kill()
    await asyncio.to_thread(bench.server.start)
    assert await bench.broken() == []


@pytest.mark.slow
async def test_a_kill_at_any_moment_leaves_everything_readable(bench: Bench) -> None:
    await bench.make(10)
    begun = time.monotonic()
    await bench.run_keys("rotate")
    whole = time.monotonic() - begun
    for number in range(8):
        process = bench.keys("rotate")
        # from the middle, before which it only imports, to the end
        await asyncio.sleep(whole * (0.5 + number / 16))
        process.kill()
        await asyncio.to_thread(process.communicate)
        assert await bench.broken() == []
    status, output = await bench.run_keys("rotate")
    assert status == 0, output
    assert "10 are now encrypted with the newest key" in output
    assert len(bench.file) == 1
    assert await bench.broken() == []


async def test_the_command_says_what_cannot_be_decrypted(bench: Bench) -> None:
    [config] = await bench.make(1)
    (bench.server.database_path.parent / KEY_FILE).unlink()
    for action in ("status", "rotate"):
        status, output = await bench.run_keys(action)
        assert status == 1
        assert (config["name"] if action == "status" else "none to rotate") in output
    assert await bench.broken() == [config["name"]]


async def test_the_stock_server_runs_on_the_same_database_and_nothing_is_lost(
    bench: Bench, model_server: ModelServer
) -> None:
    await bench.make(2)
    gone = await ok(bench.admin.post("/v3/access/users", json={"username": "gone", "password": "pass word 1"}))
    theirs = await make_config(bench.admin, of_user(gone["user_id"]), api_key="sk-01234567")
    before = await ok(bench.admin.get(of_user(bench.admin)))
    bench.server.kill()
    bench.server.copilot = False
    await asyncio.to_thread(bench.server.start)
    assert (await bench.admin.get(of_user(bench.admin))).status_code == 404
    assert (await bench.admin.get("/v3/access/users/me")).status_code == 200
    # its own tables can be written to, and what it deletes takes along what is ours
    await ok(bench.admin.post("/v3/access/groups", json={"name": "new"}))
    assert (await bench.admin.delete(f"/v3/access/users/{gone['user_id']}")).status_code == 204
    bench.server.kill()
    bench.server.copilot = True
    await asyncio.to_thread(bench.server.start)
    assert await ok(bench.admin.get(of_user(bench.admin))) == before
    assert await bench.broken() == []
    assert (await bench.admin.get(of_user(bench.admin, f"/{theirs['config_id']}"))).status_code == 404
    project = await Projects(bench.admin).make()
    assert (await ask(bench.admin, project, "hello"))[-1]["type"] == "done"
    assert model_server.last_request.key == "sk-00000000"
