"""A whole lab built by one turn of tool calls, on a real gns3-server with real emulators."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

import pytest

from tests.ground.chat import ask, configure_model
from tests.ground.event_rules import check_event_order
from tests.ground.lab_tools import missing, scripted_qemu
from tests.ground.model_script import call, text, tool_calls
from tests.ground.model_server import ModelServer
from tests.ground.projects import Project
from tests.ground.sse import tool_outputs
from tests.ground.users import UserClient, ok, unique

MODE = "lab_automation_assistant"
#: What is asked for: the nodes by name, and the links as node and port, node and port.
ROUTERS, PCS = ("R1", "R2", "R3"), ("PC1", "PC2", "PC3", "PC4", "PC5")
PLACES = {"R1": (-300, -300), "R2": (300, -300), "R3": (0, 300)}
LINKS = [
    ("R1", "Gi0/0", "R2", "Gi0/0"),
    ("R2", "GigabitEthernet0/1", "R3", "g0/0"),
    ("R3", "gi0/1", "R1", "Gi0/1"),
    ("R1", "Gi0/2", "SW1", "e0"),
    ("R2", "Gi0/2", "SW2", "Ethernet0"),
    ("R3", "Gi0/2", "HUB1", "e0"),
    ("SW1", "e7", "SW2", "e7"),
    ("PC1", "e0", "SW1", "e1"),
    ("PC2", "auto", "SW1", "auto"),
    ("PC3", "eth0", "SW2", "e1"),
    ("PC4", "auto", "SW2", "auto"),
    ("PC5", "Ethernet 0", "HUB1", "auto"),
    ("Out", "auto", "SW1", "auto"),
    ("HUB1", "e7", "SW2", "e6"),
]
#: The same links as they are to be, with the ports' names in full.
ROUTER_PORT, SWITCH_PORT = "GigabitEthernet0/{}".format, "Ethernet{}".format
EXPECTED = {
    frozenset({("R1", ROUTER_PORT(0)), ("R2", ROUTER_PORT(0))}),
    frozenset({("R2", ROUTER_PORT(1)), ("R3", ROUTER_PORT(0))}),
    frozenset({("R3", ROUTER_PORT(1)), ("R1", ROUTER_PORT(1))}),
    frozenset({("R1", ROUTER_PORT(2)), ("SW1", SWITCH_PORT(0))}),
    frozenset({("R2", ROUTER_PORT(2)), ("SW2", SWITCH_PORT(0))}),
    frozenset({("R3", ROUTER_PORT(2)), ("HUB1", SWITCH_PORT(0))}),
    frozenset({("SW1", SWITCH_PORT(7)), ("SW2", SWITCH_PORT(7))}),
    frozenset({("PC1", SWITCH_PORT(0)), ("SW1", SWITCH_PORT(1))}),
    frozenset({("PC2", SWITCH_PORT(0)), ("SW1", SWITCH_PORT(2))}),
    frozenset({("PC3", SWITCH_PORT(0)), ("SW2", SWITCH_PORT(1))}),
    frozenset({("PC4", SWITCH_PORT(0)), ("SW2", SWITCH_PORT(2))}),
    frozenset({("PC5", SWITCH_PORT(0)), ("HUB1", SWITCH_PORT(1))}),
    frozenset({("Out", "udp0"), ("SW1", SWITCH_PORT(3))}),
    frozenset({("HUB1", SWITCH_PORT(7)), ("SW2", SWITCH_PORT(6))}),
}
KINDS = {
    **dict.fromkeys(ROUTERS, "qemu"),
    **dict.fromkeys(PCS, "vpcs"),
    "SW1": "ethernet_switch",
    "SW2": "ethernet_switch",
    "HUB1": "ethernet_hub",
    "Out": "cloud",
}

pytestmark = pytest.mark.lab("vpcs", "dynamips", "cloud")


@pytest.fixture
async def templates(admin: UserClient, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Names of the templates of a router and of a way out that touches no interface of this machine."""
    if reasons := await asyncio.to_thread(missing, ("vpcs", "dynamips", "cloud")):
        pytest.skip("; ".join(reasons))
    program = await asyncio.to_thread(scripted_qemu, tmp_path_factory.mktemp("qemu"))
    router = {
        "name": unique("router"),
        "template_type": "qemu",
        "qemu_path": str(program),
        "adapters": 4,
        "ram": 16,
        "port_name_format": "GigabitEthernet0/{0}",
        "console_type": "telnet",
        "process_priority": "normal",
        "compute_id": "local",
    }
    udp = {"name": "udp0", "port_number": 0, "type": "udp", "lport": 1, "rhost": "127.0.0.1", "rport": 1}
    out = {"name": unique("out"), "template_type": "cloud", "ports_mapping": [udp], "compute_id": "local"}
    made = [await ok(admin.post("/v3/templates", json=body)) for body in (router, out)]
    yield {"router": router["name"], "out": out["name"]}
    for template in made:
        await admin.delete(f"/v3/templates/{template['template_id']}")


