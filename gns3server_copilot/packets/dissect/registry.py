"""Which module reads which protocol; modules are loaded at first use, since scapy's layers take long to import."""

from __future__ import annotations

import importlib

from gns3server_copilot.packets.dissect.base import DISSECTORS, Dissector

MODULES = {
    "links": ("ethernet", "vlan", "arp"),
    "serial": ("hdlc", "frame_relay", "ppp", "pppoe"),
    "network": ("ipv4", "ipv6", "icmp", "icmpv6"),
    "transport": ("tcp", "udp"),
    "ospf": ("ospf", "ospfv3"),
    "bgp": ("bgp",),
    "eigrp": ("eigrp",),
    "rip": ("rip", "ripng"),
    "isis": ("isis",),
    "multicast": ("igmp", "pim"),
    "switching": ("stp", "lacp", "vtp", "dtp", "udld"),
    "discovery": ("cdp", "lldp"),
    "redundancy": ("hsrp", "vrrp", "glbp"),
    "hosts": ("dhcp", "dhcpv6"),
    "names": ("dns", "mdns"),
    "management": ("ntp", "snmp", "syslog", "tftp"),
    "sessions": ("telnet", "ssh", "http", "tls"),
    "access": ("radius", "tacacs", "eap", "eapol"),
    "tunnels": ("gre", "mpls", "vxlan", "nhrp"),
    "ipsec": ("esp", "ah", "isakmp"),
    "labels": ("ldp", "bfd"),
}
_MODULE_OF = {protocol: module for module, protocols in MODULES.items() for protocol in protocols}
PROTOCOLS = tuple(_MODULE_OF)


def dissector_of(protocol: str) -> Dissector | None:
    """Give the protocol's dissector, None for one that has none."""
    if protocol not in DISSECTORS and protocol in _MODULE_OF:
        importlib.import_module(f"gns3server_copilot.packets.dissect.{_MODULE_OF[protocol]}")
    return DISSECTORS.get(protocol)
