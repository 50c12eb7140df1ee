"""The demo's lab: PC1 - R1 - R2 - PC2, built through the API as any user would build it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from gns3server_copilot.commands.server import Server
from gns3server_copilot.demo.consoles import type_line
from gns3server_copilot.demo.home import Home
from gns3server_copilot.demo.ios.machine import STARTUP_FILE
from gns3server_copilot.errors import UnavailableError

PROJECT_NAME = "copilot-demo"
ADAPTERS = 4
CAPTURE_FILE = "R1-R2.pcap"

SCRIPTED = (
    "The devices are scripted: small Python programs play two IOS-like routers and two PCs. No emulator runs and no "
    "Cisco software is in them. The frames on the links are real."
)

_CONVERGE_SECONDS = 15.0
_LOCAL = "local"

ROUTER_CONFIG = """\
hostname R{n}
!
interface Loopback0
 ip address {n}.{n}.{n}.{n} 255.255.255.255
!
interface GigabitEthernet0/0
 description to R{peer}
 ip address 10.0.12.{n} 255.255.255.0
 ip ospf hello-interval 2
!
interface GigabitEthernet0/1
 description to PC{n}
 ip address 192.168.{n}.1 255.255.255.0
!
router ospf 1
 router-id {n}.{n}.{n}.{n}
 passive-interface GigabitEthernet0/1
 network {n}.{n}.{n}.{n} 0.0.0.0 area 0
 network 10.0.12.0 0.0.0.255 area 0
 network 192.168.{n}.0 0.0.0.255 area 0
!
line con 0
 logging synchronous
!
end
"""
PC_CONFIG = """\
set pcname PC{n}
ip 192.168.{n}.10 192.168.{n}.1 24
"""


@dataclass(frozen=True, slots=True)
class Lab:
    """Ids and consoles by the names of nodes; links by `R1-R2`, `R1-PC1`, `R2-PC2`."""

    project_id: str
    nodes: dict[str, str]
    consoles: dict[str, int]
    links: dict[str, str]


async def build_lab(api: Server, home: Home) -> Lab:
    """Create the project with its nodes and links, all of them started."""
    template = await _create_router_template(api, home)
    project_id = (await api.post("/projects", {"name": PROJECT_NAME}))["project_id"]
    project = f"/projects/{project_id}"
    nodes: dict[str, dict[str, Any]] = {}
    for n, x in ((1, -100), (2, 100)):
        nodes[f"R{n}"] = await _create_router(api, project, template, n, x)
        nodes[f"PC{n}"] = await _create_pc(api, project, n, 3 * x)
    links = {}
    for one, port, other, other_port in (("R1", 0, "R2", 0), ("R1", 1, "PC1", 0), ("R2", 1, "PC2", 0)):
        ends = [_end(nodes[one], port), _end(nodes[other], other_port)]
        links[f"{one}-{other}"] = (await api.post(f"{project}/links", {"nodes": ends}))["link_id"]
    await api.post(f"{project}/drawings", {"svg": _note(SCRIPTED), "x": -330, "y": 90})
    await api.post(f"{project}/nodes/start")
    return Lab(
        project_id,
        {name: node["node_id"] for name, node in nodes.items()},
        {name: node["console"] for name, node in nodes.items()},
        links,
    )


async def exchange_traffic(api: Server, lab: Lab) -> str:
    """Start a capture between the routers and ping through it; gives what the ping printed.

    Raises UnavailableError when the PCs do not reach each other within some seconds.
    """
    capture = {"capture_file_name": CAPTURE_FILE, "data_link_type": "DLT_EN10MB"}
    await api.post(f"/projects/{lab.project_id}/links/{lab.links['R1-R2']}/capture/start", capture)
    printed = ""
    try:
        async with asyncio.timeout(_CONVERGE_SECONDS):
            while printed.count("84 bytes from") < 2:
                printed = await type_line(lab.consoles["PC1"], "ping 192.168.2.10 -c 2 -i 100", "PC1> ")
    except TimeoutError:
        raise UnavailableError(f"PC1 does not reach PC2. Its last answer: {printed.strip()[-100:]!r}") from None
    return "\n".join(line for line in printed.splitlines() if "bytes from" in line)


async def _create_router_template(api: Server, home: Home) -> str:
    template = {
        "name": "Scripted router",
        "template_type": "qemu",
        "category": "router",
        "symbol": ":/symbols/classic/router.svg",
        "default_name_format": "R{0}",
        # The device family is read from the usage text, which gns3-server keeps.
        "usage": f"device_type: cisco_ios\n{SCRIPTED}",
        # Absolute: with the platform alone gns3-server might find a real QEMU of the machine.
        "qemu_path": str(home.qemu),
        "adapters": ADAPTERS,
        "port_name_format": "Gi0/{0}",
        "ram": 16,
        "console_type": "telnet",
        "compute_id": _LOCAL,
    }
    return str((await api.post("/templates", template))["template_id"])


async def _create_router(api: Server, project: str, template: str, n: int, x: int) -> dict[str, Any]:
    wanted = {"name": f"R{n}", "compute_id": _LOCAL, "x": x, "y": 0}
    node: dict[str, Any] = await api.post(f"{project}/templates/{template}", wanted)
    config = ROUTER_CONFIG.format(n=n, peer=3 - n)
    startup_file = Path(node["node_directory"]) / STARTUP_FILE
    await asyncio.to_thread(startup_file.write_text, config, encoding="utf-8")
    return node


async def _create_pc(api: Server, project: str, n: int, x: int) -> dict[str, Any]:
    node: dict[str, Any] = await api.post(
        f"{project}/nodes",
        {
            "name": f"PC{n}",
            "node_type": "vpcs",
            "compute_id": _LOCAL,
            "symbol": ":/symbols/classic/vpcs_guest.svg",
            "x": x,
            "y": 0,
            "properties": {"startup_script": PC_CONFIG.format(n=n)},
        },
    )
    return node


def _end(node: dict[str, Any], adapter: int) -> dict[str, Any]:
    return {"node_id": node["node_id"], "adapter_number": adapter, "port_number": 0}


def _note(text: str) -> str:
    lines = text.replace(": ", ":\n", 1).replace(". ", ".\n").split("\n")
    spans = "".join(f'<tspan x="0" dy="16">{escape(line)}</tspan>' for line in lines)
    return f'<svg width="660" height="80"><text font-family="sans" font-size="12" fill="#000000">{spans}</text></svg>'
