"""Reading that nobody waits for any more leaves no lock on gns3-server's database.

A lock that is left would make every write of the server fail with "database is locked".
"""

from __future__ import annotations

import asyncio
import gc
import sqlite3
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing

import pytest

from gns3server_copilot.gns3.client import GNS3Client
from gns3server_copilot.gns3.login import user_of
from gns3server_copilot.llm.policies import PolicyStore
from gns3server_copilot.schemas.identity import ProjectRef
from tests.ground.users import UserClient
from tests.unit.in_process import InProcessServer

pytestmark = pytest.mark.asyncio(loop_scope="session")

READERS = 8
ROUNDS = 15
LONGEST = 0.03
UNKNOWN = "11111111-2222-3333-4444-555555555555"


@pytest.fixture(autouse=True)
def no_collection() -> Iterator[None]:
    """What is left stays left: a collection of garbage in time would hide it."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.parametrize("kind", ["answer", "canvas", "login", "policy"])
async def test_a_cancelled_read_leaves_no_lock(
    app_server: InProcessServer, app_admin: UserClient, app_client: GNS3Client, app_project: ProjectRef, kind: str
) -> None:
    project_id = app_project.project_id
    engine = app_server.app.state._db_engine  # type: ignore[attr-defined]
    reads: dict[str, Callable[[], Awaitable[object]]] = {
        "answer": lambda: app_client.get(f"/projects/{project_id}/nodes"),
        "canvas": lambda: app_client.canvas(project_id),
        "login": lambda: user_of(app_server.app, app_admin.token),
        "policy": lambda: PolicyStore(engine).is_member(UNKNOWN, UNKNOWN),
    }

    async def left(seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                while True:
                    await reads[kind]()
        except TimeoutError:
            pass

    for round_ in range(ROUNDS):
        await asyncio.gather(
            *(left(LONGEST * (1 + round_ * READERS + reader) / (ROUNDS * READERS)) for reader in range(READERS))
        )
        await asyncio.to_thread(_write, engine.url.database)


def _write(path: str) -> None:
    with closing(sqlite3.connect(path, timeout=10, isolation_level=None)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        connection.execute("ROLLBACK")
