"""Configuration mode: which part is being configured, and what each command does to the router."""

from __future__ import annotations

import contextlib
from ipaddress import IPv4Address, IPv4Interface, IPv4Network

from gns3server_copilot.demo.ios.grammar import CommandError, CommandTable, InvalidArgument, InvalidInput, Match
from gns3server_copilot.demo.ios.router import Router, StaticRoute
from gns3server_copilot.demo.network.interfaces import Interface
from gns3server_copilot.demo.network.ospf import NetworkStatement, OspfProcess

GLOBAL = "config"
INTERFACE = "config-if"
ROUTER = "config-router"
LINE = "config-line"

_global = CommandTable()
_interface = CommandTable()
_router = CommandTable()
_line = CommandTable()

_TABLES = {GLOBAL: _global, INTERFACE: _interface, ROUTER: _router, LINE: _line}


class Configurator:
    """Executes configuration lines, also those of a startup configuration, which need no console."""

    def __init__(self, router: Router) -> None:
        self.router = router
        self.mode = GLOBAL
        self._interface: Interface | None = None

    @property
    def interface(self) -> Interface:
        assert self._interface
        return self._interface

    @property
    def process(self) -> OspfProcess:
        """The OSPF process being configured; it may have been removed meanwhile, then it is begun anew."""
        return self.router.ospf or self.router.start_ospf(1)

    def enter(self, mode: str, interface: Interface | None = None) -> None:
        self.mode = mode
        self._interface = interface

    def leave(self) -> bool:
        """`exit`: one level up; False when configuration mode itself is left."""
        if self.mode == GLOBAL:
            return False
        self.enter(GLOBAL)
        return True

    def execute(self, line: str) -> str | None:
        """What the command prints. Raises CommandError; a command of global mode is understood everywhere."""
        try:
            match = _TABLES[self.mode].find(line)
        except InvalidInput as error:
            if self.mode == GLOBAL:
                raise
            match = self._find_global(line, error)
        return match.call(self)

    def _find_global(self, line: str, error: InvalidInput) -> Match:
        try:
            return _global.find(line)
        except InvalidInput as other:
            # Mark the word up to which one of the two modes understood the line.
            raise (other if other.position > error.position else error) from None


def load(router: Router, text: str) -> None:
    """Execute a startup configuration; lines that are no commands are skipped, as IOS does at boot.

    An interface that it names is up unless it says `shutdown`: `no shutdown` is never part of a stored configuration.
    """
    configurator = Configurator(router)
    enabled: dict[str, Interface] = {}
    for line in (line.strip() for line in text.splitlines()):
        if line == "end":
            break
        if not line or line.startswith("!"):
            configurator.enter(GLOBAL)
        elif line == "shutdown" and configurator.mode == INTERFACE:
            enabled.pop(configurator.interface.name, None)
        else:
            with contextlib.suppress(CommandError):
                configurator.execute(line)
            if configurator.mode == INTERFACE and line.startswith("interface "):
                enabled[configurator.interface.name] = configurator.interface
    for interface in enabled.values():
        router.set_enabled(interface, True)


# --- global ---------------------------------------------------------------------------------------------------------


@_global.command("hostname WORD")
def _hostname(config: Configurator, name: str) -> None:
    config.router.hostname = name


@_global.command("no hostname")
def _no_hostname(config: Configurator) -> None:
    config.router.hostname = "Router"


@_global.command("interface INTERFACE")
def _enter_interface(config: Configurator, name: str) -> None:
    if name.startswith("Loopback"):
        known = name in config.router.interfaces
        config.enter(INTERFACE, config.router.add_loopback(name))
        if not known:
            config.router.log(f"%LINEPROTO-5-UPDOWN: Line protocol on Interface {name}, changed state to up")
    elif name in config.router.interfaces:
        config.enter(INTERFACE, config.router.interfaces[name])
    else:
        raise InvalidArgument


@_global.command("no interface INTERFACE")
def _no_interface(config: Configurator, name: str) -> str | None:
    if not name.startswith("Loopback") or name not in config.router.interfaces:
        return "% Removal of physical interfaces is not permitted"
    config.router.remove_loopback(name)
    return None


