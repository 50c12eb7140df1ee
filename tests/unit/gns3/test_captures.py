"""Which data link type a link is captured with, and where its file may be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gns3server_copilot.errors import ToolError
from gns3server_copilot.gns3.captures import CAPTURES, LinkCapture, data_link_type, local_file, new_file_name

SERIAL = {"Frame Relay": "DLT_FRELAY", "Cisco HDLC": "DLT_C_HDLC", "Cisco PPP": "DLT_PPP_SERIAL"}
LINK = {"nodes": [{"node_id": one, "adapter_number": 1, "port_number": 0} for one in ("a", "b")]}


def nodes(a: dict[str, str] | None, b: dict[str, str] | None) -> list[Any]:
    """Two nodes whose ports offer these data link types."""
    return [
        {"node_id": name, "ports": [{"adapter_number": 1, "port_number": 0, "data_link_types": offer}]}
        for name, offer in (("a", a), ("b", b))
    ]


@pytest.mark.parametrize(
    ("a", "b", "protocol", "chosen"),
    [
        ({"Ethernet": "DLT_EN10MB"}, {"Ethernet": "DLT_EN10MB"}, "", "DLT_EN10MB"),
        ({"Ethernet": "DLT_EN10MB"}, None, "ospf", "DLT_EN10MB"),
        (None, None, "", "DLT_EN10MB"),
        (SERIAL, SERIAL, "", "DLT_C_HDLC"),
        (SERIAL, SERIAL, "ppp", "DLT_PPP_SERIAL"),
        (SERIAL, {"Frame Relay": "DLT_FRELAY"}, "", "DLT_FRELAY"),
        (SERIAL, SERIAL, "frame_relay", "DLT_FRELAY"),
    ],
)
def test_the_ports_say_which_type(a: Any, b: Any, protocol: str, chosen: str) -> None:
    assert data_link_type(LINK, nodes(a, b), protocol) == chosen


def test_what_the_ports_do_not_offer_is_refused() -> None:
    with pytest.raises(ToolError, match=r"cannot be captured as ppp; its ports offer frame_relay\."):
        data_link_type(LINK, nodes(SERIAL, {"Frame Relay": "DLT_FRELAY"}), "ppp")


def test_only_a_file_of_the_project_is_read(tmp_path: Path) -> None:
    folder = tmp_path / "project" / CAPTURES
    folder.mkdir(parents=True)
    (folder / "a.pcap").touch()
    (tmp_path / "secret").touch()
    (folder / "link.pcap").symlink_to(tmp_path / "secret")

    def found(name: str, *, capturing: bool = True, compute: str = "local") -> Path | None:
        return local_file(str(tmp_path / "project"), LinkCapture("l", capturing, name, compute))

    assert found("a.pcap") == folder / "a.pcap"
    assert found("a.pcap", capturing=False, compute="") == folder / "a.pcap"
    assert found("a.pcap", compute="other") is None
    assert found("link.pcap") is None
    assert found("") is None
    assert found("b.pcap") is None


def test_file_names_of_ours_differ_each_time() -> None:
    assert len({new_file_name("l") for _ in range(100)}) == 100
