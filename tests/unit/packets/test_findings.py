"""Each finding: in a capture that has it, and not in one that has not."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from gns3server_copilot.knowledge.loader import packaged_knowledge
from gns3server_copilot.knowledge.schemas.protocol import Protocol
from tests.ground.captures import hosts, routing, services, switching
from tests.ground.captures.ask import ask_about
from tests.ground.captures.build import Case, write

CASES = [*routing.CASES, *switching.CASES, *hosts.CASES, *services.CASES]
#: What code finds beside the checks of the protocol files.
BY_CODE = {
    "arp_unanswered",
    "arp_duplicate_address",
    "dhcp_discover_unanswered",
    "dhcp_request_unanswered",
    "dhcp_offer_not_taken",
    "dns_unanswered",
    "hsrp_roles",
    "hsrp_state_change",
    "icmp_echo_unanswered",
    "icmpv6_echo_unanswered",
    "ip_fragments",
    "ip_fragments_missing",
    "one_way_traffic",
    *(f"{protocol}_{what}" for protocol in ("ospf", "ospfv3") for what in ("one_way", "alone", "exchange_stuck")),
    "stp_root",
    "stp_several_roots",
    "stp_topology_change",
    "tcp_refused",
    "tcp_handshake_unanswered",
    "tcp_handshake_incomplete",
    "tcp_reset",
    "tcp_retransmission",
    "tcp_zero_window",
    "vrrp_master",
    "vrrp_takeover",
}


def found(path: Path, case: Case) -> dict[str, dict[str, object]]:
    """The findings of a capture by their id."""
    answer = ask_about(path, "" if case.summary else case.protocol)
    return {finding["id"]: finding for finding in answer["findings"]}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.finding)
def test_a_finding_is_found_where_it_is_and_only_there(case: Case, tmp_path: Path) -> None:
    bad = found(write(tmp_path / "bad.pcap", case.bad, case.link_type), case)
    good = found(write(tmp_path / "good.pcap", case.good, case.link_type), case)
    assert case.finding in bad, bad
    assert case.finding not in good, good
    finding = bad[case.finding]
    assert finding["severity"] in ("error", "warning", "info")
    assert "{" not in str(finding["message"])
    assert "?" not in str(finding["message"])
    if case.finding != "one_way_traffic":
        assert finding["packets"]


def test_every_finding_has_its_captures() -> None:
    checks = {check.id for protocol in packaged_knowledge().of(Protocol).values() for check in protocol.checks}
    assert {case.finding for case in CASES} == checks | BY_CODE
    assert not checks & BY_CODE


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.finding)
@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
def test_the_captures_are_what_they_say_to_tshark(case: Case, tmp_path: Path) -> None:
    path = write(tmp_path / "both.pcap", [*case.bad, *case.good], case.link_type)
    done = subprocess.run(
        ["tshark", "-n", "-q", "-r", str(path), "-z", "io,phs"], capture_output=True, text=True, check=True
    )
    assert "_ws.malformed" not in done.stdout, done.stdout
