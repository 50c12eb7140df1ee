"""The running configuration as text, in the order in which IOS writes it."""

from __future__ import annotations

from gns3server_copilot.demo.ios.router import Router
from gns3server_copilot.demo.network.interfaces import Interface
from gns3server_copilot.demo.network.ospf import OspfProcess


def running_config(router: Router) -> str:
    """What `show running-config` prints below its heading; reading it back gives the same configuration."""
    sections = [
        ["version 15.9", "service timestamps debug datetime msec", "service timestamps log datetime msec"],
        [f"hostname {router.hostname}"],
        [] if router.logging_console else ["no logging console"],
        ["no ip domain lookup", "ip cef"],
        *[interface_config(interface) for _, interface in sorted(router.interfaces.items(), key=_interface_order)],
        _ospf(router.ospf) if router.ospf else [],
        ["ip forward-protocol nd"],
        [f"ip route {r.prefix.network_address} {r.prefix.netmask} {r.next_hop}" for r in router.static_routes],
        ["control-plane"],
        ["line con 0", " exec-timeout 0 0", *([" logging synchronous"] if router.logging_synchronous else [])],
        ["line aux 0"],
        ["line vty 0 4", " login"],
        ["end"],
    ]
    return "!\n" + "\n!\n".join("\n".join(section) for section in sections if section)


def _interface_order(item: tuple[str, Interface]) -> tuple[bool, str]:
    name, interface = item
    return not interface.loopback, name


def interface_config(interface: Interface) -> list[str]:
    """The lines of one interface, its `interface` line first."""
    ospf = interface.ospf
    lines = [f"interface {interface.name}"]
    if interface.description:
        lines.append(f" description {interface.description}")
    if interface.address:
        lines.append(f" ip address {interface.address.ip} {interface.address.network.netmask}")
    else:
        lines.append(" no ip address")
    if ospf.process is not None:
        lines.append(f" ip ospf {ospf.process} area {int(ospf.area or 0)}")
    settings = {
        "cost": ospf.cost,
        "dead-interval": ospf.dead_interval,
        "hello-interval": ospf.hello_interval,
        "priority": ospf.priority,
    }
    lines += [f" ip ospf {name} {value}" for name, value in settings.items() if value is not None]
    if not interface.enabled:
        lines.append(" shutdown")
    if not interface.loopback:
        lines += [" duplex auto", " speed auto"]
    return lines


def _ospf(process: OspfProcess) -> list[str]:
    lines = [f"router ospf {process.number}"]
    if process.configured_router_id:
        lines.append(f" router-id {process.configured_router_id}")
    lines += [f" passive-interface {name}" for name in sorted(process.passive_interfaces)]
    lines += [f" network {n.address} {n.wildcard} area {int(n.area)}" for n in process.networks]
    return lines
