"""A second server that the tests of this folder share: one that is quick to send heartbeats and to give turns up."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.conftest import check_log
from tests.ground.server import GNS3Server

#: The login of the server's compute API, as (user, password).
COMPUTE_LOGIN = ("gns3", "password-of-the-compute")
#: Seconds of the settings that tests wait for.
HEARTBEAT = 0.3
DETACHED = 1.5
#: Turns that the server runs at once.
MOST_TURNS = 8


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
