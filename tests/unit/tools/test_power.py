"""Starting, stopping and suspending nodes of a real lab, on a real application."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from gns3server_copilot.consoles.device_settings import DeviceSettings
from gns3server_copilot.consoles.service import Consoles
from gns3server_copilot.errors import GNS3Error
from gns3server_copilot.gns3 import power
from gns3server_copilot.gns3.client import GNS3Client
from gns3server_copilot.gns3.host import compute_host
from gns3server_copilot.gns3.privileges import Privileges
from gns3server_copilot.gns3.topology import parse_node
from gns3server_copilot.llm.keys import KeyRing
from gns3server_copilot.schemas.identity import ProjectRef, User
from gns3server_copilot.schemas.modes import Mode
from gns3server_copilot.settings import Settings
from gns3server_copilot.tools import start_node
from gns3server_copilot.tools.asked_nodes import not_reached
from gns3server_copilot.tools.base import ToolContext
from gns3server_copilot.tools.dispatch import execute
from tests.ground.server import ADMIN
from tests.ground.users import Accounts, UserClient
from tests.ground.waiting import until
from tests.unit.in_process import InProcessServer, Meddler

pytestmark = [
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.lab("vpcs", "dynamips"),
    pytest.mark.usefixtures("lab_parts"),
]
START, STOP, SUSPEND = "start_gns3_node", "stop_gns3_node", "suspend_gns3_node"
VPCS = "52136454-1f50-590a-94e4-816bd02d1062"
SWITCH = {"node_type": "ethernet_switch", "name": "SW1", "compute_id": "local"}


@pytest.fixture
def consoles(app_server: InProcessServer, tmp_path: Path) -> Consoles:
    """The server's consoles."""
    app: Any = app_server.app
    settings = DeviceSettings(app.state._db_engine, KeyRing(tmp_path))
    return Consoles(settings, Privileges(app), compute_host)


@pytest.fixture
def context_of(app_project: ProjectRef, consoles: Consoles) -> Callable[[Any, UserClient], ToolContext]:
    """Gives a user's context in the mode that has all three tools: `context_of(application, user)`."""

    def make(app: Any, who: UserClient) -> ToolContext:
        user = User(who.user_id, who.username, who.username == ADMIN)
        client = GNS3Client(app, who.token)
        return ToolContext(app_project, user, Mode.LAB_AUTOMATION, client, Settings(), consoles=consoles)

    return make


@pytest.fixture
def context(app_server: InProcessServer, app_admin: UserClient, context_of: Any) -> ToolContext:
    """The superadmin in a fresh project."""
    made: ToolContext = context_of(app_server.app, app_admin)
    return made


@pytest.fixture
def meddle(
    app_server: InProcessServer, app_admin: UserClient, context_of: Any
) -> Callable[[str], tuple[Meddler, ToolContext]]:
    """Gives the superadmin behind a door where a test can meddle with requests that hold a part of a path."""

    def make(part: str) -> tuple[Meddler, ToolContext]:
        door = Meddler(app_server.app, "POST", part)
        return door, context_of(door, app_admin)

    return make


@pytest.fixture
def add(context: ToolContext, qemu_path: str) -> Callable[..., Awaitable[dict[str, Any]]]:
    """Adds a node: `await add("qemu", "R1")`."""

    async def make(kind: str, name: str, **properties: Any) -> dict[str, Any]:
        if kind == "qemu":
            properties = {"qemu_path": qemu_path, "adapters": 2, "ram": 16, "process_priority": "normal", **properties}
        body = {"node_type": kind, "name": name, "compute_id": "local", "properties": properties}
        if kind == "qemu":
            body["console_type"] = "telnet"
        made: dict[str, Any] = await context.gns3.post(f"/projects/{context.project.project_id}/nodes", body)
        return made

    return make


@pytest.fixture
def program(tmp_path: Path) -> Callable[[str], Path]:
    """Makes a QEMU of one line of shell: `program("exit 1")`."""

    def make(line: str) -> Path:
        path = tmp_path / "qemu-system-x86_64"
        path.write_text(f'#!/bin/sh\n[ "$1" = -version ] && echo "QEMU emulator version 7.2.9" && exit 0\n{line}\n')
        path.chmod(0o755)
        (tmp_path / "qemu-img").touch(0o755)
        return path

    return make


async def status_of(context: ToolContext, node: dict[str, Any]) -> str:
    """The node's status as gns3-server has it."""
    found = await context.gns3.get(f"/projects/{context.project.project_id}/nodes/{node['node_id']}")
    return str(found["status"])


