"""What packet filters may be, and what is said of them."""

from __future__ import annotations

from typing import Any

import pytest

from gns3server_copilot.errors import ToolError
from gns3server_copilot.packets.bpf import syntax_error
from gns3server_copilot.packets.filters import checked, in_words, merged, same, warnings


@pytest.mark.parametrize(
    ("wanted", "kept"),
    [
        ({"frequency_drop": -1}, {"frequency_drop": [-1]}),
        ({"frequency_drop": 32767}, {"frequency_drop": [32767]}),
        ({"frequency_drop": 0}, {"frequency_drop": []}),
        ({"packet_loss": 100, "corrupt": 0}, {"packet_loss": [100], "corrupt": []}),
        ({"delay": [1]}, {"delay": [1, 0]}),
        ({"delay": [32767, 32767]}, {"delay": [32767, 32767]}),
        ({"delay": [0]}, {"delay": []}),
        ({"bpf": " icmp \n\n tcp port 22 "}, {"bpf": ["icmp\ntcp port 22"]}),
        ({"bpf": ""}, {"bpf": []}),
        (
            {"bpf": "host 10.0.0.1 and ether host aabb.cc00.0100 or ip6 host ::ffff:10.0.0.2 and net 10.1"},
            {"bpf": ["host 10.0.0.1 and ether host aabb.cc00.0100 or ip6 host ::ffff:10.0.0.2 and net 10.1"]},
        ),
    ],
)
def test_values_in_range_are_taken(wanted: dict[str, Any], kept: dict[str, Any]) -> None:
    assert checked(wanted) == kept


def test_everything_that_is_wrong_is_told_at_once() -> None:
    with pytest.raises(ToolError) as raised:
        checked({"packet_loss": 101, "corrupt": -1, "latency": 1, "bpf": "a'b"})
    for words in ("packet_loss is 0 to 100, not 101", "corrupt", "no filter latency", "quotes"):
        assert words in raised.value.message


@pytest.mark.parametrize("name", ["www.example.com", "secret.a.b.c.evil.example", "cafe.de", "x.y"])
def test_hosts_are_not_looked_up_in_the_dns(name: str) -> None:
    with pytest.raises(ToolError, match=f"by their addresses, not as {name}"):
        checked({"bpf": f"icmp or (src {name})"})


def test_filters_are_merged_unless_they_are_replaced() -> None:
    before = {"delay": [100, 0], "packet_loss": [5]}
    assert merged(before, {"corrupt": [1], "packet_loss": []}, replace=False) == {"delay": [100, 0], "corrupt": [1]}
    assert merged(before, {"corrupt": [1]}, replace=True) == {"corrupt": [1]}
    assert same({"delay": [100]}, {"delay": [100, 0]})
    assert not same({"delay": [100, 1]}, {"delay": [100]})


def test_what_filters_do_is_said_in_words() -> None:
    filters = {"frequency_drop": [3], "delay": [100, 10], "packet_loss": [49], "corrupt": [2], "bpf": ["icmp\narp"]}
    said = " ".join(in_words(filters))
    for words in ("every 3. packet", "100 ms ± 10 ms", "49 %", "2 % of packets are corrupted", "icmp or arp"):
        assert words in said
    warned = " ".join(warnings(filters))
    for words in ("about 75 % are lost", "about 10 a second each way", "TCP crawls", "both directions"):
        assert words in warned
    assert in_words({"frequency_drop": [-1]}) == ["all packets are dropped"]
    assert warnings({}) == []


async def test_the_syntax_of_expressions_is_checked_where_libpcap_is() -> None:
    right = await syntax_error("icmp[icmptype] == 8\nether proto 0xffff")
    assert right is None
    wrong = await syntax_error("ip and (")
    assert wrong is None or "syntax error" in wrong
