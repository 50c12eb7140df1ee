"""The ground itself: servers, users, projects and the lab, on a stock server without the copilot."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from contextlib import aclosing

import httpx
import pytest

from tests.devices import play
from tests.ground.lab import Lab
from tests.ground.projects import Projects
from tests.ground.server import GNS3Server
from tests.ground.users import Accounts, UserClient, log_in, log_in_admin, ok


@pytest.fixture(scope="module")
def stock_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GNS3Server]:
    server = GNS3Server(tmp_path_factory.mktemp("stock"), copilot=False)
    server.start()
    yield server
    server.discard()


@pytest.fixture
def gns3_server(stock_server: GNS3Server) -> GNS3Server:
    """What stands on `gns3_server` stands on the stock server in this module."""
    return stock_server


def test_it_is_the_stock_server_in_a_home_of_its_own(stock_server: GNS3Server) -> None:
    version = httpx.get(f"{stock_server.url}/v3/version").json()
    assert version["version"].startswith("3.0.")
    assert stock_server.database_path.exists()
    assert "GNS3 server version" in stock_server.log()
    assert httpx.get(f"{stock_server.url}/v3/copilot/status").status_code == 404


async def test_nodes_can_be_made_at_once(admin: UserClient, project: Projects) -> None:
    templates = await ok(admin.get("/v3/templates"))
    switch = next(t["template_id"] for t in templates if t["template_type"] == "vpcs")
    node = await ok(admin.post(f"{project.url}/templates/{switch}", json={"x": 0, "y": 0}))
    assert node["status"] == "stopped"


async def test_a_new_user_may_do_nothing(make_user, project) -> None:
    user = await make_user()
    assert (await user.get("/v3/access/users/me")).status_code == 200
    assert (await user.get(project.url)).status_code == 403
    assert await ok(user.get("/v3/projects")) == []


async def test_a_role_holds_everywhere_unless_a_place_is_named(make_user, make_project) -> None:
    here, there = await make_project(), await make_project()
    everywhere = await make_user(role="User")
    auditor = await make_user(role="Auditor", on=here)
    for project in (here, there):
        assert (await everywhere.get(project.url)).status_code == 200
    assert (await auditor.get(here.url)).status_code == 200
    assert (await auditor.get(there.url)).status_code == 403
    assert (await auditor.post(f"{here.url}/close")).status_code == 403


async def test_single_privileges_can_be_given(make_user, project) -> None:
    user = await make_user(privileges=["Project.Audit", "Node.Audit"], on=project)
    assert (await user.get(f"{project.url}/nodes")).status_code == 200
    assert (await user.get(f"{project.url}/links")).status_code == 403


async def test_privileges_come_through_a_group(accounts: Accounts, project) -> None:
    user = await accounts.make_user(role="User", on=project, group="students")
    other = await accounts.make_user()
    assert (await user.get(project.url)).status_code == 200
    assert (await other.get(project.url)).status_code == 403
    await accounts.add_to_group(other.user_id, await accounts.group("students"))
    assert (await other.get(project.url)).status_code == 200


async def test_a_user_can_make_projects(make_user, make_project) -> None:
    owner = await make_user(role="User")
    project = await make_project(owner)
    assert project.path.is_dir()
    assert (await owner.get(project.url)).json()["status"] == "opened"


async def test_projects_are_deleted_afterwards(stock_server: GNS3Server, admin: UserClient) -> None:
    projects = Projects(admin)
    project = await projects.make()
    await projects.delete_all()
    assert (await admin.get(project.url)).status_code == 404
    assert not project.path.exists()
    await projects.delete_all()


def test_a_server_of_ones_own_that_cannot_start_says_why(start_gns3_server) -> None:
    with pytest.raises(RuntimeError, match="Could not validate configuration file settings"):
        start_gns3_server(copilot=False, conf={"Server": {"port": "many"}})


@pytest.mark.lab("cloud")
async def test_a_scripted_device_is_a_node_with_a_console(lab: Lab) -> None:
    async with play("cisco_ios", hostname="R1") as device:
        node = await lab.cloud("R1", device.port)
        seen = await ok(lab.admin.get(f"{lab.project.url}/nodes/{node.node_id}"))
        assert (seen["status"], seen["console_type"], seen["console"]) == ("started", "telnet", device.port)
        assert "*12:34:56.789 UTC" in await lab.run(node, "show clock")


@pytest.mark.slow
@pytest.mark.lab("vpcs")
async def test_virtual_pcs_talk_and_their_link_can_be_captured_and_filtered(lab: Lab) -> None:
    pc1, pc2 = await lab.vpcs("PC1", "10.0.0.1/24"), await lab.vpcs("PC2", "10.0.0.2/24")
    link = await lab.link(pc1, pc2)
    await lab.start()
    await lab.ping(pc1, "10.0.0.2")
    async with lab.capture(link) as capture:
        await lab.ping(pc1, "10.0.0.2")
        packets = await capture.packets(at_least=2)
    assert {p["IP"].src for p in packets if p.haslayer("ICMP")} == {"10.0.0.1", "10.0.0.2"}
    await lab.filter(link, frequency_drop=[-1])
    assert "ttl=" not in await lab.run(pc1, "ping 10.0.0.2 -c 1")


@pytest.mark.lab
async def test_routers_exchange_routes_and_pcs_reach_each_other_through_them(lab: Lab) -> None:
    config = """
        interface eth0
         ip address 10.0.12.{n}/24
         ip ospf network point-to-point
         ip ospf hello-interval 1
         ip ospf dead-interval 4
        interface eth1
         ip address 10.{n}.0.254/24
        router ospf
         network 10.0.0.0/8 area 0
         timers throttle lsa all 0
         timers lsa min-arrival 0
        router bgp 6500{n}
         no bgp ebgp-requires-policy
         neighbor 10.0.12.{other} remote-as 6500{other}
         neighbor 10.0.12.{other} timers connect 1
    """
    r1, r2, pc1, pc2, middle = await asyncio.gather(
        lab.router("R1", config=config.format(n=1, other=2)),
        lab.router("R2", config=config.format(n=2, other=1)),
        lab.vpcs("PC1", "10.1.0.1/24 10.1.0.254"),
        lab.vpcs("PC2", "10.2.0.1/24 10.2.0.254"),
        lab.switch("SW1"),
    )
    core = await lab.link(r1, middle)
    await lab.link(r2, middle)
    await lab.link(r1, pc1)
    await lab.link(r2, pc2)
    await lab.start()
    async with lab.capture(core) as capture:
        await lab.ping(pc1, "10.2.0.1")
        packets = await capture.packets(at_least=4)
    assert any(packet.haslayer("OSPF_Hdr") for packet in packets)
    assert "10.0.12.2" in await lab.run(r1, "show ip ospf neighbor")
    await lab.wait_for_text(r1, "show bgp neighbors", "Established")


@pytest.mark.slow
async def test_a_server_comes_back_after_a_crash_with_what_it_had_and_stops_in_time(stock_server: GNS3Server) -> None:
    async with aclosing(await log_in_admin(stock_server)) as admin:
        project = await ok(admin.post("/v3/projects", json={"name": "kept"}))
        node = {"compute_id": "local", "node_type": "vpcs", "name": "PC1"}
        await ok(admin.post(f"/v3/projects/{project['project_id']}/nodes", json=node))
    pid = stock_server.pid
    stock_server.kill()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    stock_server.start()
    async with aclosing(await log_in(stock_server, "admin", stock_server.admin_password)) as admin:
        assert [project["name"] for project in await ok(admin.get("/v3/projects"))] == ["kept"]
    # gns3-server's own notification stream looks for the end every 5 s.
    assert stock_server.stop() < 8
    assert stock_server.leftovers == []
