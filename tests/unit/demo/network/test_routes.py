from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network

from gns3server_copilot.demo.network.routes import CONNECTED, OSPF, STATIC, Route, RoutingTable

HOP = IPv4Address("10.0.12.2")


def table(*routes: Route) -> RoutingTable:
    made = RoutingTable()
    for kind in (CONNECTED, STATIC, OSPF):
        made.replace(kind, [route for route in routes if route.kind == kind])
    return made


def route(kind: str, prefix: str, next_hop: str | None = None, interface: str | None = None, metric: int = 0) -> Route:
    return Route(kind, IPv4Network(prefix), IPv4Address(next_hop) if next_hop else None, interface, metric)


LINK = route(CONNECTED, "10.0.12.0/24", interface="Gi0")


def test_most_specific_prefix_wins():
    made = table(LINK, route(OSPF, "10.0.0.0/8", "10.0.12.9", "Gi0", 5), route(OSPF, "10.5.0.0/16", "10.0.12.2", "Gi0"))
    assert made.lookup(IPv4Address("10.5.1.1")) == ("Gi0", HOP)
    assert made.lookup(IPv4Address("10.6.1.1")) == ("Gi0", IPv4Address("10.0.12.9"))


def test_neighbour_on_the_link_is_its_own_next_hop():
    assert table(LINK).lookup(HOP) == ("Gi0", HOP)


def test_static_route_is_preferred_to_ospf():
    made = table(LINK, route(STATIC, "10.5.0.0/16", "10.0.12.7"), route(OSPF, "10.5.0.0/16", "10.0.12.2", "Gi0", 3))
    assert made.lookup(IPv4Address("10.5.0.1")) == ("Gi0", IPv4Address("10.0.12.7"))


def test_static_route_without_a_way_to_its_next_hop_is_not_installed():
    made = table(LINK, route(STATIC, "10.5.0.0/16", "172.16.0.1"))
    assert made.lookup(IPv4Address("10.5.0.1")) is None
    assert made.installed() == [LINK]


def test_default_route_is_not_reached_through_itself():
    assert table(route(STATIC, "0.0.0.0/0", "172.16.0.1")).lookup(HOP) is None


def test_static_routes_that_point_at_each_other_lead_nowhere():
    made = table(route(STATIC, "10.1.0.0/16", "10.2.0.1"), route(STATIC, "10.2.0.0/16", "10.1.0.1"))
    assert made.lookup(IPv4Address("10.1.0.9")) is None


def test_unchanged_route_keeps_its_age():
    made = RoutingTable()
    made.replace(OSPF, [Route(OSPF, IPv4Network("10.5.0.0/16"), HOP, "Gi0", 2, since=1.0)])
    made.replace(OSPF, [Route(OSPF, IPv4Network("10.5.0.0/16"), HOP, "Gi0", 2, since=9.0)])
    assert made.installed()[0].since == 1.0
