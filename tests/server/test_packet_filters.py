"""Packet filters through the chat, on links that really carry packets."""

from __future__ import annotations

import sys
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from tests.ground.chat import ask, configure_model
from tests.ground.lab import Lab, Link
from tests.ground.lab_tools import launcher, missing
from tests.ground.model_script import call, text, tool_calls
from tests.ground.projects import Projects
from tests.ground.sse import tool_outputs
from tests.ground.users import log_in_admin, ok

TOOL = "manage_gns3_packet_filter"
REFUSING_UBRIDGE = Path(__file__).parent.parent / "lab" / "refusing_ubridge.py"


async def use(lab: Lab, model_server: Any, *calls: dict[str, Any]) -> list[dict[str, Any]]:
    """Have the model use the tool, one call after the other, and give what it answered."""
    model_server.script(*(tool_calls(call(TOOL, arguments)) for arguments in calls), text("Done."))
    events = await ask(lab.admin, lab.project, "Make it hard.", copilot_mode="troubleshooting_injection")
    return tool_outputs(events)


async def filters_of(lab: Lab, link: Link) -> dict[str, Any]:
    """The filters that gns3-server shows."""
    state = await ok(lab.admin.get(f"{lab.project.url}/links/{link.link_id}"))
    filters = state["filters"]
    assert isinstance(filters, dict)
    return filters


@pytest.mark.lab("vpcs")
async def test_filters_work_on_the_wire_and_clearing_them_really_clears(lab, admin, model_server) -> None:
    await configure_model(admin, model_server)
    pc1, link = await lab.two_pcs()
    (dropped,) = await use(lab, model_server, {"action": "set", "link": "PC1-PC2", "filters": {"frequency_drop": -1}})
    assert dropped["success"], dropped
    assert await filters_of(lab, link) == {"frequency_drop": [-1]}
    assert "ttl=" not in await lab.run(pc1, "ping 10.0.0.2 -c 1")
    (cleared,) = await use(lab, model_server, {"action": "clear", "link": "PC1-PC2"})
    assert cleared["success"], cleared
    assert await filters_of(lab, link) == {}
    await lab.ping(pc1, "10.0.0.2", seconds=5)


@pytest.mark.lab("vpcs")
async def test_each_type_is_set_merged_replaced_and_read_back(lab, admin, model_server) -> None:
    await configure_model(admin, model_server)
    pc1, link = await lab.two_pcs()
    name = "PC1:e0 <-> PC2:e0"
    for wanted, kept in (
        ({"delay": [20, 5]}, {"delay": [20, 5]}),
        ({"packet_loss": 10}, {"delay": [20, 5], "packet_loss": [10]}),
        ({"bpf": ["icmp[icmptype] == 8", "tcp port 22"]}, None),
        ({"corrupt": 1, "delay": 0, "packet_loss": 0}, None),
        ({"frequency_drop": 32767}, None),
    ):
        (answer,) = await use(lab, model_server, {"action": "set", "link": name, "filters": wanted})
        assert answer["success"], answer
        assert kept is None or await filters_of(lab, link) == kept
    bpf = "icmp[icmptype] == 8\ntcp port 22"
    assert await filters_of(lab, link) == {"bpf": [bpf], "corrupt": [1], "frequency_drop": [32767]}
    set_again = {"action": "set", "link": name, "replace": True, "filters": {"delay": 30}}
    got, replaced, available = await use(
        lab, model_server, {"action": "get", "link": name}, set_again, {"action": "get_available", "link": name}
    )
    assert "every 32767. packet is dropped" in got["data"][0]["result"]
    assert "30 ms" in replaced["data"][0]["result"]
    assert "packet_loss" in available["data"][0]["result"]
    assert await filters_of(lab, link) == {"delay": [30, 0]}
    assert "ttl=" in await lab.ping(pc1, "10.0.0.2")


