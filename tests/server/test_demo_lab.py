"""The demo's lab on a real gns3-server: scripted devices, real frames, and nothing left at the end."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest
import pytest_asyncio
from scapy.contrib.ospf import OSPF_Hello, OSPF_LSUpd
from scapy.layers.inet import ICMP
from scapy.layers.l2 import ARP
from scapy.packet import Packet
from scapy.utils import rdpcap

from gns3server_copilot.consoles.configuring import configure
from gns3server_copilot.consoles.credentials import StoredCredentials
from gns3server_copilot.consoles.session import Session
from gns3server_copilot.demo.keeper import processes_at_home
from gns3server_copilot.demo.lab import CAPTURE_FILE, Lab, build_lab, exchange_traffic
from gns3server_copilot.demo.server import DemoServer, run_server
from gns3server_copilot.knowledge.loader import packaged_knowledge
from gns3server_copilot.knowledge.schemas.family import Family
from tests.ground.console import open_console

pytestmark = pytest.mark.asyncio(loop_scope="module")

PATIENCE = 20.0


@dataclass
class Demo:
    """The running lab, and somebody who types on its consoles."""

    server: DemoServer
    lab: Lab
    ping: str

    async def pc1(self, line: str) -> str:
        async with open_console(self.lab.consoles["PC1"]) as console:
            await console.wake()
            return await console.run(line)

    async def router(self, name: str, *lines: str) -> str:
        """What the last line prints in privileged mode."""
        printed = ""
        async with open_console(self.lab.consoles[name]) as console:
            await console.wake()
            for line in ("enable", "terminal length 0", *lines):
                printed = await console.run(line)
        return printed

    async def call(self, method: str, path: str, body: Any = None) -> Any:
        """Call the API below the project."""
        url = f"{self.server.url}/v3/projects/{self.lab.project_id}{path}"
        async with httpx.AsyncClient(headers={"authorization": f"Bearer {self.server.token}"}, timeout=30) as client:
            answer = await client.request(method, url, json=body)
        answer.raise_for_status()
        return answer.json() if answer.content else None

    async def act(self, name: str, action: str) -> None:
        await self.call("POST", f"/nodes/{self.lab.nodes[name]}/{action}", {})

    async def status(self, name: str) -> str:
        node = await self.call("GET", f"/nodes/{self.lab.nodes[name]}")
        return str(node["status"])

    def captured(self) -> list[Packet]:
        projects = self.server.home.path / "GNS3" / "projects"
        return list(rdpcap(str(projects / self.lab.project_id / "project-files" / "captures" / CAPTURE_FILE)))


async def eventually(ask: Callable[[], Awaitable[str]], pattern: str) -> str:
    """Ask until the answer matches. Raises TimeoutError that shows the last one."""
    answer = ""
    try:
        async with asyncio.timeout(PATIENCE):
            while not re.search(pattern, answer):
                answer = await ask()
    except TimeoutError:
        raise TimeoutError(f"no {pattern!r} in {answer!r}") from None
    return answer


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def demo() -> AsyncIterator[Demo]:
    async with run_server(copilot=False) as server:
        lab = await build_lab(server.api, server.home)
        yield Demo(server, lab, await exchange_traffic(server.api, lab))
    assert processes_at_home(server.home.path) == []
    assert not server.home.path.exists()


async def test_all_nodes_are_started_and_linked(demo: Demo):
    nodes = await demo.call("GET", "/nodes")
    assert {node["name"]: node["status"] for node in nodes} == dict.fromkeys(("R1", "R2", "PC1", "PC2"), "started")
    assert len(await demo.call("GET", "/links")) == 3


async def test_pc1_pings_pc2_through_both_routers(demo: Demo):
    assert demo.ping.count("84 bytes from 192.168.2.10") == 2
    answer = await demo.pc1("ping 192.168.2.10 -c 3 -i 50")
    assert len(re.findall(r"84 bytes from 192\.168\.2\.10 icmp_seq=\d ttl=62", answer)) == 3


async def test_pc1_traces_the_path_to_pc2(demo: Demo):
    answer = await demo.pc1("trace 192.168.2.10")
    assert re.findall(r"^ \d  [ *]+([\d.]+)", answer, re.MULTILINE) == ["192.168.1.1", "10.0.12.2", "192.168.2.10"]


async def test_routers_are_full_ospf_neighbours(demo: Demo):
    for name, router_id in (("R1", "2.2.2.2"), ("R2", "1.1.1.1")):
        assert re.search(
            rf"^{router_id} +1 +FULL/B?DR ", await demo.router(name, "show ip ospf neighbor"), re.MULTILINE
        )


async def test_capture_holds_ospf_arp_and_icmp(demo: Demo):
    async def captured() -> str:
        await asyncio.sleep(0.2)
        return " ".join(kind.__name__ for kind in (OSPF_Hello, ARP, ICMP) if any(kind in p for p in demo.captured()))

    await eventually(captured, "OSPF_Hello ARP ICMP")


async def test_wrong_area_cuts_the_pcs_off_until_it_is_put_right(demo: Demo):
    async def ping() -> str:
        return await demo.pc1("ping 192.168.2.10 -c 1")

    config = "configure terminal", "router ospf 1"
    await demo.router("R2", *config, "network 10.0.12.0 0.0.0.255 area 1", "end")
    await eventually(ping, "Destination network unreachable")
    assert "FULL" not in await demo.router("R1", "show ip ospf neighbor")
    await demo.router("R2", *config, "network 10.0.12.0 0.0.0.255 area 0", "end")
    await eventually(ping, "84 bytes from")
    assert any(OSPF_LSUpd in packet for packet in demo.captured())


async def test_delay_filter_slows_the_ping_down(demo: Demo):
    link = f"/links/{demo.lab.links['R1-PC1']}"
    await demo.call("PUT", link, {"filters": {"delay": [50, 0]}})
    times = [float(time) for time in re.findall(r"time=([\d.]+)", await demo.pc1("ping 192.168.2.10 -c 2 -i 50"))]
    await demo.call("POST", f"{link}/reset")
    assert len(times) == 2 and min(times) > 100


async def test_suspended_link_takes_the_interface_down(demo: Demo):
    async def interfaces() -> str:
        return await demo.router("R1", "show ip interface brief")

    link = f"/links/{demo.lab.links['R1-PC1']}"
    await demo.call("PUT", link, {"suspend": True})
    await eventually(interfaces, r"GigabitEthernet0/1 +192\.168\.1\.1 +YES manual down +down")
    await demo.call("PUT", link, {"suspend": False})
    await demo.call("POST", f"{link}/reset")
    await eventually(interfaces, r"GigabitEthernet0/1 +192\.168\.1\.1 +YES manual up +up")


async def test_router_is_suspended_and_resumed(demo: Demo):
    await demo.act("R2", "suspend")
    assert await demo.status("R2") == "suspended"
    await demo.act("R2", "start")
    assert await demo.status("R2") == "started"
    await eventually(lambda: demo.router("R1", "show ip ospf neighbor"), "FULL")


async def test_reload_forgets_what_was_not_written(demo: Demo):
    lines = "configure terminal", "interface loopback 7", "ip address 7.7.7.7 255.255.255.255", "end"
    await demo.router("R2", *lines)
    assert "7.7.7.7" in await demo.router("R2", "show ip interface brief")
    await demo.act("R2", "reload")
    await eventually(lambda: demo.router("R2", "show ip ospf neighbor"), "FULL")
    assert "7.7.7.7" not in await demo.router("R2", "show ip interface brief")
    await demo.router("R2", *lines, "write memory")
    await demo.act("R2", "stop")
    assert await demo.status("R2") == "stopped"
    await demo.act("R2", "start")
    assert "7.7.7.7" in await demo.router("R2", "show ip interface brief")


async def test_node_from_the_template_is_a_router_of_its_own(demo: Demo):
    templates = await demo.server.api.get("/templates")
    template = next(one["template_id"] for one in templates if one["name"] == "Scripted router")
    node = await demo.call("POST", f"/templates/{template}", {"x": 0, "y": 200, "compute_id": "local"})
    await demo.call("POST", f"/nodes/{node['node_id']}/start", {})
    assert "device_type: cisco_ios" in node["properties"]["usage"]
    async with open_console(node["console"]) as console:
        await console.wake()
        assert "administratively down" in await console.run("show ip interface brief")
    await demo.call("DELETE", f"/nodes/{node['node_id']}")


LAB_FOR_EVER = """
import asyncio
from gns3server_copilot.demo.lab import build_lab
from gns3server_copilot.demo.server import run_server

