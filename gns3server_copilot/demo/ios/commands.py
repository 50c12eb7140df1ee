"""The commands of user and privileged mode (`R1>`, `R1#`)."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from ipaddress import IPv4Address
from typing import Any, Protocol

from gns3server_copilot.demo.ios import show_device, show_ip, show_ospf
from gns3server_copilot.demo.ios.grammar import CommandError, CommandTable, Handler, InvalidArgument, interface_name
from gns3server_copilot.demo.ios.options import parse_options
from gns3server_copilot.demo.ios.reachability import PingOptions, TraceOptions, ping, traceroute
from gns3server_copilot.demo.ios.router import Router
from gns3server_copilot.demo.ios.running_config import running_config
from gns3server_copilot.demo.network.routes import CONNECTED, LOCAL, OSPF, STATIC

MOST_PINGS = 100_000

commands = CommandTable()


class Terminal(Protocol):
    """What the commands need of the session in which they are typed."""

    router: Router
    length: int
    privileged: bool

    def write(self, text: str) -> None: ...

    def configure(self) -> None: ...

    def log_out(self) -> None: ...

    async def ask(self, question: str) -> str: ...

    async def interruptible(self, work: Coroutine[Any, Any, None]) -> None: ...


# --- the session itself ---------------------------------------------------------------------------------------------


@commands.command("enable")
def _enable(terminal: Terminal) -> None:
    terminal.privileged = True


@commands.command("disable", privileged=True)
def _disable(terminal: Terminal) -> None:
    terminal.privileged = False


@commands.command("configure terminal", privileged=True)
def _configure(terminal: Terminal) -> str:
    terminal.configure()
    return "Enter configuration commands, one per line.  End with CNTL/Z."


@commands.command("exit", "logout", "quit")
def _log_out(terminal: Terminal) -> None:
    terminal.log_out()


@commands.command("terminal length NUMBER")
def _terminal_length(terminal: Terminal, length: int) -> None:
    if length > 512:
        raise InvalidArgument
    terminal.length = length


@commands.command("terminal width NUMBER", "terminal monitor", "terminal no monitor")
def _terminal(terminal: Terminal, *_: int) -> None:
    """Accepted: lines are never wrapped here, and the console shows all log lines."""


# --- configuration files --------------------------------------------------------------------------------------------


@commands.command("write", "write memory", privileged=True)
def _write_memory(terminal: Terminal) -> str:
    return _save(terminal.router)


def _save(router: Router) -> str:
    try:
        router.startup_file.write_text(running_config(router) + "\n", encoding="utf-8")
    except OSError as error:
        raise CommandError(f"%Error opening nvram:/startup-config ({error.strerror})") from error
    return "Building configuration...\n[OK]"


@commands.command("copy running-config startup-config", privileged=True)
async def _copy_running_config(terminal: Terminal) -> str:
    await terminal.ask("Destination filename [startup-config]? ")
    return _save(terminal.router)


@commands.command("clear arp-cache", "clear ip arp", privileged=True)
def _clear_arp(terminal: Terminal) -> None:
    terminal.router.stack.arp.clear()


@commands.command("clear ip ospf process", privileged=True)
async def _clear_ospf(terminal: Terminal) -> None:
    answer = await terminal.ask("Reset ALL OSPF processes? [no]: ")
    if answer.strip().lower() in ("y", "yes") and terminal.router.ospf:
        terminal.router.ospf.restart()


@commands.command("clear logging", privileged=True)
def _clear_logging(terminal: Terminal) -> None:
    terminal.router.log_lines.clear()


# --- reachability ---------------------------------------------------------------------------------------------------

_PING_OPTIONS = {"df-bit": (), "repeat": ("NUMBER",), "size": ("NUMBER",), "source": ("WORD",), "timeout": ("NUMBER",)}
_TRACE_OPTIONS = {"numeric": (), "probe": ("NUMBER",), "timeout": ("NUMBER",), "ttl": ("NUMBER", "NUMBER")}


@commands.command("ping ADDRESS", "ping ip ADDRESS", "ping ADDRESS LINE")
async def _ping(terminal: Terminal, destination: IPv4Address, line: str = "") -> None:
    given = parse_options(line, _PING_OPTIONS, argument=1)
    options = PingOptions()
    options.repeat = given.number("repeat", options.repeat, 1, MOST_PINGS)
    options.size = given.number("size", options.size, 36, 1500)
    options.timeout = given.number("timeout", options.timeout, 0, 3600)
    source = given.word("source")
    options.source = source and (interface_name(source) or source)
    await terminal.interruptible(ping(terminal.router, destination, options, terminal.write))


@commands.command("traceroute ADDRESS", "traceroute ip ADDRESS", "traceroute ADDRESS LINE")
async def _traceroute(terminal: Terminal, destination: IPv4Address, line: str = "") -> None:
    given = parse_options(line, _TRACE_OPTIONS, argument=1)
    options = TraceOptions()
    options.probes = given.number("probe", options.probes, 1, 10)
    options.timeout = given.number("timeout", options.timeout, 0, 3600)
    options.least_ttl = given.number("ttl", options.least_ttl, 1, 255)
    options.most_ttl = given.number("ttl", options.most_ttl, options.least_ttl, 255, value=1)
    await terminal.interruptible(traceroute(terminal.router, destination, options, terminal.write))


# --- show -----------------------------------------------------------------------------------------------------------


def _known(router: Router, name: str) -> str:
    if name not in router.interfaces:
        raise InvalidArgument
    return name


_SHOW: dict[str, Callable[..., str]] = {
    "show version": show_device.version,
    "show clock": show_device.clock,
    "show logging": show_device.logging,
    "show arp": show_ip.arp,
    "show ip arp": show_ip.arp,
    "show interfaces": show_device.interfaces,
    "show interfaces INTERFACE": lambda router, name: show_device.interfaces(router, _known(router, name)),
    "show interfaces description": show_device.interfaces_description,
    "show ip interface brief": show_device.ip_interface_brief,
    "show ip route": show_ip.route,
    "show ip route connected": lambda router: show_ip.route(router, CONNECTED + LOCAL),
    "show ip route static": lambda router: show_ip.route(router, STATIC),
    "show ip route ospf": lambda router: show_ip.route(router, OSPF),
    "show ip route ADDRESS": show_ip.route_to,
    "show ip ospf": show_ospf.process,
    "show ip ospf neighbor": show_ospf.neighbor,
    "show ip ospf interface": show_ospf.interface,
    "show ip ospf interface INTERFACE": lambda router, name: show_ospf.interface(router, _known(router, name)),
    "show ip ospf interface brief": show_ospf.interface_brief,
    "show ip ospf database": show_ospf.database,
}
_SHOW_PRIVILEGED: dict[str, Callable[..., str]] = {
    "show running-config": show_device.running_configuration,
    "show running-config interface INTERFACE": lambda router, name: show_device.running_interface(
        router, _known(router, name)
    ),
    "show startup-config": show_device.startup_configuration,
}


def _shows(text: Callable[..., str]) -> Handler:
    return lambda terminal, *arguments: text(terminal.router, *arguments)


for _pattern, _text in _SHOW.items():
    commands.command(_pattern)(_shows(_text))
for _pattern, _text in _SHOW_PRIVILEGED.items():
    commands.command(_pattern, privileged=True)(_shows(_text))
