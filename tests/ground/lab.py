"""A real lab in a GNS3 project: virtual PCs, FRR routers, switches, links, captures.

ADDRESS = "interface eth0\\n ip address 10.0.0.254/24"

@pytest.mark.lab("vpcs", "frr")
async def test_something(lab):
    pc = await lab.vpcs("PC1", "10.0.0.1/24 10.0.0.254")
    router = await lab.router("R1", config=ADDRESS)
    link = await lab.link(pc, router)
    await lab.start()
    await lab.ping(pc, "10.0.0.254")
"""

from __future__ import annotations

import asyncio
import itertools
import os
import secrets
import sys
import textwrap
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.ground.console import Console, open_console
from tests.ground.lab_tools import LAB_FOLDER
from tests.ground.projects import Project
from tests.ground.users import UserClient, ok
from tests.ground.waiting import until

ROUTER_SCRIPT = LAB_FOLDER / "frr-node.sh"
ROUTER_START_SECONDS = 20.0
ROUTER_STOP_SECONDS = 10.0
PING_SECONDS = 5.0


@dataclass
class Node:
    """A node of the lab. `console` is its telnet port on loopback, None when it has none."""

    node_id: str
    name: str
    console: int | None
    _next_port: int = 0

    def take_port(self) -> int:
        """Give the number of the next port without a link."""
        self._next_port += 1
        return self._next_port - 1


@dataclass(frozen=True)
class Link:
    """A link of the lab."""

    link_id: str


@dataclass(frozen=True)
class Capture:
    """A running or finished packet capture. `path` is the file; it is empty until the first packet."""

    path: Path

    async def packets(self, at_least: int = 0, seconds: float = 10.0) -> list[Any]:
        """Give the packets as scapy reads them, waiting until there are so many. Raises TimeoutError."""
        packets: list[Any] = []

        async def enough() -> bool:
            packets[:] = await asyncio.to_thread(_read_packets, self.path)
            return len(packets) >= at_least

        await until(enough, seconds)
        return packets


def _read_packets(path: Path) -> list[Any]:
    from scapy.contrib import ospf  # noqa: F401
    from scapy.error import Scapy_Exception
    from scapy.utils import rdpcap

    try:
        return list(rdpcap(str(path)))
    except (Scapy_Exception, OSError):  # nothing in it yet
        return []