async def main():
    async with run_server(copilot=False) as server:
        await build_lab(server.api, server.home)
        print(server.home.path, flush=True)
        await asyncio.sleep(600)

asyncio.run(main())
"""


async def gone(home: Path) -> str:
    await asyncio.sleep(0.2)
    return f"{len(processes_at_home(home))} processes, folder {'there' if home.exists() else 'gone'}"


@pytest.mark.slow
async def test_killed_demo_leaves_no_process_and_no_folder():
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", LAB_FOR_EVER, stdout=asyncio.subprocess.PIPE, start_new_session=True
    )
    assert process.stdout
    home = Path((await process.stdout.readline()).decode().strip())
    assert len(processes_at_home(home)) == 1 + 4 * 2
    process.kill()
    await process.wait()
    await eventually(lambda: gone(home), "^0 processes, folder gone$")


@pytest.mark.slow
async def test_killed_keeper_leaves_nothing_either():
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", LAB_FOR_EVER, stdout=asyncio.subprocess.PIPE, start_new_session=True
    )
    assert process.stdout
    home = Path((await process.stdout.readline()).decode().strip())
    for child in psutil.Process(process.pid).children():
        os.kill(child.pid, signal.SIGKILL)
    await eventually(lambda: gone(home), "^0 processes")
    process.send_signal(signal.SIGINT)
    await process.wait()
    assert not home.exists()


async def test_demo_answers_keeps_running_and_goes_without_a_trace(tmp_path: Path):
    questions = ("/create 1 vpcs", "connect PC3 to R1", "start PC3", "/topology")
    asked = [word for question in questions for word in ("--once", question)]
    command = [sys.executable, "-m", "gns3server_copilot.cli", "demo", *asked, "--keep"]
    environment = os.environ | {"HOME": str(tmp_path)}
    process = await asyncio.create_subprocess_exec(
        *command, stdout=asyncio.subprocess.PIPE, start_new_session=True, env=environment
    )
    assert process.stdout
    shown = ""
    async with asyncio.timeout(100):
        while "stops it and removes everything" not in shown:
            line = await process.stdout.readline()
            assert line, shown
            shown += line.decode()
    assert "The devices are scripted" in shown
    for name in ("R1", "R2", "PC1", "PC2"):
        assert re.search(rf"^\| {name} .* started ", shown, re.MULTILINE)
    for done in ("create_gns3_node", "create_gns3_link", "start_gns3_node"):
        assert f"✓ {done}: 1 of 1" in shown
    assert re.search(r"^\| PC3 .* started .* prompt .*PC3>", shown, re.MULTILINE)
    told = dict(re.findall(r"^ +(API|user|password) +(\S+)$", shown, re.MULTILINE))
    login = {"username": told["user"], "password": told["password"]}
    async with httpx.AsyncClient(timeout=30) as client:
        answer = await client.post(f"{told['API']}/access/users/authenticate", json=login)
    assert answer.status_code == 200
    process.terminate()
    assert await process.wait() == 128 + signal.SIGTERM
    assert list(tmp_path.iterdir()) == []


async def test_sessions_read_and_configure_its_devices(demo: Demo) -> None:
    families = packaged_knowledge().of(Family)

    async def always() -> None:
        pass

    router = Session(families["cisco_ios"], StoredCredentials(), always)
    await router.attach("127.0.0.1", demo.lab.consoles["R1"])
    try:
        output = await router.run("show ip interface brief", PATIENCE)
        assert output.error is None and "GigabitEthernet0/0" in output.text
        assert (await router.run("show nonsense", PATIENCE)).refused
        lines = ["interface Gi0/2", "description by a session"]
        done = await configure(router, lines, stop_at_error=True, save=True, seconds=PATIENCE)
        assert (done.error, done.saved) == (None, True)
        assert done.diff is not None and "description by a session" in done.diff
    finally:
        await router.close()
    pc = Session(families["vpcs"], StoredCredentials(), always)
    await pc.attach("127.0.0.1", demo.lab.consoles["PC1"])
    try:
        async with asyncio.timeout(3 * PATIENCE):  # the routers may still be telling each other their networks
            while "84 bytes from" not in (await pc.run("ping 192.168.2.10 -c 2", PATIENCE)).text:
                pass
    finally:
        await pc.close()