def told(item: dict[str, Any]) -> dict[str, Any]:
    """The result of a successful item."""
    assert item["status"] == "success", item
    result: dict[str, Any] = json.loads(item["result"])
    return result


async def test_nodes_of_several_kinds_are_started_and_seen_at_their_prompts(context: ToolContext, add: Any) -> None:
    nodes = [await add("vpcs", "PC1"), await add("qemu", "R1"), await add("ethernet_switch", "SW1")]
    response = await execute(START, {"nodes": ["R1", "pc1", nodes[2]["node_id"]]}, context)
    assert response["success"], response
    router, pc, switch = map(told, response["data"])
    assert [item["name"] for item in response["data"]] == ["R1", "PC1", "SW1"]
    assert (router["status"], router["ready"], router["console_shows"]) == ("started", True, "question")
    assert "Press RETURN to get started" in router["last_lines"]
    assert (pc["status"], pc["ready"], pc["console"]) == (
        "started",
        True,
        {"type": "telnet", "port": nodes[0]["console"]},
    )
    assert pc["last_lines"].endswith(">")
    assert switch["status"] == "started"
    assert switch["note"].startswith("Such a node is always on.")
    assert response["metadata"]["execution_time"] < 60


async def test_what_runs_already_is_success_and_not_waited_for_long(context: ToolContext, add: Any) -> None:
    node = await add("vpcs", "PC1")
    await execute(START, {"nodes": "all", "wait": "started"}, context)
    response = await execute(START, {"nodes": ["all"]}, context)
    first = told(response["data"][0])
    assert first["note"].startswith("It was running already.")
    assert response["metadata"]["execution_time"] < 30
    again = told((await execute(START, {"nodes": ["PC1"]}, context))["data"][0])
    # the banner was read before: an idle console shows nothing to a newcomer
    assert "ready" not in again
    assert "silent" in again["note"]
    assert await status_of(context, node) == "started"


async def test_nothing_is_waited_for_when_nobody_asks_for_it(context: ToolContext, add: Any) -> None:
    await add("vpcs", "PC1")
    for wait in ("none", "started"):
        result = told((await execute(START, {"nodes": ["PC1"], "wait": wait}, context))["data"][0])
        assert result["status"] == "started"
        assert "ready" not in result


async def test_wrong_names_fail_alone_and_a_name_twice_is_answered_twice(context: ToolContext, add: Any) -> None:
    await add("vpcs", "PC1")
    response = await execute(START, {"nodes": ["PC9", "PC1", "pc1"], "wait": "none"}, context)
    assert [item["status"] for item in response["data"]] == ["failed", "success", "success"]
    assert response["data"][0]["error"] == "There is no node called PC9. Nearest: PC1."


async def test_an_empty_project_has_nothing_to_switch(context: ToolContext) -> None:
    assert "the project is empty" in (await execute(START, {"nodes": ["all"]}, context))["error"]
    assert "no node that could be stopped" in (await execute(STOP, {"nodes": ["all"]}, context))["error"]
    assert "no node that could be suspended" in (await execute(SUSPEND, {"nodes": ["all"]}, context))["error"]


async def test_a_stop_is_read_back_and_warns_of_what_is_lost(context: ToolContext, add: Any) -> None:
    pc = await add("vpcs", "PC1")
    await add("vpcs", "PC2")
    await add("ethernet_switch", "SW1")
    await execute(START, {"nodes": ["PC1"], "wait": "none"}, context)
    response = await execute(STOP, {"nodes": ["PC1", "PC2", "SW1"]}, context)
    assert [item["status"] for item in response["data"]] == ["success", "success", "failed"]
    stopped, was_stopped = told(response["data"][0]), told(response["data"][1])
    assert stopped["status"] == await status_of(context, pc) == "stopped"
    assert "not saved is lost" in stopped["note"]
    assert was_stopped["note"] == "It was stopped already."
    assert response["data"][2]["error"] == "SW1 is of the type ethernet_switch: such a node is always on."
    everything = await execute(STOP, {"nodes": ["all"]}, context)
    assert [item["name"] for item in everything["data"]] == ["PC1", "PC2"]
    assert everything["success"]


async def test_a_router_is_suspended_and_resumed_by_start(context: ToolContext, add: Any) -> None:
    router = await add("qemu", "R1")
    stopped = await execute(SUSPEND, {"nodes": ["R1"]}, context)
    assert "only a running node can be suspended" in stopped["data"][0]["error"]
    await execute(START, {"nodes": ["R1"]}, context)
    assert told((await execute(SUSPEND, {"nodes": ["R1"]}, context))["data"][0])["status"] == "suspended"
    assert await status_of(context, router) == "suspended"
    again = told((await execute(SUSPEND, {"nodes": ["R1"]}, context))["data"][0])
    assert again["note"] == "It was suspended already."
    resumed = told((await execute(START, {"nodes": ["R1"]}, context))["data"][0])
    assert resumed["status"] == "started"
    assert resumed["note"].startswith("It was resumed.")


