"""What gns3-server starts in place of QEMU: a scripted router, from the command line of a QEMU node.

    -name R1 … -serial telnet:127.0.0.1:16101,server,nowait -monitor tcp:127.0.0.1:40687,server,nowait …
    -device e1000,mac=0c:7c:4f:80:00:00,bus=…,netdev=gns3-0
    -netdev socket,id=gns3-0,udp=127.0.0.1:28007,localaddr=127.0.0.1:28006 …

The launcher that `home` writes answers `-version` itself and starts this file with `python -IS`.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

if __name__ == "__main__":  # started by its path, without site-packages
    sys.path.append(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from gns3server_copilot.demo.devices.console import Console
from gns3server_copilot.demo.devices.lifetime import live_with_parent
from gns3server_copilot.demo.devices.monitor import Monitor
from gns3server_copilot.demo.devices.wires import Address, UdpWire
from gns3server_copilot.demo.ios.machine import RouterMachine

VERSION = "7.2.9"


@dataclass(slots=True)
class Adapter:
    mac: bytes
    local: Address | None = None
    remote: Address | None = None


@dataclass(slots=True)
class CommandLine:
    name: str = "Router"
    serial: Address = ("127.0.0.1", 0)
    monitor: Address | None = None
    adapters: list[Adapter] = field(default_factory=list)


def parse(arguments: list[str]) -> CommandLine:
    """What the device needs of the command line; options that concern a real emulator only are left out."""
    parsed = CommandLine()
    by_network: dict[str, Adapter] = {}
    for option, value in _options(arguments):
        if option == "-name":
            parsed.name = value
        elif option == "-serial":
            parsed.serial = _address(value.removeprefix("telnet:"))
        elif option == "-monitor":
            parsed.monitor = _address(value.removeprefix("tcp:"))
        elif option == "-device" and (mac := _setting(value, "mac")):
            adapter = Adapter(bytes.fromhex(mac.replace(":", "")))
            parsed.adapters.append(adapter)
            by_network[_setting(value, "netdev") or ""] = adapter
        elif option == "-netdev" and (plugged := by_network.get(_setting(value, "id") or "")):
            # gns3-server names each adapter's device before its network.
            local, remote = _setting(value, "localaddr"), _setting(value, "udp")
            plugged.local = _address(local) if local else None
            plugged.remote = _address(remote) if remote else None
    return parsed


def _options(arguments: list[str]) -> Iterator[tuple[str, str]]:
    for index, option in enumerate(arguments[:-1]):
        if option.startswith("-"):
            yield option, arguments[index + 1]


def _setting(value: str, name: str) -> str | None:
    found = re.search(rf"(?:^|,){name}=([^,]*)", value)
    return found[1] if found else None


def _address(text: str) -> Address:
    host, _, port = text.partition(",")[0].rpartition(":")
    return host, int(port)


async def play(arguments: list[str]) -> None:
    """Play the router until the process ends. Its files are in the current directory."""
    line = parse(arguments)
    console = Console()
    adapters = [
        (adapter.mac, UdpWire(adapter.local, adapter.remote) if adapter.local and adapter.remote else None)
        for adapter in line.adapters
    ]
    machine = RouterMachine(line.name, adapters, console, Path.cwd())
    # The server waits for the console 6 s and for the monitor 10 s: both listen before anything else is done.
    await console.listen(*line.serial)
    if line.monitor:
        await Monitor(machine).listen(*line.monitor)
    await machine.run()


if __name__ == "__main__":
    live_with_parent()
    asyncio.run(play(sys.argv[1:]))
