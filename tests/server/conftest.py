"""What the tests of this folder share: a configuration of the admin's, a compute that can be held, and a second server
that is quick to send heartbeats and to give turns up."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from tests.conftest import check_log
from tests.ground.chat import configure_model
from tests.ground.held_compute import HeldCompute, held_compute
from tests.ground.model_server import ModelServer
from tests.ground.server import GNS3Server
from tests.ground.users import UserClient

#: The login of the server's compute API, as (user, password).
COMPUTE_LOGIN = ("gns3", "password-of-the-compute")
#: Seconds of the settings that tests wait for.
HEARTBEAT = 0.3
DETACHED = 1.5
#: Turns that the server runs at once.
MOST_TURNS = 8


@pytest.fixture
async def config(admin: UserClient, model_server: ModelServer) -> dict[str, Any]:
    """The admin's default configuration, which points at the model server."""
    return await configure_model(admin, model_server)


@pytest.fixture
async def held(admin: UserClient) -> AsyncIterator[HeldCompute]:
    """A compute whose answers a test can hold back."""
    async with held_compute(admin) as compute:
        yield compute


@pytest.fixture(scope="session")
def brisk_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GNS3Server]:
    """The server. A module whose tests are all to use it has `shared_server` give it."""
    settings = {"heartbeat_seconds": HEARTBEAT, "detached_turn_seconds": DETACHED, "max_turns": MOST_TURNS}
    conf = {"Server": dict(zip(("compute_username", "compute_password"), COMPUTE_LOGIN, strict=True))}
    server = GNS3Server(tmp_path_factory.mktemp("brisk-gns3server"), copilot=settings, conf=conf)
    try:
        server.start()
        yield server
        check_log(server)
    finally:
        server.discard()
