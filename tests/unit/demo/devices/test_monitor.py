from __future__ import annotations

import asyncio

from gns3server_copilot.demo.devices.monitor import Monitor


class Machine:
    def __init__(self) -> None:
        self.paused = False
        self.done: list[object] = []

    def set_link(self, adapter: int, connected: bool) -> None:
        self.done.append((adapter, connected))

    def reset(self) -> None:
        self.done.append("reset")

    def power_off(self) -> None:
        self.done.append("off")


async def ask(port: int, *commands: str) -> list[str]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write("".join(f"{command}\n" for command in commands).encode())
    writer.write_eof()
    text = (await reader.read()).decode()
    writer.close()
    return text.split("\r\n")[:-1]


async def test_every_command_is_echoed_and_done():
    machine = Machine()
    port = await Monitor(machine).listen("127.0.0.1", 0)
    commands = ["set_link gns3-2 off", "set_link gns3-2 on", "system_reset", "system_powerdown"]
    assert await ask(port, *commands) == commands
    assert machine.done == [(2, False), (2, True), "reset", "off"]


async def test_status_follows_stop_and_cont():
    port = await Monitor(Machine()).listen("127.0.0.1", 0)
    assert await ask(port, "info status") == ["info status", "VM status: running"]
    await ask(port, "stop")
    assert await ask(port, "info status") == ["info status", "VM status: paused"]
    assert (await ask(port, "cont", "info status"))[-1] == "VM status: running"


async def test_unknown_command_is_echoed_too():
    port = await Monitor(Machine()).listen("127.0.0.1", 0)
    assert await ask(port, "frobnicate") == ["frobnicate", "unknown command: 'frobnicate'"]
