"""Contexts for the tests of tools, and a project of scripted devices for those that use consoles."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from gns3server_copilot.gns3.client import GNS3Client
from gns3server_copilot.llm.migrations import upgrade
from gns3server_copilot.schemas.identity import ProjectRef, User
from gns3server_copilot.schemas.modes import Mode
from gns3server_copilot.settings import Settings
from gns3server_copilot.tools.base import ToolContext
from tests.ground.users import UserClient
from tests.unit.in_process import InProcessServer, Meddler
from tests.unit.tools.device_lab import DeviceLab, device_lab


def context_of(client: GNS3Client, project: ProjectRef) -> ToolContext:
    """A context in the mode that builds labs."""
    return ToolContext(project, User("u", "ann", True), Mode.LAB_AUTOMATION, client, Settings())


@pytest.fixture
def context(app_client: GNS3Client, app_project: ProjectRef) -> ToolContext:
    """The superadmin in a fresh project."""
    return context_of(app_client, app_project)


@pytest.fixture
def meddled(door: Meddler, app_admin: UserClient, app_project: ProjectRef) -> ToolContext:
    """The superadmin behind the `door` of the test's module."""
    return context_of(GNS3Client(door, app_admin.token), app_project)


@pytest_asyncio.fixture(loop_scope="session")
async def devices(
    app_server: InProcessServer,
    app_admin: UserClient,
    app_client: GNS3Client,
    app_project: ProjectRef,
    tmp_path: Path,
) -> AsyncIterator[DeviceLab]:
    """A fresh project of the superadmin; `await devices.device("R1")` adds a scripted device."""
    app: Any = app_server.app
    await upgrade(app.state._db_engine)
    me = (await app_admin.get("/v3/access/users/me")).json()
    user = User(me["user_id"], me["username"], True)
    async with device_lab(app_server, app_client, app_project, user, tmp_path) as lab:
        yield lab