async def test_what_cannot_be_suspended_says_so_before_anything_is_tried(context: ToolContext, add: Any) -> None:
    pc = await add("vpcs", "PC1")
    await add("ethernet_switch", "SW1")
    await execute(START, {"nodes": ["PC1"], "wait": "none"}, context)
    response = await execute(SUSPEND, {"nodes": ["PC1", "SW1"]}, context)
    assert response["data"][0]["error"] == "A node of the type vpcs cannot be suspended; stop it instead."
    assert response["data"][1]["error"].endswith("such a node is always on.")
    assert await status_of(context, pc) == "started"


async def test_a_node_that_cannot_be_started_is_failed_with_the_servers_reason(
    context: ToolContext, add: Any, program: Callable[[str], Path]
) -> None:
    path = program("exit 1")
    await add("qemu", "R1", qemu_path=str(path))
    await add("vpcs", "PC1")
    path.unlink()
    response = await execute(START, {"nodes": ["R1", "PC1"]}, context)
    assert [item["status"] for item in response["data"]] == ["failed", "success"]
    assert response["data"][0]["error"].startswith("Error while looking for the Qemu version")


async def test_a_node_whose_emulator_ends_at_once_is_failed(
    context: ToolContext, add: Any, program: Callable[[str], Path]
) -> None:
    await add("qemu", "R1", qemu_path=str(program("exit 1")))
    response = await execute(START, {"nodes": ["R1"], "timeout_s": 5}, context)
    assert response["data"][0]["status"] == "failed", response
    assert "R1 is stopped, not started: its emulator" in response["data"][0]["error"]


