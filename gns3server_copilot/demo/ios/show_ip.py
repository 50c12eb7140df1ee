"""Texts of the show commands about ARP and routes."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network

from gns3server_copilot.demo.ios.router import Router, cisco_mac
from gns3server_copilot.demo.network.routes import CONNECTED, LOCAL, OSPF, STATIC, Route

_CODES = """\
Codes: L - local, C - connected, S - static, R - RIP, M - mobile, B - BGP
       D - EIGRP, EX - EIGRP external, O - OSPF, IA - OSPF inter area
       N1 - OSPF NSSA external type 1, N2 - OSPF NSSA external type 2
       E1 - OSPF external type 1, E2 - OSPF external type 2
       i - IS-IS, su - IS-IS summary, L1 - IS-IS level-1, L2 - IS-IS level-2
       ia - IS-IS inter area, * - candidate default, U - per-user static route
       o - ODR, P - periodic downloaded static route, H - NHRP, l - LISP
       a - application route
       + - replicated route, % - next hop override, p - overrides from PfR
"""

_DEFAULT = IPv4Network("0.0.0.0/0")


def age_text(seconds: float) -> str:
    """`00:01:35`"""
    whole = int(seconds)
    return f"{whole // 3600:02}:{whole // 60 % 60:02}:{whole % 60:02}"


def arp(router: Router) -> str:
    now = router.stack.clock()
    rows: list[tuple[IPv4Address, str, bytes, str]] = [
        (interface.ip, "-", interface.mac, interface.name)
        for interface in router.interfaces.values()
        if interface.ip and interface.up and not interface.loopback
    ]
    for entry in router.stack.arp.entries():
        rows.append((entry.ip, str(int(now - entry.learned) // 60), entry.mac, entry.interface))
    lines = ["Protocol  Address          Age (min)  Hardware Addr   Type   Interface"]
    for ip, age, mac, interface in sorted(rows):
        lines.append(f"Internet  {ip!s:<15}  {age:>9}  {cisco_mac(mac)}  ARPA   {interface}")
    return "\n".join(lines)


def route(router: Router, kinds: str | None = None) -> str:
    """The routing table; with `kinds` (route letters) only those of its routes."""
    installed = router.stack.routes.installed()
    default = next((r for r in installed if r.prefix == _DEFAULT), None)
    resort = f"{default.next_hop} to network 0.0.0.0" if default else "not set"
    by_major: dict[IPv4Network, list[Route]] = {}
    for r in installed:
        if kinds is None or r.kind in kinds:
            by_major.setdefault(_major_network(r.prefix), []).append(r)
    lines = [_CODES, f"Gateway of last resort is {resort}", ""]
    for major, routes in sorted(by_major.items()):
        lines += _block(router, major, routes)
    return "\n".join(lines)


def _major_network(prefix: IPv4Network) -> IPv4Network:
    """The class A, B or C network around `prefix`, under which IOS lists its subnets."""
    first = int(prefix.network_address) >> 24
    length = 8 if first < 128 else 16 if first < 192 else 24
    return prefix.supernet(new_prefix=length) if prefix.prefixlen > length else prefix


def _block(router: Router, major: IPv4Network, routes: list[Route]) -> list[str]:
    prefixes = {r.prefix for r in routes}
    if prefixes == {major}:
        return [_line(router, r, 6) for r in routes]
    masks = {prefix.prefixlen for prefix in prefixes}
    if len(masks) == 1:
        heading = f"      {major.network_address}/{masks.pop()} is subnetted, {len(prefixes)} subnets"
    else:
        heading = f"      {major} is variably subnetted, {len(prefixes)} subnets, {len(masks)} masks"
    return [heading, *(_line(router, r, 9) for r in routes)]


def _line(router: Router, r: Route, column: int) -> str:
    letter = f"{r.kind}*" if r.prefix == _DEFAULT else r.kind
    start = f"{letter:<{column}}{r.prefix}"
    if r.kind in (CONNECTED, LOCAL):
        return f"{start} is directly connected, {r.interface}"
    text = f"{start} [{r.distance}/{r.metric}] via {r.next_hop}"
    if r.kind == OSPF:
        text += f", {age_text(router.stack.clock() - r.since)}, {r.interface}"
    return text


def route_to(router: Router, destination: IPv4Address) -> str:
    """The entry that a packet to `destination` would take. A default route does not count, as on IOS."""
    entries = [r for r in router.stack.routes.matching(destination) if r in router.stack.routes.installed()]
    best = [r for r in entries if r.prefix == entries[0].prefix and r.prefix != _DEFAULT]
    if not best:
        return "% Network not in table"
    first = best[0]
    ospf = router.ospf.number if router.ospf else 0
    known = {CONNECTED: "connected", LOCAL: "connected", STATIC: "static", OSPF: f"ospf {ospf}"}[first.kind]
    kind = ", type intra area" if first.kind == OSPF else " (connected, via interface)" if first.interface else ""
    lines = [
        f"Routing entry for {first.prefix}",
        f'  Known via "{known}", distance {first.distance}, metric {first.metric}{kind}',
        "  Routing Descriptor Blocks:",
    ]
    for r in best:
        if r.kind == OSPF:
            age = age_text(router.stack.clock() - r.since)
            lines.append(f"  * {r.next_hop}, {age} ago, via {r.interface}")
        elif r.next_hop:
            lines.append(f"  * {r.next_hop}")
        else:
            lines.append(f"  * directly connected, via {r.interface}")
        lines.append(f"      Route metric is {r.metric}, traffic share count is 1")
    return "\n".join(lines)
