"""Fixtures of gns3-server's application running inside the test process; see `in_process`.

Tests that use them run in the session's loop, as the application does: `pytest.mark.asyncio(loop_scope="session")`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from gns3server_copilot.gns3.client import GNS3Client
from gns3server_copilot.schemas.identity import ProjectRef
from tests.ground.lab_tools import ALL_PARTS, missing, scripted_qemu
from tests.ground.users import Accounts, UserClient, log_in_admin, unique
from tests.unit.in_process import InProcessServer, running_app


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def app_server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[InProcessServer]:
    """The application, one for the whole run."""
    home = tmp_path_factory.mktemp("in-process")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(home))
        async with running_app(home) as server:
            yield server


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def app_admin(app_server: InProcessServer) -> AsyncIterator[UserClient]:
    """Its superadmin."""
    admin = await log_in_admin(app_server)
    yield admin
    await admin.aclose()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def app_accounts(app_admin: UserClient) -> AsyncIterator[Accounts]:
    """Makes its users."""
    accounts = Accounts(app_admin)
    yield accounts
    await accounts.aclose()


@pytest.fixture(scope="session")
def app_client(app_server: InProcessServer, app_admin: UserClient) -> GNS3Client:
    """The client under test, as the superadmin."""
    return GNS3Client(app_server.app, app_admin.token)


@pytest_asyncio.fixture(loop_scope="session")
async def app_project(app_client: GNS3Client) -> AsyncIterator[ProjectRef]:
    """A fresh opened project of the superadmin."""
    made = await app_client.post("/projects", {"name": unique("project")})
    yield ProjectRef(made["project_id"], made["name"], made["path"])
    await app_client.delete(f"/projects/{made['project_id']}")


@pytest.fixture
def lab_parts(request: pytest.FixtureRequest) -> None:
    """Skip the test where a part of a lab is missing that its marker `lab` names."""
    marker = request.node.get_closest_marker("lab")
    reasons = missing(marker.args if marker and marker.args else ALL_PARTS)
    if reasons:
        pytest.skip("; ".join(reasons))


@pytest.fixture(scope="session")
def qemu_path(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The scripted router that plays every QEMU machine."""
    return str(scripted_qemu(tmp_path_factory.mktemp("qemu")))
