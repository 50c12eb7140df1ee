"""Captures that real nodes fill, asked about through the chat."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

import pytest

from tests.ground.captures.build import A, B, udp, write
from tests.ground.chat import ask, configure_model, open_turn
from tests.ground.lab import Lab, Link, Node
from tests.ground.model_script import Gate, call, text, tool_calls
from tests.ground.projects import Projects
from tests.ground.sse import tool_outputs
from tests.ground.users import log_in_admin, ok
from tests.ground.waiting import until

TOOL = "packet_analysis"
START = {"link": "PC1-PC2", "action": "start_capture"}
STOP = {"link": "PC1-PC2", "action": "stop_capture"}
ANALYSE = {"link": "PC1-PC2"}


async def use(lab: Lab, model_server: Any, *calls: dict[str, Any]) -> list[dict[str, Any]]:
    """Have the model use the tool, one call after the other, and give what it answered."""
    model_server.script(*(tool_calls(call(TOOL, arguments)) for arguments in calls), text("Done."))
    return tool_outputs(await ask(lab.admin, lab.project, "What is on the wire?"))


async def state_of(lab: Lab, link: Link) -> dict[str, Any]:
    """The link as gns3-server has it."""
    state = await ok(lab.admin.get(f"{lab.project.url}/links/{link.link_id}"))
    assert isinstance(state, dict)
    return state


async def capturing(lab: Lab, link: Link) -> bool:
    """Whether a capture runs on the link."""
    return bool((await state_of(lab, link))["capturing"])


def result(output: dict[str, Any]) -> dict[str, Any]:
    """What the tool found out."""
    assert output["success"], output
    found = json.loads(output["data"][0]["result"])
    assert isinstance(found, dict)
    return found


@pytest.fixture
async def wire(lab: Lab, model_server: Any) -> AsyncIterator[tuple[Node, Link]]:
    """A running PC that reaches the other end of a link, and a user who has a model."""
    await configure_model(lab.admin, model_server)
    yield await lab.two_pcs()


@pytest.mark.lab("vpcs")
async def test_a_capture_is_read_while_it_grows_and_stopped_with_the_turn(lab, wire, model_server) -> None:
    pc1, link = wire
    empty, full = Gate(), Gate()
    icmp = ANALYSE | {"protocol": "ICMP", "where": [{"field": "type", "value": "echo-reply"}], "fields": ["seq"]}
    model_server.script(
        tool_calls(call(TOOL, START)),
        tool_calls(call(TOOL, ANALYSE)),
        tool_calls(call(TOOL, ANALYSE | {"link": "pc2 <-> pc1:e0"})).held(empty),
        tool_calls(call(TOOL, icmp)),
        text("Done.").held(full),
    )
    async with open_turn(lab.admin, lab.project, "What is on the wire?") as stream:
        await empty.reached()
        assert await capturing(lab, link)
        await lab.ping(pc1, "10.0.0.2")
        empty.release()
        await full.reached()
        await lab.ping(pc1, "10.0.0.2")
        full.release()
        found = tool_outputs(await stream.rest())
    assert found[0]["data"][0]["data_link_type"] == "DLT_EN10MB"
    nothing = result(found[1])
    assert nothing["frames"] == 0
    assert "There are no packets in it yet." in nothing["notes"]
    something = result(found[2])
    assert something["protocols"]["icmp"] >= 2
    assert {end for talk in something["conversations"] for end in (talk["a"], talk["b"])} >= {"10.0.0.1", "10.0.0.2"}
    replies = result(found[3])
    assert replies["packets"]
    assert all(packet.keys() == {"number", "time", "seq"} for packet in replies["packets"])
    await until(lambda: _not_capturing(lab, link))


async def _not_capturing(lab: Lab, link: Link) -> bool:
    return not await capturing(lab, link)


@pytest.mark.lab("vpcs")
async def test_start_stop_start_within_a_moment(lab, wire, model_server) -> None:
    _, link = wire
    names = []
    for _ in range(2):
        found = await use(lab, model_server, START, STOP, START, START, STOP, STOP, ANALYSE)
        assert [output["success"] for output in found] == [True] * 7, found
        assert "runs on this link already; it is the copilot's" in found[3]["data"][0]["result"]
        assert "No capture runs" in found[5]["data"][0]["result"]
        assert result(found[6])["frames"] == 0
        assert not await capturing(lab, link)
        names.append((await state_of(lab, link))["capture_file_name"])
    assert names[0] != names[1]
    kept = [path.name for path in (lab.project.path / "project-files" / "captures").iterdir()]
    assert kept == [names[1]]


@pytest.mark.lab("vpcs")
async def test_the_tool_captures_by_itself_when_it_is_given_time(lab, wire, model_server) -> None:
    pc1, link = wire
    question = asyncio.create_task(use(lab, model_server, ANALYSE | {"seconds": 3}))
    await until(lambda: capturing(lab, link))
    await lab.ping(pc1, "10.0.0.2")
    (answer,) = await question
    found = result(answer)
    assert found["protocols"]["icmp"] >= 2
    assert "Captured for 3 s for this answer." in found["notes"]


@pytest.mark.lab("vpcs")
async def test_a_capture_of_the_users_own_goes_on(lab, wire, model_server) -> None:
    pc1, link = wire
    async with lab.capture(link) as capture:
        await lab.ping(pc1, "10.0.0.2")
        await capture.packets(at_least=2)
        started, stopped, analysed = await use(lab, model_server, START, STOP, ANALYSE)
        assert "not the copilot's" in started["data"][0]["result"]
        assert "it goes on" in stopped["error"]
        assert result(analysed)["protocols"]["icmp"] >= 2
        assert await capturing(lab, link)
    (afterwards,) = await use(lab, model_server, ANALYSE)
    assert "The capture has ended." in result(afterwards)["notes"]


@pytest.mark.lab("vpcs")
async def test_an_aborted_turn_stops_its_capture(lab, wire, model_server) -> None:
    _, link = wire
    model_server.script(tool_calls(call(TOOL, START | {"seconds": 100})))
    async with open_turn(lab.admin, lab.project, "Look.") as stream:
        session_id = (await stream.next("tool_start"))["session_id"]
        await until(lambda: capturing(lab, link))
        await ok(lab.admin.post(f"{lab.project.chat}/sessions/{session_id}/abort"))
        await stream.next("abort")
    await until(lambda: _not_capturing(lab, link))


@pytest.mark.lab("vpcs", "dynamips")
async def test_ten_running_captures_are_analysed_at_once(lab, make_user, model_server) -> None:
    # two users with as many turns as each may have: to log ten users in takes longer than the rest
    users = [await make_user(role="User", on=lab.project) for _ in range(2)]
    for user in users:
        await configure_model(user, model_server)
    switch = await lab.switch("SW1", ports=10)
    links = [await lab.link(await lab.vpcs(f"PC{number}"), switch) for number in range(10)]
    model_server.always(text("Done."))

    async def analysis(number: int) -> dict[str, Any]:
        name = f"PC{number}-SW1"
        look = tool_calls(call(TOOL, {"link": name}))
        model_server.when(lambda asked: not asked.tool_results and name in str(asked.messages[-1]["content"]), look)
        async with lab.capture(links[number]) as capture:
            write(capture.path, [udp(A, B, 53, bytes(40), 1024)] * (number + 1))
            answers = tool_outputs(await ask(users[number % 2], lab.project, f"What is on {name}?"))
            assert await capturing(lab, links[number])
        return result(*answers)

    found = await asyncio.gather(*map(analysis, range(10)))
    assert [one["frames"] for one in found] == list(range(1, 11))
    assert all("The capture is still running." in one["notes"] for one in found)


@pytest.mark.lab("vpcs")
async def test_each_reason_for_having_nothing_to_read_is_told_apart(lab, admin, model_server) -> None:
    await configure_model(admin, model_server)
    pc1, pc2 = await lab.vpcs("PC1"), await lab.vpcs("PC2")
    await lab.link(pc1, pc2)
    unknown, ambiguous, never, stopped, field, protocol, number = await use(
        lab,
        model_server,
        {"link": "PC1-PC9"},
        {},
        ANALYSE,
        START,
        ANALYSE | {"protocol": "ospf", "where": [{"field": "helo_interval", "value": "10"}]},
        ANALYSE | {"protocol": "opsf"},
        ANALYSE | {"where": [{"field": "frame.length", "op": "gt", "value": "long"}]},
    )
    assert "There is no link called PC1-PC9. Nearest: PC1:e0–PC2:e0" in unknown["error"]
    assert "Which link?" in ambiguous["error"]
    assert "Nothing has been captured on this link" in never["error"]
    assert "no running device" in stopped["error"]
    assert "ospf.hello_interval" in field["error"]
    assert "Nearest: ospf" in protocol["error"]
    assert "needs a number" in number["error"]


@pytest.mark.lab("vpcs")
async def test_a_capture_on_a_remote_compute_is_read_from_its_stream(start_gns3_server, tmp_path, model_server) -> None:
    password = secrets.token_hex(8)
    remote = start_gns3_server(copilot=False, conf={"Server": {"compute_password": password}})
    controller = start_gns3_server()
    async with aclosing(await log_in_admin(controller)) as admin:
        await configure_model(admin, model_server)
        body: dict[str, Any] = {"protocol": "http", "host": "127.0.0.1", "port": remote.ports.http, "name": "other"}
        body |= {"user": "gns3", "password": password}
        compute = await ok(admin.post("/v3/computes", json=body))
        await ok(admin.post(f"/v3/computes/{compute['compute_id']}/connect"))
        lab = Lab(admin, await Projects(admin).make(), tmp_path)
        nodes = []
        for number in (1, 2):
            script = f"set pcname PC{number}\nip 10.0.0.{number}/24\n"
            body = {"node_type": "vpcs", "name": f"PC{number}", "compute_id": compute["compute_id"]}
            body |= {"properties": {"startup_script": script}}
            made = await ok(admin.post(f"{lab.project.url}/nodes", json=body))
            nodes.append(Node(made["node_id"], made["name"], made["console"]))
        link = await lab.link(*nodes)
        await lab.start()
        gate = Gate()
        model_server.script(
            tool_calls(call(TOOL, START)),
            tool_calls(call(TOOL, ANALYSE)).held(gate),
            tool_calls(call(TOOL, STOP)),
            tool_calls(call(TOOL, ANALYSE)),
            text("Done."),
        )
        async with open_turn(admin, lab.project, "What is on the wire?") as stream:
            await gate.reached()
            await lab.ping(nodes[0], "10.0.0.2")
            gate.release()
            _, running, _, ended = tool_outputs(await stream.rest())
        assert result(running)["protocols"]["icmp"] >= 2
        assert not await capturing(lab, link)
        assert result(ended)["protocols"]["icmp"] >= 2
        (afterwards,) = await use(lab, model_server, ANALYSE)
        assert "on another compute" in afterwards["error"]
        await lab.clean_up()


@pytest.mark.slow
@pytest.mark.lab("frr", "dynamips")
async def test_why_two_routers_do_not_become_neighbours_is_read_from_the_wire(lab, admin, model_server) -> None:
    await configure_model(admin, model_server)
    config = """
        interface eth0
         ip address 10.0.12.{n}/24
         ip ospf hello-interval {hello}
         ip ospf dead-interval 8
        router ospf
         ospf router-id {n}.{n}.{n}.{n}
         network 10.0.0.0/8 area 0
    """
    r1, r2, middle = await asyncio.gather(
        lab.router("R1", config=config.format(n=1, hello=1)),
        lab.router("R2", config=config.format(n=2, hello=2)),
        lab.switch("SW1"),
    )
    await lab.link(r1, middle)
    await lab.link(r2, middle)
    ospf, everything = await use(
        lab, model_server, {"link": "R1-SW1", "protocol": "ospf", "seconds": 6}, {"link": "R1-SW1"}
    )
    found = result(ospf)
    assert found["facts"]["router_ids"] == ["1.1.1.1", "2.2.2.2"]
    assert found["facts"]["hello_intervals"] == [1, 2]
    (finding,) = [one for one in found["findings"] if one["id"] == "ospf_hello_interval_mismatch"]
    assert finding["severity"] == "error"
    assert "10.0.12.1" in finding["message"] and "10.0.12.2" in finding["message"]
    assert set(finding["packets"]) <= {packet["number"] for packet in found["packets"]}
    assert "ospf_hello_interval_mismatch" in {one["id"] for one in result(everything)["findings"]}