def building(templates: dict[str, str]) -> list[dict[str, Any]]:
    """The three calls that build the lab."""
    nodes = [{"template": templates["router"], "name": name, "x": x, "y": y} for name, (x, y) in PLACES.items()]
    nodes += [{"template": "VPCS", "name": name} for name in PCS]
    nodes += [{"template": "Ethernet switch", "name": name} for name in ("SW1", "SW2")]
    nodes += [{"template": "Ethernet hub", "name": "HUB1"}, {"template": templates["out"], "name": "Out"}]
    links = [dict(zip(("node_a", "port_a", "node_b", "port_b"), link, strict=True)) for link in LINKS]
    return [
        call("create_gns3_node", {"nodes": nodes}),
        call("create_gns3_link", {"links": links}),
        call("start_gns3_node", {"nodes": ["all"]}),
    ]


async def turn(user: UserClient, project: Project, model_server: ModelServer, *calls: Any) -> list[dict[str, Any]]:
    """The responses of these calls, made by the model in one message."""
    model_server.script(tool_calls(*calls), text("Done."))
    events = await ask(user, project, "Build it", seconds=120, copilot_mode=MODE)
    check_event_order(events)
    return tool_outputs(events)


def failures(*responses: dict[str, Any]) -> list[str]:
    """What went wrong, if anything."""
    errors = [response["error"] for response in responses if "error" in response]
    return errors + [item["error"] for response in responses for item in response["data"] if "error" in item]


async def lab_of(user: UserClient, project: Project) -> tuple[dict[str, Any], set[frozenset[tuple[str, str]]]]:
    """The nodes by name, and the links by node and port, as gns3-server has them."""
    nodes = await ok(user.get(f"{project.url}/nodes"))
    ports = {
        (node["node_id"], port["adapter_number"], port["port_number"]): (node["name"], port["name"])
        for node in nodes
        for port in node["ports"]
    }
    links = [
        frozenset(ports[end["node_id"], end["adapter_number"], end["port_number"]] for end in link["nodes"])
        for link in await ok(user.get(f"{project.url}/links"))
    ]
    assert len(set(links)) == len(links)
    return {node["name"]: node for node in nodes}, set(links)


