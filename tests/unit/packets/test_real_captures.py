"""Real captures, against what another program (tshark 4.0) says of them.

They are not part of the project: COPILOT_TEST_DATA names the folder they are in; these tests are skipped without. The
same ground is covered by captures of our own (tests/ground/captures).
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from tests.ground.captures.ask import ask_about

DATA = Path(os.environ.get("COPILOT_TEST_DATA", Path(__file__).parents[4] / "shared" / "data")) / "pcaps"
TRUTH: dict[str, dict[str, Any]] = json.loads((DATA / "truth.json").read_text()) if DATA.exists() else {}

#: Names of protocols that differ from ours.
PROTOCOLS = {
    "chdlc": "hdlc",
    "cmd": "cisco_metadata",
    "avsp": "arista_timestamp",
    "bvlc": "bacnet",
    "db-lsp-disc": "dropbox_discovery",
    "eth": "ethernet",
    "fr": "frame_relay",
    "ieee8021ad": "vlan",
    "ip": "ipv4",
    "ipv6.dstopts": "ipv6_destination",
    "ipv6.fraghdr": "ipv6_fragment",
    "ipv6.hopopts": "ipv6_hop_by_hop",
    "ipv6.routing": "ipv6_routing",
    "isis.csnp": "isis",
    "isis.hello": "isis",
    "isis.lsp": "isis",
    "isis.psnp": "isis",
    "mp": "multilink",
    "mpls-echo": "mpls_echo",
    "pppoed": "pppoe",
    "pppoes": "pppoe",
    "pwethcw": "pseudowire",
    "raw": "raw_ip",
    "sll": "linux_sll",
    "tacplus": "tacacs",
    "udpencap": "udp_encapsulation",
    "vjc": "vj_uncompressed",
}
#: Not protocols, or parts and contents of others.
NO_PROTOCOLS = {"bacapp", "data", "f5ethtrailer", "json", "netlink-route", "pwethheuristic", "sdp"}
ASKED = {"ip": "ipv4", "ipsec": "esp", "chdlc": "hdlc"}
#: Facts under other names of ours, and where ours are of another protocol's question.
NAMES = {
    "as_path_as2": "as_path",
    "as_path_as4": "as_path",
    "mp_reach_v6": "mp_reach",
    "routes_v6": "routes",
    "v1_opcodes": "opcodes",
    "v1_states": "states",
    "v2_opcodes": "opcodes",
    "v2_states": "states",
}
#: Names of values that differ from ours.
VALUES = {
    "hsrp": {"0": "Hello", "4": "Speak", "5": "Standby", "6": "Active"},
    "vtp": {"1": "summary"},
    "radius": {
        "40": "Disconnect-Request",
        "41": "Disconnect-ACK",
        "42": "Disconnect-NAK",
        "43": "CoA-Request",
        "44": "CoA-ACK",
        "45": "CoA-NAK",
    },
    "dns": {"43": "DS"},
    "ppp": {"33021": "CCP", "61": "multilink"},
    "isis": {"3490001.0": "49.0001"},
    "isakmp": {"0": "0000000000000000", "1020304050607.0": "0001020304050607"},
}
OSPF_MISMATCHES = {
    "area_mismatch_or_multi_area": "area_mismatch",
    "dead_interval_mismatch": "dead_interval_mismatch",
    "hello_interval_mismatch": "hello_interval_mismatch",
}
#: Where we differ on purpose: file (or "*"), protocol, fact.
EXCEPTIONS = {
    # a tunnel's inner packet has the inner address, tshark's first address is the tunnel's
    ("*", "icmp", "senders"),
    ("tcpdump__erspan-type-ii-2.pcap", "hsrp", "speakers"),
    # the packet quoted by a protocol reject, an NHRP indication or an ICMP error is not on the wire itself
    ("suricata__pppoe__input.pcap", "ppp", "codes"),
    ("tcpdump__nhrp-trace.pcap", "icmp", "counts"),
    ("zeek__tunnels__gre-sample.pcap", "dns", "queries"),
    ("zeek__tunnels__gre-sample.pcap", "dns", "query_type_counts"),
    # tshark puts segments and fragments together; we read what is in one frame
    ("sanders__dns_tcp.pcapng", "dns", "query_type_counts"),
    ("suricata__defrag__bug-6887-defrag-eth-vlan-ipv4-tcp-syn__frag-eth-vlan-ip-tcp-syn.pcap", "tcp", "*"),
    # a routing header: the address on the wire is the next router's, not the connection's
    ("zeek__ipv6-http-atomic-frag.pcap", "tcp", "*"),
    # compressed TCP headers stay compressed
    ("packetlife__PPP_TCP_compression.pcap", "ip", "frames"),
    # tshark leaves some frames with a switch's timestamp undissected
    ("tcpdump__arista_ether.pcap", "*", "frames"),
    # headers that lie about their length: tshark goes on where we stop, or the other way round
    ("suricata__firewall__tcp-session-decode-malformed-ipv4__input.pcap", "tcp", "frames"),
    ("tcpdump__ipv4_invalid_length.pcap", "ip", "*"),
    # a port of two protocols at once
    ("tcpdump__ip6-snmp-oid-unsigned.pcap", "dhcpv6", "*"),
    # instances have a master flag where the common tree has the acknowledgement, and agreements of their own
    ("tcpdump__MSTP_Intra-Region_BPDUs.pcap", "stp", "tcack_frames"),
    ("tcpdump__MSTP_Intra-Region_BPDUs.pcap", "stp", "agreement_frames"),
    # a request for the whole table has no route and no metric
    ("*", "rip", "infinity_metric_seen"),
    ("*", "rip", "metrics"),
    # private mode packets have no stratum
    ("tcpdump__ntp-mode7.pcap", "ntp", "strata"),
    # sampled frames of which only the first is looked at
    ("packetlife__sflow.pcap", "*", "*"),
    ("tcpdump__sflow-print-v6.pcap", "*", "*"),
    # told with the frames of EAP over LAN
    ("*", "eap", "eapol_types"),
    # lists cut after 40 values, in another order
    ("zeek__snmp__snmpv1_get.pcap", "snmp", "oids"),
    ("zeek__igmp__igmp-many-sources.pcap", "ip", "sources"),
}
#: Protocols that tshark sees and we do not.
UNSEEN = {
    ("scapy__gvrp.pcapng", "stp"),  # GVRP frames are no spanning tree
    ("tcpdump__bad-ipv4-version-pgm-heapoverflow.pcap", "ipv6"),
    ("tcpdump__ip6-snmp-oid-unsigned.pcap", "dhcpv6"),
    ("tcpdump__nhrp-trace.pcap", "icmp"),
    ("tcpdump__esp_truncated.pcap", "esp"),
}
DAMAGED = {name for name, truth in TRUTH.items() if truth["tshark_error"]}

pytestmark = pytest.mark.skipif(not TRUTH, reason=f"there are no real captures in {DATA}")


@pytest.mark.parametrize("name", sorted(TRUTH), ids=lambda name: name.removeprefix("shared/"))
def test_a_real_capture_is_read_as_another_program_reads_it(name: str) -> None:
    truth = TRUTH[name]
    summary = ask_about(DATA / name)
    file = name.removeprefix("shared/")
    if name not in DAMAGED:
        assert summary["frames"] in (truth["packets"], truth["capinfos_packets"])
    for protocol in truth["protocols"]:
        if protocol not in NO_PROTOCOLS and (file, protocol) not in UNSEEN and name not in DAMAGED:
            assert _ours(protocol, truth) in summary["protocols"], (protocol, summary["protocols"])
    for protocol, facts in truth["facts"].items():
        asked = _ours(protocol, truth, ASKED)
        answer = ask_about(DATA / name, asked)
        for fact, wanted in facts.items():
            if _excepted(file, protocol, fact):
                continue
            assert _agree(protocol, fact, wanted, answer, DATA / name), (protocol, fact, wanted, answer["facts"])


def _ours(protocol: str, truth: dict[str, Any], names: dict[str, str] = PROTOCOLS) -> str:
    if protocol == "ospf" and truth["facts"].get("ospf", {}).get("version") == [3]:
        return "ospfv3"
    return names.get(protocol, protocol)


def _excepted(file: str, protocol: str, fact: str) -> bool:
    return any(
        (one, two, three) in EXCEPTIONS for one in (file, "*") for two in (protocol, "*") for three in (fact, "*")
    )


def _agree(protocol: str, fact: str, wanted: Any, answer: dict[str, Any], path: Path) -> bool:
    facts = answer["facts"]
    if fact in OSPF_MISMATCHES:
        ids = {finding["id"] for finding in answer["findings"]}
        return any(one.endswith(OSPF_MISMATCHES[fact]) for one in ids) == wanted
    if fact == "k_values":
        return bool([facts[f"k{number}"] for number in range(1, 6)] == wanted)
    if fact == "tcp_md5_frames":
        return bool(ask_about(path, "tcp")["facts"]["md5_frames"] == wanted)
    found = facts.get(NAMES.get(fact, fact))
    if fact == "sequence":
        both = min(len(found), len(wanted))
        return both > 0 and bool(found[:both] == wanted[:both])
    if isinstance(wanted, dict) and wanted and not isinstance(next(iter(wanted.values())), list):
        names = VALUES.get(protocol, {})
        wanted = {names.get(key, key): count for key, count in wanted.items()}
        if protocol == "hsrp":
            return all(found[key] >= count for key, count in wanted.items())
        return bool(found == wanted)
    if isinstance(wanted, list):
        # ours are of all layers of a tunnel
        names = VALUES.get(protocol, {}) if protocol in ("isis", "isakmp") else {}
        return {names.get(str(one), _plain(one)) for one in wanted} <= {_plain(one) for one in found or []}
    return bool(found == wanted)


def _plain(value: Any) -> str:
    """A value as text, a prefix without its length."""
    return re.sub(r"(?<=[0-9a-f:.])/\d+$", "", str(value))