@dataclass
class Lab:
    """Builds a lab in a project. Everything it has made is gone after `clean_up`, routers and interfaces too."""

    admin: UserClient
    project: Project
    folder: Path
    _routers: list[Process] = field(default_factory=list)
    _numbers: Iterator[int] = field(default_factory=itertools.count)
    # Interface names are at most 15 characters and shared by everything on the machine.
    _prefix: str = field(default_factory=lambda: f"cp{secrets.token_hex(3)}")

    # --- nodes -----------------------------------------------------------------------------------------------------

    async def vpcs(self, name: str, address: str = "") -> Node:
        """Add a virtual PC; `address` is what `ip` takes: address/prefix and perhaps the gateway. Start it later."""
        script = f"set pcname {name}\n" + (f"ip {address}\n" if address else "")
        return await self._add({"node_type": "vpcs", "name": name, "properties": {"startup_script": script}})

    async def switch(self, name: str, ports: int = 8) -> Node:
        """Add an Ethernet switch with all ports in one VLAN; it is always on."""
        mapping = [{"name": f"Ethernet{n}", "port_number": n, "type": "access", "vlan": 1} for n in range(ports)]
        return await self._add({"node_type": "ethernet_switch", "name": name, "properties": {"ports_mapping": mapping}})

    async def router(self, name: str, ports: int = 2, config: str = "") -> Node:
        """Add a running FRR router with eth0, eth1, ...; `config` is its frr.conf, indented as the test likes.

        It is a cloud node whose remote console is the router's vtysh. Its console reads as any node's does.
        """
        prefix = f"{self._prefix}r{next(self._numbers)}-"
        console = await self._start_router(name, prefix, ports, config)
        return await self.cloud(name, console, [f"{prefix}{n}" for n in range(ports)])

    async def two_pcs(self) -> tuple[Node, Link]:
        """Give the first of two running PCs, 10.0.0.1 and 10.0.0.2, that reach each other, and the link between."""
        pc1, pc2 = await self.vpcs("PC1", "10.0.0.1/24"), await self.vpcs("PC2", "10.0.0.2/24")
        link = await self.link(pc1, pc2)
        await self.start()
        await self.ping(pc1, "10.0.0.2")
        return pc1, link

    async def cloud(
        self, name: str, console: int | None = None, interfaces: Sequence[str] = (), device_type: str = ""
    ) -> Node:
        """Add a cloud node with these host interfaces; `console` is a port on loopback that it shows as its own.

        `device_type` is what its properties declare.

        This is how a scripted device gets into a project: `await lab.cloud("R1", device.port)`.
        """
        mapping = [
            {"name": f"eth{n}", "port_number": n, "type": "ethernet", "interface": interface}
            for n, interface in enumerate(interfaces)
        ]
        if not mapping:  # gns3-server would take every interface of the host
            udp = {"lport": 1, "rhost": "127.0.0.1", "rport": 1}
            mapping = [{"name": "unused", "port_number": 0, "type": "udp", **udp}]
        body: dict[str, Any] = {"node_type": "cloud", "name": name, "properties": {"ports_mapping": mapping}}
        if device_type:
            body["properties"]["device_type"] = device_type
        if console is not None:
            body |= {"console": console, "console_type": "telnet"}
            body["properties"] |= {
                "remote_console_host": "127.0.0.1",
                "remote_console_port": console,
                "remote_console_type": "telnet",
            }
        return await self._add(body)

    async def _add(self, body: dict[str, Any]) -> Node:
        made = await ok(self.admin.post(f"{self.project.url}/nodes", json={"compute_id": "local", **body}))
        return Node(made["node_id"], made["name"], made["console"])

    async def start(self, *nodes: Node) -> None:
        """Start these nodes, all of the project when none is named."""
        if not nodes:
            await ok(self.admin.post(f"{self.project.url}/nodes/start"))
        for node in nodes:
            await ok(self.admin.post(f"{self.project.url}/nodes/{node.node_id}/start", json={}))

    async def stop(self, *nodes: Node) -> None:
        """Stop these nodes, all of the project when none is named."""
        if not nodes:
            await ok(self.admin.post(f"{self.project.url}/nodes/stop"))
        for node in nodes:
            await ok(self.admin.post(f"{self.project.url}/nodes/{node.node_id}/stop"))

    # --- links -----------------------------------------------------------------------------------------------------

    async def link(self, a: Node, b: Node) -> Link:
        """Link the next free ports of two nodes."""
        ends = [{"node_id": n.node_id, "adapter_number": 0, "port_number": n.take_port()} for n in (a, b)]
        made = await ok(self.admin.post(f"{self.project.url}/links", json={"nodes": ends}))
        return Link(made["link_id"])

    async def filter(self, link: Link, **filters: list[Any]) -> None:
        """Put packet filters on a link, for example `delay=[50, 0]`."""
        await ok(self.admin.put(f"{self.project.url}/links/{link.link_id}", json={"filters": filters}))

    @asynccontextmanager
    async def capture(self, link: Link) -> AsyncIterator[Capture]:
        """Capture what passes over a link while the block runs; the file stays until the project goes."""
        url = f"{self.project.url}/links/{link.link_id}/capture"
        name = f"capture-{secrets.token_hex(4)}.pcap"
        started = await ok(self.admin.post(f"{url}/start", json={"capture_file_name": name}))
        try:
            yield Capture(Path(started["capture_file_path"]))
        finally:
            await ok(self.admin.post(f"{url}/stop"))

    # --- consoles --------------------------------------------------------------------------------------------------

    def console(self, node: Node) -> AbstractAsyncContextManager[Console]:
        """Open the console of a started node."""
        assert node.console is not None, f"{node.name} has no console"
        return open_console(node.console)

    async def run(self, node: Node, command: str) -> str:
        """Type one command on a node's console and give what it printed."""
        async with self.console(node) as console:
            await console.wake()
            return await console.run(command)

    async def wait_for_text(self, node: Node, command: str, text: str, seconds: float = 30.0) -> None:
        """Repeat a command on a node's console until it prints the text. Raises TimeoutError."""

        async def printed() -> bool:
            return text in await console.run(command)

        async with self.console(node) as console:
            await console.wake()
            await until(printed, seconds, every=0.2)

    async def ping(self, pc: Node, address: str, seconds: float = 30.0) -> str:
        """Ping from a virtual PC until an answer comes, and give it. Raises TimeoutError that shows the last output."""

        async def answered() -> str:
            # vpcs loses what is typed while it prints; then the command has to be typed again.
            with suppress(TimeoutError):
                tries.append(await console.run(f"ping {address} -c 1", PING_SECONDS))
            # Debian's vpcs writes "10.0.0.2 icmp_seq=1 ttl=64 time=0.4 ms"; failed ones name an ICMP type too.
            return tries[-1] if "ttl=" in tries[-1] and "ICMP type" not in tries[-1] else ""

        tries = [""]
        async with self.console(pc) as console:
            await console.wake()
            try:
                return await until(answered, seconds)
            except TimeoutError:
                raise TimeoutError(f"{pc.name} does not reach {address}: {tries[-3:]}") from None

    # --- routers ---------------------------------------------------------------------------------------------------

    async def _start_router(self, name: str, prefix: str, ports: int, config: str) -> int:
        folder = self.folder / name
        await asyncio.to_thread(_write_router_config, folder, name, config)
        process = await asyncio.create_subprocess_exec(
            "bash",
            str(ROUTER_SCRIPT),
            name,
            prefix,
            str(folder),
            str(ports),
            stdin=PIPE,
            stdout=PIPE,
            stderr=DEVNULL,
            env={**os.environ, "PYTHON": sys.executable},
        )
        self._routers.append(process)
        assert process.stdout is not None
        line = b""
        try:
            async with asyncio.timeout(ROUTER_START_SECONDS):
                line = await process.stdout.readline()
        except TimeoutError:
            pass
        if not line.startswith(b"ready "):
            log = await asyncio.to_thread((folder / "node.log").read_text, errors="replace")
            raise RuntimeError(f"router {name} did not start: {log}")
        return int(line.split()[1])

    async def clean_up(self) -> None:
        """Delete the project and end the routers with their namespaces and interfaces."""
        try:
            await self.admin.delete(self.project.url)
        finally:
            await asyncio.gather(*(_end_router(process) for process in self._routers))


def _write_router_config(folder: Path, name: str, config: str) -> None:
    (folder / "etc").mkdir(parents=True)
    (folder / "etc" / "frr.conf").write_text(f"hostname {name}\n{textwrap.dedent(config)}\n")


async def _end_router(process: Process) -> None:
    if process.stdin is not None:
        process.stdin.close()
    try:
        async with asyncio.timeout(ROUTER_STOP_SECONDS):
            await process.wait()
    except TimeoutError:
        process.kill()  # the kernel ends what the script has started
        await process.wait()