@_global.command("router ospf NUMBER")
def _enter_ospf(config: Configurator, number: int) -> str | None:
    process = config.router.start_ospf(number)
    config.enter(ROUTER)
    if process.router_id is None:
        return f"%OSPF-4-NORTRID: OSPF process {number} failed to allocate unique router-id and cannot start"
    return None


@_global.command("no router ospf NUMBER")
def _no_ospf(config: Configurator, number: int) -> None:
    if config.router.ospf and config.router.ospf.number == number:
        config.router.stop_ospf()


def _static_route(prefix: IPv4Address, mask: IPv4Address, next_hop: IPv4Address) -> StaticRoute:
    try:
        return StaticRoute(IPv4Network((prefix, str(mask))), next_hop)
    except ValueError:
        raise CommandError("%Inconsistent address and mask") from None


@_global.command("ip route ADDRESS MASK ADDRESS")
def _ip_route(config: Configurator, prefix: IPv4Address, mask: IPv4Address, next_hop: IPv4Address) -> None:
    route = _static_route(prefix, mask, next_hop)
    if route not in config.router.static_routes:
        config.router.static_routes.append(route)
    config.router.static_routes_changed()


@_global.command("no ip route ADDRESS MASK ADDRESS")
def _no_ip_route(config: Configurator, prefix: IPv4Address, mask: IPv4Address, next_hop: IPv4Address) -> str | None:
    route = _static_route(prefix, mask, next_hop)
    if route not in config.router.static_routes:
        return "%No matching route to delete"
    config.router.static_routes.remove(route)
    config.router.static_routes_changed()
    return None


@_global.command("logging console")
def _logging_console(config: Configurator) -> None:
    config.router.logging_console = True


@_global.command("no logging console")
def _no_logging_console(config: Configurator) -> None:
    config.router.logging_console = False


@_global.command("line console NUMBER")
def _enter_line(config: Configurator, number: int) -> None:
    config.enter(LINE)


@_global.command(
    "ip cef",
    "ip domain lookup",
    "no ip domain lookup",
    "no ip domain-lookup",
    "ip forward-protocol nd",
    "service timestamps LINE",
    "version WORD",
    "control-plane",
    "line aux NUMBER",
    "line vty NUMBER NUMBER",
    "login",
)
def _accepted(config: Configurator, *arguments: object) -> None:
    """Part of every configuration; nothing here depends on it."""


# --- interface ------------------------------------------------------------------------------------------------------


@_interface.command("ip address ADDRESS MASK")
def _ip_address(config: Configurator, address: IPv4Address, mask: IPv4Address) -> str | None:
    wanted = IPv4Interface((address, str(mask)))
    network = wanted.network
    if network.prefixlen < 31 and address in (network.network_address, network.broadcast_address):
        return f"Bad mask /{network.prefixlen} for address {address}"
    for other in config.router.interfaces.values():
        if other is not config.interface and other.address and other.address.network.overlaps(network):
            return f"% {network.network_address} overlaps with {other.name}"
    config.interface.address = wanted
    config.router.interface_changed(config.interface)
    return None


@_interface.command("no ip address", "no ip address ADDRESS MASK")
def _no_ip_address(config: Configurator, *_: IPv4Address) -> None:
    config.interface.address = None
    config.router.interface_changed(config.interface)


@_interface.command("shutdown")
def _shutdown(config: Configurator) -> None:
    config.router.set_enabled(config.interface, False)


@_interface.command("no shutdown")
def _no_shutdown(config: Configurator) -> None:
    config.router.set_enabled(config.interface, True)


@_interface.command("description LINE")
def _description(config: Configurator, text: str) -> None:
    config.interface.description = text


@_interface.command("no description")
def _no_description(config: Configurator) -> None:
    config.interface.description = ""


@_interface.command("ip ospf NUMBER area AREA")
def _ip_ospf_area(config: Configurator, number: int, area: IPv4Address) -> None:
    config.interface.ospf.process, config.interface.ospf.area = number, area
    config.router.start_ospf(number).configuration_changed()


@_interface.command("no ip ospf NUMBER area AREA")
def _no_ip_ospf_area(config: Configurator, *_: object) -> None:
    config.interface.ospf.process = config.interface.ospf.area = None
    _ospf_changed(config)


@_interface.command("ip ospf hello-interval NUMBER")
def _hello_interval(config: Configurator, seconds: int) -> None:
    config.interface.ospf.hello_interval = _in_range(seconds, 1, 65535)
    _ospf_changed(config)