@pytest.mark.parametrize("who", ["superadmin", "user"])
async def test_a_lab_of_12_nodes_and_14_links_is_built_and_started_and_not_doubled_by_the_same_calls(
    admin: UserClient, make_user: Any, project: Project, model_server: ModelServer, templates: dict[str, str], who: str
) -> None:
    user = admin if who == "superadmin" else await make_user(role="User", on=project)
    await configure_model(user, model_server)
    created, linked, started = await turn(user, project, model_server, *building(templates))
    assert failures(created, linked, started) == []

    nodes, links = await lab_of(admin, project)
    assert {name: node["node_type"] for name, node in nodes.items()} == KINDS
    assert {name: (nodes[name]["x"], nodes[name]["y"]) for name in PLACES} == PLACES
    assert links == EXPECTED
    assert {node["status"] for node in nodes.values()} == {"started"}
    assert [item["id"] for item in created["data"]] == [nodes[item["name"]]["node_id"] for item in created["data"]]
    places = [complex(node["x"], node["y"]) for node in nodes.values()]
    assert min(abs(one - other) for i, one in enumerate(places) for other in places[:i]) >= 250
    by_name = {item["name"]: json.loads(item["result"]) for item in started["data"]}
    assert all(by_name[name]["ready"] for name in (*ROUTERS, *PCS)), by_name

    again = await turn(user, project, model_server, *building(templates)[:2])
    assert [response["successful"] for response in again] == [0, 0]
    assert "R1 exists already (id " in again[0]["data"][0]["error"]
    assert again[1]["data"][0]["error"].startswith("This link exists already: R1:")
    assert again[1]["data"][8]["error"] == (
        "There is no pair of free ports that fit. PC2 has no free port. Free ports of SW1: Ethernet4..Ethernet6. "
        "They are linked already: PC2:e0–SW1:e2."
    )
    assert (await lab_of(admin, project))[1] == EXPECTED


async def test_an_auditor_changes_nothing_and_is_told_so_item_by_item(
    admin: UserClient, make_user: Any, project: Project, model_server: ModelServer, templates: dict[str, str]
) -> None:
    for name in ("PC1", "PC2"):
        body = {"node_type": "vpcs", "name": name, "compute_id": "local"}
        await ok(admin.post(f"{project.url}/nodes", json=body))
    before = await lab_of(admin, project)
    auditor = await make_user(role="Auditor", on=project)
    await configure_model(auditor, model_server)
    responses = await turn(
        auditor,
        project,
        model_server,
        call("create_gns3_node", {"nodes": [{"template": "VPCS"}, {"template": "Ethernet switch", "name": "SW1"}]}),
        call("create_gns3_link", {"links": [{"node_a": "PC1", "node_b": "PC2"}]}),
        call("start_gns3_node", {"nodes": ["PC1", "PC2"]}),
        call("update_gns3_node_name", {"nodes": [{"node": "PC1", "new_name": "A"}]}),
    )
    assert [response["total"] for response in responses] == [2, 1, 2, 1]
    assert [response["successful"] for response in responses] == [0, 0, 0, 0]
    for response, privilege in zip(
        responses, ("Node.Allocate", "Link.Allocate", "Node.PowerMgmt", "Node.Modify"), strict=True
    ):
        assert all(f"privilege {privilege} is required" in item["error"] for item in response["data"]), response
    assert await lab_of(admin, project) == before


async def test_a_hundred_nodes_with_one_wrong_are_made_and_the_server_goes_on_answering(
    admin: UserClient, project: Project, model_server: ModelServer
) -> None:
    await configure_model(admin, model_server)
    asked = [{"template": "VPCS", "name": f"N{number}"} for number in range(1, 101)]
    asked[56]["template"] = "VPX"
    delays: list[float] = []

    async def look() -> None:
        while True:
            begun = time.monotonic()
            await ok(admin.get("/v3/version"))
            delays.append(time.monotonic() - begun)
            await asyncio.sleep(0.02)

    looking = asyncio.create_task(look())
    (response,) = await turn(admin, project, model_server, call("create_gns3_node", {"nodes": asked}))
    looking.cancel()
    assert (response["successful"], response["failed"]) == (99, 1)
    wrong = next(item for item in response["data"] if item["status"] == "failed")
    assert wrong["name"] == "N57"
    assert "There is no template called VPX. Nearest: VPCS" in wrong["error"]
    assert len(await ok(admin.get(f"{project.url}/nodes"))) == 99
    # benchmarks/topology.py measures; here machines are shared
    assert response["metadata"]["execution_time"] < 45
    assert sorted(delays)[int(len(delays) * 0.9)] < 1
