"""Questions about captures: summaries, one protocol, conditions, caps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gns3server_copilot.packets.conditions import Condition
from tests.ground.captures.ask import ask_about
from tests.ground.captures.build import A, B, ether, pcap, tcp, udp, write
from tests.ground.captures.routing import RID_A, RID_B, hello
from tests.ground.captures.serial_lines import LINES


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    """OSPF hellos of two routers, a UDP exchange, a tagged one."""
    frames = [
        hello(neighbors=[RID_B]),
        hello(B, RID_B, neighbors=[RID_A]),
        udp(A, B, 5000, b"x"),
        udp(B, A, 5000, b"y"),
    ]
    tagged = ether(udp(A, B, 6000, b"z")[14:], vlan=20)
    return write(tmp_path / "mixed.pcap", [*frames, *frames, tagged])


def test_a_summary_tells_what_is_there(mixed: Path) -> None:
    answer = ask_about(mixed)
    assert (answer["frames"], answer["seconds"], answer["link_type"]) == (9, 8.0, "Ethernet")
    assert answer["bytes"] == mixed.stat().st_size - 24 - 9 * 16
    assert answer["protocols"] == {"ethernet": 9, "ipv4": 9, "udp": 5, "ospf": 4, "vlan": 1}
    talks = {(one["protocol"], one["a"], one["b"]): one for one in answer["conversations"]}
    talk = talks["udp", f"{A}:5000", f"{B}:5000"]
    assert (talk["frames_a_to_b"], talk["frames_b_to_a"]) == (2, 2)
    assert answer["conversation_count"] == 4
    assert answer["first"] == "2023-11-14T22:13:20.000+00:00"


def test_a_protocol_is_told_row_by_row_with_facts(mixed: Path) -> None:
    answer = ask_about(mixed, "ospf", limit=3, fields=("ospf.router_id", "frame.number", "neighbors"))
    assert answer["matching_frames"] == answer["messages"] == 4
    assert answer["packets"] == [
        {"number": 1, "time": 0.0, "router_id": RID_A, "frame.number": 1, "neighbors": [RID_B]},
        {"number": 2, "time": 1.0, "router_id": RID_B, "frame.number": 2, "neighbors": [RID_A]},
        {"number": 5, "time": 4.0, "router_id": RID_A, "frame.number": 5, "neighbors": [RID_B]},
    ]
    assert answer["facts"]["router_ids"] == [RID_A, RID_B]
    assert answer["facts"]["message_counts"] == {"Hello": 4}
    assert "Only the first 3 of 4 messages are listed." in answer["notes"]


@pytest.mark.parametrize(
    ("protocol", "where", "count"),
    [
        ("ospf", [("router_id", "eq", RID_A)], 2),
        ("ospf", [("ospf.router_id", "ne", RID_A), ("frame.time", "gt", "3")], 1),
        ("ospf", [("neighbors", "contains", "2.2.")], 2),
        ("ospf", [("mtu", "exists", "false")], 4),
        ("ospf", [("mtu", "exists", "true")], 0),
        ("udp", [("frame.vlan", "eq", "20")], 1),
        ("udp", [("frame.dport", "ge", "5000"), ("frame.src", "eq", A)], 3),
        ("", [("frame.src", "eq", A)], 5),
        ("", [("frame.protocols", "eq", "ospf"), ("frame.number", "le", "2")], 2),
        ("", [("frame.length", "lt", "10")], 0),
    ],
)
def test_conditions_narrow_it_down(mixed: Path, protocol: str, where: list[Any], count: int) -> None:
    conditions = tuple({"field": field, "op": op, "value": value} for field, op, value in where)
    answer = ask_about(mixed, protocol, where=conditions)
    assert (answer["messages"] if protocol else answer["frames"]) == count


def test_values_are_compared_as_what_they_are() -> None:
    fields = {"flag": True, "number": 10, "hexadecimal": 16, "text": "Hello", "many": [1, 2, 3]}
    for field, op, value, holds in (
        ("flag", "eq", "true", True),
        ("flag", "eq", "no", False),
        ("number", "eq", "10.0", True),
        ("hexadecimal", "eq", "0x10", True),
        ("text", "eq", "hello", True),
        ("text", "contains", "ELL", True),
        ("text", "gt", "1", False),
        ("many", "eq", "2", True),
        ("many", "ne", "2", False),
        ("many", "ge", "3", True),
        ("missing", "ne", "1", False),
        ("missing", "exists", "false", True),
        ("text", "eq", "__import__('os')", False),
    ):
        assert Condition(field, op, value).holds(fields) is holds, (field, op, value)


@pytest.mark.parametrize("line", LINES, ids=lambda line: line.name)
def test_every_link_type_is_read(line: Any, tmp_path: Path) -> None:
    path = tmp_path / "line.pcap"
    path.write_bytes(pcap(line.frames, line.link_type))
    answer = ask_about(path)
    assert answer["link_type"] == line.name
    assert answer["protocols"] == line.protocols
    if line.asked:
        told = ask_about(path, line.asked)
        assert line.values.items() <= told["packets"][0].items()


def test_above_five_thousand_frames_a_sample_spread_over_the_capture_is_read(tmp_path: Path) -> None:
    frames = [(number / 1000, hello(src=f"10.0.{number // 250}.{number % 250 + 1}")) for number in range(64)]
    path = write(tmp_path / "many.pcap", [(i / 100, frames[i % 64][1]) for i in range(12_000)])
    answer = ask_about(path, "ospf", limit=200)
    assert answer["matching_frames"] == 12_000
    assert 2_000 <= answer["messages"] <= 5_000
    assert answer["packets"][0]["number"] == 1
    assert any("a sample of" in note for note in answer["notes"])


def test_the_caps_are_told_when_they_are_hit(tmp_path: Path) -> None:
    path = write(tmp_path / "many.pcap", [udp(A, B, 5000, b"x")] * 3000)
    assert ask_about(path, max_frames=2000)["notes"][0] == "Only the first 2,000 frames were read."
    assert "Stopped at 1 MB of memory" in ask_about(path, max_memory=1 << 20)["notes"][0]
    assert "Stopped after 0 seconds" in ask_about(path, max_seconds=0)["notes"][0]


def test_segments_of_the_same_flow_are_followed_without_being_walked_through_again(tmp_path: Path) -> None:
    client, server = (A, B, 40000, 5001), (B, A, 5001, 40000)
    frames: list[Any] = [tcp(*client, "S", 99), tcp(*server, "SA", 499, 100), tcp(*client, "A", 100, 500)]
    for number in range(50):
        frames.append(tcp(*client, "A", 100 + 10 * number, 500, b"0123456789"))
        frames.append(tcp(*server, "A", 500, 110 + 10 * number))
    frames += [frames[-4], tcp(*server, "A", 500, 600), tcp(*server, "A", 500, 600)]
    path = write(tmp_path / "flow.pcap", [(number / 10, frame) for number, frame in enumerate(frames)])
    facts = ask_about(path, "tcp")["facts"]
    assert facts["streams_with_full_handshake"] == facts["streams"] == facts["retransmissions"] == 1
    assert facts["dup_acks"] == 2
    retransmissions = [one for one in ask_about(path)["findings"] if one["id"] == "tcp_retransmission"]
    assert retransmissions[0]["packets"] == [104]
    assert not [one for one in ask_about(path)["findings"] if one["id"] == "one_way_traffic"]