@pytest.mark.lab("vpcs")
async def test_a_suspended_link_stays_so_and_its_filters_wait_for_it(lab, admin, model_server) -> None:
    await configure_model(admin, model_server)
    pc1, link = await lab.two_pcs()
    url = f"{lab.project.url}/links/{link.link_id}"
    set_it = {"action": "set", "link": "PC1-PC2", "filters": {"delay": 10}}
    clear = {"action": "clear", "link": "PC1-PC2"}
    await ok(admin.put(url, json={"suspend": True}))
    (answer,) = await use(lab, model_server, set_it)
    assert "nothing passes until it is resumed" in answer["data"][0]["result"]
    assert "ttl=" not in await lab.run(pc1, "ping 10.0.0.2 -c 1")
    await ok(admin.put(url, json={"suspend": False}))
    await lab.ping(pc1, "10.0.0.2", seconds=5)
    # gns3-server tells the compute nothing when a link without filters is resumed
    await ok(admin.put(url, json={"suspend": True}))
    refused, answer = await use(lab, model_server, clear | {"filters": {"delay": 0}}, clear)
    assert "clear removes all filters" in refused["error"]
    assert "clear it once more" in answer["data"][0]["result"]
    await ok(admin.put(url, json={"suspend": False}))
    assert (await use(lab, model_server, clear))[0]["success"]
    await lab.ping(pc1, "10.0.0.2", seconds=5)


#: What is refused, and the words that say why.
REFUSED: tuple[tuple[dict[str, Any], str], ...] = (
    ({"frequency_drop": -2}, "frequency_drop is -1 to 32767"),
    ({"frequency_drop": 32768}, "frequency_drop is -1 to 32767"),
    ({"packet_loss": 101, "corrupt": -1}, "packet_loss is 0 to 100, not 101; corrupt is 0 to 100, not -1"),
    ({"delay": [0, 50]}, "latency above 0"),
    ({"delay": [40000]}, "latency is 0 to 32767"),
    ({"delay": [10, -1]}, "jitter is 0 to 32767"),
    ({"bpf": 'ip host "a"'}, "quotes"),
    ({"bpf": "ip\x07"}, "control characters"),
    ({"bpf": "ip and ("}, "syntax error"),
    ({"bpf": "a" * 501}, "at most 500 characters"),
    ({"latency": 5}, "latency"),
    ({"packet_loss": "much"}, "packet_loss"),
    ({}, "Which filters?"),
)


@pytest.mark.lab("vpcs")
async def test_what_is_out_of_range_is_refused_and_changes_nothing(lab, admin, model_server) -> None:
    await configure_model(admin, model_server)
    link = await lab.link(await lab.vpcs("PC1"), await lab.vpcs("PC2"))
    calls = [{"action": "set", "link": "PC1-PC2", "filters": filters} for filters, _ in REFUSED]
    for answer, (filters, words) in zip(await use(lab, model_server, *calls), REFUSED, strict=True):
        assert not answer["success"], filters
        assert words in answer["error"]
    assert await filters_of(lab, link) == {}


@pytest.mark.lab("dynamips")
async def test_a_link_that_cannot_filter_says_why(lab, admin, model_server) -> None:
    await configure_model(admin, model_server)
    await lab.link(await lab.switch("SW1"), await lab.switch("SW2"))
    (answer,) = await use(lab, model_server, {"action": "get_available", "link": "SW1-SW2"})
    assert "SW1 is of type ethernet_switch" in answer["error"]


@pytest.mark.lab("vpcs")
async def test_a_compute_that_refuses_leaves_the_filters_before_in_place(
    start_gns3_server, tmp_path, model_server
) -> None:
    if missing(("vpcs",)):
        pytest.skip("; ".join(missing(("vpcs",))))
    ubridge = launcher(tmp_path / "ubridge", [sys.executable, "-IS", str(REFUSING_UBRIDGE)])
    server = start_gns3_server(conf={"Server": {"ubridge_path": ubridge}})
    async with aclosing(await log_in_admin(server)) as admin:
        lab = Lab(admin, await Projects(admin).make(), tmp_path)
        await configure_model(admin, model_server)
        pc1, link = await lab.two_pcs()
        (refused,) = await use(lab, model_server, {"action": "set", "link": "PC1-PC2", "filters": {"corrupt": 5}})
        assert not refused["success"]
        assert "The filters before are in place again" in refused["error"]
        assert await filters_of(lab, link) == {}
        await lab.ping(pc1, "10.0.0.2", seconds=5)
        delayed, refused = await use(
            lab,
            model_server,
            {"action": "set", "link": "PC1-PC2", "filters": {"delay": 10}},
            {"action": "set", "link": "PC1-PC2", "filters": {"corrupt": 5}},
        )
        assert delayed["success"]
        assert "The filters before are in place again" in refused["error"]
        assert await filters_of(lab, link) == {"delay": [10, 0]}
        await lab.ping(pc1, "10.0.0.2", seconds=5)
        await lab.clean_up()
