"""The fixtures that all tests share, and the two rules of a run: lab tests may be skipped only where nobody demands
them, and no test may leave a traceback of ours in a server's log."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import aclosing
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from tests.ground.lab import Lab
from tests.ground.lab_tools import ALL_PARTS, missing
from tests.ground.model_server import ModelServer
from tests.ground.projects import Project, Projects
from tests.ground.server import GNS3Server, Sections
from tests.ground.users import Accounts, UserClient, log_in_admin

#: Set by `.ci/run`: a machine that must be able to run every lab test.
REQUIRE_LAB = "COPILOT_REQUIRE_LAB"

# no time limits for examples: the machines of a test run are shared
hypothesis.settings.register_profile(
    "shared machine", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("shared machine")

SERVERS = pytest.StashKey[list[tuple[GNS3Server, int]]]()


def pytest_configure(config: pytest.Config) -> None:
    """Describe the marker that names what a lab test needs."""
    parts = ", ".join(ALL_PARTS)
    config.addinivalue_line(
        "markers", f"lab(*parts): needs these parts of a real lab ({parts}; all when none is named)"
    )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """Show the servers' logs with a failed test, and turn a skipped lab test into a failure where labs are required."""
    report: Any = yield
    if report.skipped and item.get_closest_marker("lab") and os.environ.get(REQUIRE_LAB) == "1":
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        report.outcome = "failed"
        report.longrepr = f"{REQUIRE_LAB}=1, but this lab test cannot run: {reason}"
    if report.failed:
        for server, since in item.stash.get(SERVERS, []):
            report.sections.append((f"log of gns3server at {server.url}", server.log_tail(since)))
    return report


def watch(request: pytest.FixtureRequest, server: GNS3Server) -> None:
    """Show the server's log from here on if the test fails."""
    item = request.node
    if isinstance(item, pytest.Item):
        item.stash.setdefault(SERVERS, []).append((server, server.log_position()))


def check_log(server: GNS3Server, since: int = 0) -> None:
    """Fail when our code has left a traceback in the log that no test expects."""
    found = server.unexpected_tracebacks(since)
    if found:
        pytest.fail("gns3server has logged tracebacks of the copilot:\n\n" + "\n\n".join(found), pytrace=False)


@pytest.fixture(scope="session")
def shared_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GNS3Server]:
    """One server with the copilot for the whole run. Tests ask for `gns3_server`, which also watches its log."""
    server = GNS3Server(tmp_path_factory.mktemp("gns3server"))
    try:
        server.start()
        yield server
        server.stop()
        check_log(server)
    finally:
        server.discard()


@pytest.fixture
def gns3_server(shared_server: GNS3Server, request: pytest.FixtureRequest) -> Iterator[GNS3Server]:
    """The running gns3-server with the copilot that all tests share: do not stop it, do not reconfigure it."""
    since = shared_server.log_position()
    watch(request, shared_server)
    yield shared_server
    check_log(shared_server, since)


StartServer = Callable[..., GNS3Server]


@pytest.fixture
def start_gns3_server(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[StartServer]:
    """Start servers of the test's own (several seconds each): `start_gns3_server(copilot=..., conf=..., env=...)`.

    The arguments are those of GNS3Server. Their logs are checked when the test is over. They are killed then, since an
    orderly stop takes gns3-server 5 s: a test that is about stopping calls `stop()` itself.
    """
    started: list[GNS3Server] = []

    def start(
        *,
        copilot: Mapping[str, object] | bool = True,
        conf: Sections | None = None,
        env: Mapping[str, str | None] | None = None,
        home: Path | None = None,
        debug: bool = False,
        host: str = "127.0.0.1",
    ) -> GNS3Server:
        server = GNS3Server(
            home or tmp_path_factory.mktemp("own-gns3server"),
            copilot=copilot,
            conf=conf,
            env=env,
            debug=debug,
            host=host,
        )
        started.append(server)
        watch(request, server)
        server.start()
        return server

    try:
        yield start
        for server in started:
            check_log(server)
    finally:
        for server in started:
            server.discard()


@pytest.fixture
async def admin(gns3_server: GNS3Server) -> AsyncIterator[UserClient]:
    """The superadmin of the shared server, as an HTTP client."""
    async with aclosing(await log_in_admin(gns3_server)) as client:
        yield client


@pytest.fixture
async def accounts(admin: UserClient) -> AsyncIterator[Accounts]:
    """Makes users, groups, roles and access control entries on the shared server."""
    made = Accounts(admin)
    yield made
    await made.aclose()


@pytest.fixture
def make_user(accounts: Accounts) -> Callable[..., Any]:
    """Makes a logged-in user: `await make_user(role="User")`; see Accounts.make_user."""
    return accounts.make_user


@pytest.fixture
async def projects(admin: UserClient) -> AsyncIterator[Projects]:
    """Makes projects on the shared server and deletes them afterwards."""
    made = Projects(admin)
    yield made
    await made.delete_all()


@pytest.fixture
def make_project(projects: Projects) -> Callable[..., Any]:
    """Makes an opened project: `await make_project(owner)`; see Projects.make."""
    return projects.make


@pytest.fixture
async def project(projects: Projects) -> Project:
    """A fresh opened project of the admin."""
    return await projects.make()


@pytest.fixture
def model_server() -> Iterator[ModelServer]:
    """A scripted OpenAI-compatible model server. A request that breaks a provider's rules fails the test."""
    server = ModelServer()
    server.start()
    try:
        yield server
    finally:
        server.stop()
    if server.violations:
        pytest.fail("the model server was asked wrongly:\n" + "\n".join(server.violations), pytrace=False)


@pytest.fixture
async def lab(
    admin: UserClient, project: Project, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Lab]:
    """A real lab in a fresh project: virtual PCs, routers, switches, links and captures that work.

    Mark the test with `lab`, naming the parts it needs; it is skipped where one is missing.
    """
    marker = request.node.get_closest_marker("lab")
    if marker is None:
        pytest.fail("a test with a lab carries the marker lab, which says what it needs", pytrace=False)
    reasons = await asyncio.to_thread(missing, marker.args or ALL_PARTS)
    if reasons:
        pytest.skip("; ".join(reasons))
    made = Lab(admin, project, tmp_path_factory.mktemp("lab"))
    try:
        yield made
    finally:
        await made.clean_up()