@_interface.command("no ip ospf hello-interval", "no ip ospf hello-interval NUMBER")
def _no_hello_interval(config: Configurator, *_: int) -> None:
    config.interface.ospf.hello_interval = None
    _ospf_changed(config)


@_interface.command("ip ospf dead-interval NUMBER")
def _dead_interval(config: Configurator, seconds: int) -> None:
    config.interface.ospf.dead_interval = _in_range(seconds, 1, 65535)
    _ospf_changed(config)


@_interface.command("no ip ospf dead-interval", "no ip ospf dead-interval NUMBER")
def _no_dead_interval(config: Configurator, *_: int) -> None:
    config.interface.ospf.dead_interval = None
    _ospf_changed(config)


@_interface.command("ip ospf cost NUMBER")
def _cost(config: Configurator, cost: int) -> None:
    config.interface.ospf.cost = _in_range(cost, 1, 65535)
    _ospf_changed(config)


@_interface.command("no ip ospf cost", "no ip ospf cost NUMBER")
def _no_cost(config: Configurator, *_: int) -> None:
    config.interface.ospf.cost = None
    _ospf_changed(config)


@_interface.command("ip ospf priority NUMBER")
def _priority(config: Configurator, priority: int) -> None:
    config.interface.ospf.priority = _in_range(priority, 0, 255)
    _ospf_changed(config)


@_interface.command("no ip ospf priority", "no ip ospf priority NUMBER")
def _no_priority(config: Configurator, *_: int) -> None:
    config.interface.ospf.priority = None
    _ospf_changed(config)


@_interface.command("duplex WORD", "speed WORD")
def _physical(config: Configurator, _: str) -> None:
    """Accepted: a UDP tunnel has neither."""


def _in_range(value: int, lowest: int, highest: int) -> int:
    if not lowest <= value <= highest:
        raise CommandError(f"% Invalid value, {lowest} to {highest} expected")
    return value


def _ospf_changed(config: Configurator) -> None:
    if config.router.ospf:
        config.router.ospf.configuration_changed()


# --- router ospf ----------------------------------------------------------------------------------------------------


@_router.command("router-id ADDRESS")
def _router_id(config: Configurator, router_id: IPv4Address) -> None:
    config.process.configured_router_id = router_id
    config.process.configuration_changed()


@_router.command("no router-id", "no router-id ADDRESS")
def _no_router_id(config: Configurator, *_: IPv4Address) -> None:
    config.process.configured_router_id = None
    config.process.configuration_changed()


@_router.command("network ADDRESS WILDCARD area AREA")
def _network(config: Configurator, address: IPv4Address, wildcard: IPv4Address, area: IPv4Address) -> None:
    process = config.process
    others = [n for n in process.networks if (n.address, n.wildcard) != (address, wildcard)]
    process.networks = [*others, NetworkStatement(address, wildcard, area)]
    process.configuration_changed()


@_router.command("no network ADDRESS WILDCARD area AREA")
def _no_network(config: Configurator, address: IPv4Address, wildcard: IPv4Address, area: IPv4Address) -> None:
    process = config.process
    process.networks = [n for n in process.networks if n != NetworkStatement(address, wildcard, area)]
    process.configuration_changed()


@_router.command("passive-interface INTERFACE")
def _passive(config: Configurator, name: str) -> None:
    config.process.passive_interfaces.add(name)
    config.process.configuration_changed()


@_router.command("no passive-interface INTERFACE")
def _no_passive(config: Configurator, name: str) -> None:
    config.process.passive_interfaces.discard(name)
    config.process.configuration_changed()


@_router.command("log-adjacency-changes")
def _log_adjacency_changes(config: Configurator) -> None:
    """Accepted: they are always logged."""


# --- line -----------------------------------------------------------------------------------------------------------


@_line.command("logging synchronous")
def _synchronous(config: Configurator) -> None:
    config.router.logging_synchronous = True


@_line.command("no logging synchronous")
def _not_synchronous(config: Configurator) -> None:
    config.router.logging_synchronous = False


@_line.command("exec-timeout NUMBER NUMBER", "privilege level NUMBER", "stopbits NUMBER", "no login", "login")
def _line_accepted(config: Configurator, *_: int) -> None:
    """Accepted: this console neither times out nor asks for a password."""
