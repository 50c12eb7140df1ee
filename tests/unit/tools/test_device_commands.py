"""The tool that reads devices, on scripted devices in a real project."""

from __future__ import annotations

import asyncio
import json
import time

import pytest

from gns3server_copilot.schemas.identity import User
from gns3server_copilot.settings import Settings
from gns3server_copilot.tools.dispatch import execute
from tests.devices import Device
from tests.ground.users import Accounts
from tests.ground.waiting import until
from tests.unit.tools.device_lab import DeviceLab, results

pytestmark = pytest.mark.asyncio(loop_scope="session")
TOOL = "execute_multiple_device_commands"


async def test_commands_run_in_order_and_give_what_the_device_printed(devices: DeviceLab) -> None:
    r1 = await devices.device("R1")
    [item] = await devices.read(R1=["show clock", "show ip interface brief"])
    assert item["status"] == "success", item
    clock, interfaces = results(item)
    assert (clock["command"], clock["output"]) == ("show clock", "*12:34:56.789 UTC Mon Mar 1 2021")
    assert interfaces["output"].startswith("Interface ")
    assert r1.lines[-2:] == ["show clock", "show ip interface brief"]


async def test_one_bad_device_never_spoils_the_others(devices: DeviceLab) -> None:
    r1 = await devices.device("R1")
    await devices.node("SW1", None)
    await devices.node("Desktop", 5900, console_type="vnc")
    path = f"/projects/{devices.context.project.project_id}/nodes"
    await devices.context.gns3.post(path, {"compute_id": "local", "node_type": "vpcs", "name": "PC1"})
    silent = await asyncio.start_server(lambda reader, writer: reader.read(), "127.0.0.1", 0)
    await devices.node("Silent", silent.sockets[0].getsockname()[1], "cisco_ios")
    asked = [
        {"device": "R1", "commands": ["show clock"]},
        {"device": "PC1", "commands": ["show ip"]},
        {"device": "R9", "commands": ["show clock"]},
        {"device": "Desktop", "commands": ["uname"]},
        {"device": "SW1", "commands": ["show clock"]},
        {"device": "Silent", "commands": ["show clock"]},
        {"device": "R1", "commands": ["show ip route"]},
    ]
    began = time.monotonic()
    response = await devices.run(TOOL, devices=asked)
    seconds = time.monotonic() - began
    silent.close()
    items = response["data"]
    assert [item["name"] for item in items] == ["R1", "PC1", "R9", "Desktop", "SW1", "Silent", "R1"]
    assert [item["status"] for item in items] == ["success", *["failed"] * 5, "success"], items
    errors = [item.get("error", "") for item in items]
    assert "It is stopped" in errors[1] and "There is no node called R9" in errors[2]
    assert "of type vnc" in errors[3] and "no console" in errors[4] and "does not answer" in errors[5]
    assert results(items[6])[0]["output"].startswith("Codes:")
    assert r1.lines[-2:] == ["show clock", "show ip route"]
    assert seconds < 8
    assert (response["total"], response["successful"], response["failed"]) == (7, 2, 5)


async def test_what_does_not_read_is_refused_and_the_rest_runs(devices: DeviceLab) -> None:
    r1 = await devices.device("R1")
    [item] = await devices.read(R1=["show clock", "configure terminal\nno ip routing", "reload", "sh ver"])
    assert item["status"] == "failed"
    told = results(item)
    assert [one["status"] for one in told] == ["success", "failed", "failed", "success"]
    assert "Refused, not sent" in told[1]["error"]
    assert "reload" not in r1.lines and not any("conf" in line for line in r1.lines)


async def test_nothing_is_even_connected_when_all_is_refused(devices: DeviceLab) -> None:
    r1 = await devices.device("R1")
    [item] = await devices.read(R1=["reload"])
    assert item["status"] == "failed"
    assert r1.typed == []


async def test_older_shapes_are_understood(devices: DeviceLab) -> None:
    await devices.device("R1")
    one = {"device_name": "R1", "commands": "show clock"}
    for arguments in ({"device_configs": [one]}, {"tool_input": json.dumps([one])}, [one]):
        response = await execute(TOOL, arguments, devices.context)
        assert response["success"], response


async def test_a_turn_keeps_its_session_and_closes_it_at_its_end(devices: DeviceLab) -> None:
    r1 = await devices.device("R1")
    await devices.read(R1=["show clock"])
    assert r1.clients == 1
    await devices.read(R1=["show clock"])
    assert r1.clients == 1
    assert r1.lines.count("terminal length 0") == 1
    await devices.context.scope.close()
    await until(lambda: no_clients(r1), 2)