async def test_a_node_deleted_in_between_is_said_to_be_gone(
    context: ToolContext, add: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    pc = await add("vpcs", "PC1")
    read = start_node.read_nodes

    async def then_delete(client: GNS3Client, project_id: str) -> Any:
        nodes = await read(client, project_id)
        await client.delete(f"/projects/{project_id}/nodes/{pc['node_id']}")
        return nodes

    monkeypatch.setattr(start_node, "read_nodes", then_delete)
    response = await execute(START, {"nodes": ["PC1"]}, context)
    assert response["data"][0]["error"] == "PC1 is not there any more: somebody has deleted it."


async def test_a_closed_project_is_said_and_nothing_is_switched(context: ToolContext, add: Any) -> None:
    await add("vpcs", "PC1")
    project = f"/projects/{context.project.project_id}"
    await context.gns3.post(f"{project}/close")
    for tool in (START, STOP, SUSPEND):
        assert "project is not opened" in (await execute(tool, {"nodes": ["PC1"]}, context))["error"]
    await context.gns3.post(f"{project}/open")


async def test_a_locked_project_can_be_started_and_stopped(context: ToolContext, add: Any) -> None:
    await add("vpcs", "PC1")
    await context.gns3.post(f"/projects/{context.project.project_id}/lock")
    assert (await execute(START, {"nodes": ["PC1"], "wait": "none"}, context))["success"]
    assert (await execute(STOP, {"nodes": ["PC1"]}, context))["success"]


async def test_an_answer_that_is_lost_is_made_up_for_by_looking(
    meddle: Callable[[str], tuple[Meddler, ToolContext]], add: Any
) -> None:
    await add("vpcs", "PC1")
    door, context = meddle("/start")
    door.lose_answers = 1
    response = await execute(START, {"nodes": ["PC1"]}, context)
    assert told(response["data"][0])["ready"]
    assert len(door.seen) == 1


async def test_a_start_without_an_answer_in_time_is_looked_at(
    meddle: Callable[[str], tuple[Meddler, ToolContext]], add: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(power, "POWER_SECONDS", 3.0)
    await add("vpcs", "PC1")
    door, context = meddle("/start")
    door.hold = asyncio.Event()
    assert told((await execute(START, {"nodes": ["PC1"], "wait": "none"}, context))["data"][0])["status"] == "started"
    door.hold.set()
    await door.idle.wait()


async def test_a_start_that_hangs_in_the_server_is_said_without_waiting_for_it(
    context: ToolContext, add: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gns3server.controller.node import Node

    let_go = asyncio.Event()

    async def hang(self: Node, data: Any = None) -> None:
        await let_go.wait()

    monkeypatch.setattr(Node, "start", hang)
    monkeypatch.setattr(power, "POWER_SECONDS", 1.0)
    monkeypatch.setattr(power, "SETTLE_SECONDS", 0.5)
    await add("vpcs", "PC1")
    response = await execute(START, {"nodes": ["PC1"]}, context)
    assert response["data"][0]["error"] == (
        "gns3-server has not answered in time; PC1 is stopped now. Read its status before trying again."
    )
    assert response["metadata"]["execution_time"] < 20
    let_go.set()


async def test_an_auditor_is_refused_item_by_item_and_nothing_changes(
    app_server: InProcessServer, app_accounts: Accounts, context: ToolContext, context_of: Any, add: Any
) -> None:
    running, stopped = await add("vpcs", "PC1"), await add("vpcs", "PC2")
    await execute(START, {"nodes": ["PC1"], "wait": "none"}, context)
    user = await app_accounts.make_user(role="Auditor", on=context.project)
    auditor = context_of(app_server.app, user)
    started = await execute(START, {"nodes": ["PC1", "PC2"]}, auditor)
    assert [item["status"] for item in started["data"]] == ["success", "failed"]
    assert "privilege Node.PowerMgmt is required" in started["data"][1]["error"]
    assert "privilege Node.Console on PC1 is required" in told(started["data"][0])["note"]
    halted = await execute(STOP, {"nodes": ["PC1"]}, auditor)
    assert "privilege Node.PowerMgmt is required" in halted["data"][0]["error"]
    assert [await status_of(context, node) for node in (running, stopped)] == ["started", "stopped"]


async def test_a_user_with_a_role_on_the_project_may_start_and_see_the_console(
    app_server: InProcessServer, app_accounts: Accounts, context: ToolContext, context_of: Any, add: Any
) -> None:
    await add("vpcs", "PC1")
    user = await app_accounts.make_user(role="User", on=context.project)
    plain = context_of(app_server.app, user)
    assert told((await execute(START, {"nodes": ["PC1"]}, plain))["data"][0])["ready"]


async def test_a_node_without_a_text_console_is_started_and_not_waited_for(context: ToolContext, add: Any) -> None:
    node = await add("qemu", "R1")
    path = f"/projects/{context.project.project_id}/nodes/{node['node_id']}"
    await context.gns3.put(path, {"console_type": "vnc"})
    result = told((await execute(START, {"nodes": ["R1"]}, context))["data"][0])
    assert result["status"] == "started"
    assert result["note"] == "Its console is of type vnc; only telnet consoles have a command line."
    assert "ready" not in result


@pytest.mark.parametrize(
    ("status", "error", "reached"),
    [
        ("started", None, True),
        ("started", GNS3Error("no answer", 408), True),
        ("started", GNS3Error("broken", 500), True),
        # what gns3-server says of a QEMU machine whose console did not come up
        ("started", GNS3Error("Could not start Telnet QEMU console", 409), False),
        ("stopped", None, False),
    ],
)
async def test_a_refusal_counts_whatever_the_status_says(status: str, error: GNS3Error | None, reached: bool) -> None:
    raw = {"node_id": "n", "name": "R1", "node_type": "qemu", "status": status}
    change = power.PowerChange(power.Power.START, parse_node(raw), "stopped", error)
    assert change.reached is reached
    if error is not None and error.status == 409:
        assert not_reached(change, "R1") == (
            "Could not start Telnet QEMU console. GNS3 shows it as started all the same."
        )


async def test_an_abort_ends_the_waiting_but_not_the_start(
    meddle: Callable[[str], tuple[Meddler, ToolContext]], add: Any
) -> None:
    node = await add("vpcs", "PC1")
    door, context = meddle("/start")
    door.hold = asyncio.Event()
    caller = asyncio.create_task(execute(START, {"nodes": ["PC1"]}, context))
    await door.begun.wait()
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    door.hold.set()

    async def started() -> bool:
        return await status_of(context, node) == "started"

    await until(started)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"nodes": []}, "nodes: List should have at least 1 item"),
        ({"nodes": ["PC1"], "wait": "forever"}, "wait: Input should be 'none', 'started' or 'console'"),
        ({"nodes": ["PC1"], "timeout_s": 0}, "timeout_s: Input should be greater than or equal to 1"),
        ({"wait": "none"}, "nodes: is missing"),
    ],
)
async def test_wrong_arguments_are_said(context: ToolContext, arguments: Any, said: str) -> None:
    assert said in (await execute(START, arguments, context))["error"]