async def test_a_log_and_a_logout_between_two_calls_are_survived(devices: DeviceLab) -> None:
    r1 = await devices.device("R1")
    await devices.read(R1=["show clock"])
    r1.emit("\n*Mar  1 00:12:30.123: %SYS-5-CONFIG_I: Configured from console by console\n")
    [item] = await devices.read(R1=["show clock"])
    assert results(item)[0]["output"] == "*12:34:56.789 UTC Mon Mar 1 2021"
    r1.type("exit\r")
    await until(lambda: is_at(r1, "press_return"), 2)
    [item] = await devices.read(R1=["show clock"])
    assert results(item)[0]["output"] == "*12:34:56.789 UTC Mon Mar 1 2021"


async def test_two_chats_at_one_device_do_not_mix(devices: DeviceLab) -> None:
    await devices.device("R1")
    turns = [devices.turn() for _ in range(4)]
    items = await asyncio.gather(
        *(devices.read(turn, R1=["ping 10.0.0.2", f"ping 10.0.0.{n}"]) for n, turn in enumerate(turns, 11))
    )
    for n, [item] in enumerate(items, 11):
        first, second = results(item)
        assert "to 10.0.0.2," in first["output"] and f"to 10.0.0.{n}," in second["output"]
    await asyncio.gather(*(turn.scope.close() for turn in turns))
    assert len(devices.consoles.locks) == 0


async def test_who_waits_too_long_is_told_who_uses_the_console(devices: DeviceLab) -> None:
    await devices.device("R1")
    first = asyncio.create_task(devices.read(devices.turn(), R1=["traceroute 10.0.0.9"]))
    await until(lambda: has_clients(devices), 5)
    impatient = devices.turn(settings=Settings(console_wait_seconds=0.2))
    [item] = await devices.read(impatient, R1=["show clock"])
    assert "busy: another chat (of admin)" in item["error"]
    [done] = await first
    assert "traceroute" in results(done)[0]["command"]


async def test_a_stopped_call_leaves_the_console_clean_and_free(devices: DeviceLab) -> None:
    r1 = await devices.device("R1")
    running = asyncio.create_task(devices.read(devices.turn(), R1=["traceroute 10.0.0.9"]))
    await until(lambda: got(r1, "traceroute"), 5)
    began = time.monotonic()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert time.monotonic() - began < 2
    assert len(devices.consoles.locks) == 0
    await until(lambda: no_clients(r1), 2)
    [item] = await devices.read(R1=["show clock"])
    assert item["status"] == "success"


async def test_the_family_is_found_from_the_console_when_nothing_else_tells(devices: DeviceLab) -> None:
    device = await devices.device("X1", "mikrotik_routeros", device_type="unheard_of")
    [item] = await devices.read(X1=["/system resource print"])
    assert item["status"] == "success", item
    assert "7.11 (stable)" in results(item)[0]["output"]
    assert device.state == "privileged"


async def test_credentials_that_were_set_are_used(devices: DeviceLab) -> None:
    device = await devices.device("L1", "linux")
    [item] = await devices.read(L1=["uname -a"])
    assert "asks for a login" in item["error"]
    project_id = devices.context.project.project_id
    await devices.consoles.settings.put(project_id, devices.nodes["L1"], {"username": "ann", "password": "lab"})
    [item] = await devices.read(L1=["uname -a"])
    assert item["status"] == "success", item
    assert "uname -a" not in [typed.line for typed in device.typed if typed.state in ("login", "password")]


async def test_without_the_privilege_a_console_is_refused(devices: DeviceLab, app_accounts: Accounts) -> None:
    r1 = await devices.device("R1")
    auditor = await app_accounts.make_user(privileges=["Project.Audit", "Node.Audit", "Link.Audit"])
    turn = devices.turn(User(auditor.user_id, auditor.username, False))
    [item] = await devices.read(turn, R1=["show clock"])
    assert item["status"] == "failed" and "Node.Console" in item["error"]
    assert r1.typed == []
    user = await app_accounts.make_user(privileges=["Node.Console"])
    [item] = await devices.read(devices.turn(User(user.user_id, user.username, False)), R1=["show clock"])
    assert item["status"] == "success"


async def test_a_privilege_that_is_lost_ends_the_commands_that_follow(devices: DeviceLab) -> None:
    r1 = await devices.device("R1")
    has_privilege = devices.consoles._has_privilege

    async def until_it_has_run(user_id: str, resource: str, privilege: str) -> bool:
        return "show clock" not in r1.lines and await has_privilege(user_id, resource, privilege)

    devices.consoles._has_privilege = until_it_has_run
    [item] = await devices.read(R1=["show clock", "show version", "show ip route"])
    told = results(item)
    assert [one["status"] for one in told] == ["success", "failed", "failed"]
    assert "Permission denied" in told[1]["error"] and "Not run" in told[2]["error"]
    assert "show version" not in r1.lines


async def no_clients(device: Device) -> bool:
    return device.clients == 0


async def has_clients(devices: DeviceLab) -> bool:
    return len(devices.consoles.locks) > 0


async def is_at(device: Device, state: str) -> bool:
    return device.state == state


async def got(device: Device, word: str) -> bool:
    return any(word in line for line in device.lines)
