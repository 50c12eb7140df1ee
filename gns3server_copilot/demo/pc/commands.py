"""The commands of the PC, worded as VPCS words them."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from ipaddress import AddressValueError, IPv4Address, IPv4Interface, NetmaskValueError
from typing import Any, Protocol

from gns3server_copilot.demo.network.frames import (
    ICMP_TIME_EXCEEDED,
    ICMP_UNREACHABLE,
    UNREACHABLE_HOST,
    UNREACHABLE_NETWORK,
    UNREACHABLE_PORT,
    Icmp,
    mac_text,
)
from gns3server_copilot.demo.network.probes import Answer, Pinger, trace_probe
from gns3server_copilot.demo.pc.host import ARP_LIFETIME, Host
from gns3server_copilot.demo.pc.options import PingOptions, TraceOptions, UsageError

VERSION = "0.8.3"
BANNER = f"""
Welcome to Virtual PC Simulator, version {VERSION}
*** Scripted PC of the GNS3 Copilot demo: no VPCS runs, a small Python program plays it. ***
"""
HELP = """
?                        Print help
arp                      Shortcut for: show arp
clear ARG                Clear ip or arp
help                     Print help
ip ADDRESS[/BITS] [GATEWAY]   Set the address and the gateway
ping HOST [-c COUNT] [-w MILLISECONDS] [-i MILLISECONDS]
                         Ping HOST; press Ctrl+C to stop
save                     Save the configuration to startup.vpc
set pcname NAME          Set the name
show [arp|ip|version]    Print what is set
trace HOST [-m HOPS]     Print the path packets take to HOST
version                  Print the version
"""

_ERROR_NAMES = {
    (ICMP_UNREACHABLE, UNREACHABLE_NETWORK): "Destination network unreachable",
    (ICMP_UNREACHABLE, UNREACHABLE_HOST): "Destination host unreachable",
    (ICMP_UNREACHABLE, UNREACHABLE_PORT): "Destination port unreachable",
    (ICMP_TIME_EXCEEDED, 0): "TTL expired in transit",
}


class Screen(Protocol):
    """What the commands need of the session in which they are typed."""

    host: Host

    def write(self, text: str) -> None: ...

    async def interruptible(self, work: Coroutine[Any, Any, None]) -> None: ...


async def execute(screen: Screen, line: str) -> None:
    """Execute one line and print what it says."""
    words = line.split()
    if not words or words[0].startswith("#"):
        return
    name = _meant(words[0])
    try:
        if name == "ip":
            await _ip(screen, words[1:])
        elif name == "ping":
            await screen.interruptible(_ping(screen, PingOptions.parse(words[1:])))
        elif name == "trace":
            await screen.interruptible(_trace(screen, TraceOptions.parse(words[1:])))
        elif name:
            screen.write(_TEXTS[name](screen.host, words[1:]))
        else:
            screen.write(f'Bad command: "{line.strip()}". Use ? for help.\n')
    except UsageError as error:
        screen.write(f"{error}\n")


def _meant(word: str) -> str | None:
    names = ("ip", "ping", "trace", *_TEXTS)
    return next((name for name in names if name == word or (len(word) > 1 and name.startswith(word))), None)


# --- what needs no waiting ------------------------------------------------------------------------------------------


def _show(host: Host, words: list[str]) -> str:
    topic = words[0] if words else "ip"
    if topic == "arp":
        return _arp(host, [])
    if topic == "version":
        return _version(host, [])
    return _show_ip(host) if topic == "ip" else "Invalid arguments\n"


def _show_ip(host: Host) -> str:
    address = host.interface.address
    return (
        f"\nNAME        : {host.name}[1]\n"
        f"IP/MASK     : {address or '0.0.0.0/0'}\n"
        f"GATEWAY     : {host.gateway or '0.0.0.0'}\n"
        "DNS         : \n"
        f"MAC         : {mac_text(host.interface.mac)}\n"
        "MTU         : 1500\n"
    )


def _arp(host: Host, _: list[str]) -> str:
    entries = host.stack.arp.entries()
    if not entries:
        return "\narp table is empty\n"
    now = host.stack.clock()
    lines = [
        f"{mac_text(entry.mac)}  {entry.ip} expires in {max(0, int(entry.learned + ARP_LIFETIME - now))} seconds \n"
        for entry in entries
    ]
    return "\n" + "".join(lines)


def _version(_: Host, __: list[str]) -> str:
    return BANNER


def _set(host: Host, words: list[str]) -> str:
    if len(words) != 2 or words[0] != "pcname":
        return "Invalid arguments\n"
    host.name = words[1]
    return ""


def _save(host: Host, _: list[str]) -> str:
    host.startup_file.write_text(host.configuration(), encoding="utf-8")
    return "Saving startup configuration to startup.vpc\n.  done\n"


def _clear(host: Host, words: list[str]) -> str:
    if words == ["arp"]:
        host.stack.arp.clear()
    elif words == ["ip"]:
        host.set_address(None, None)
    else:
        return "Invalid arguments\n"
    return ""


def _help(_: Host, __: list[str]) -> str:
    return HELP


_TEXTS = {
    "show": _show,
    "arp": _arp,
    "version": _version,
    "set": _set,
    "save": _save,
    "clear": _clear,
    "help": _help,
    "?": _help,
}


# --- ip -------------------------------------------------------------------------------------------------------------


async def _ip(screen: Screen, words: list[str]) -> None:
    address, gateway = _parse_ip(words)
    host = screen.host
    screen.write("Checking for duplicate address...\n")
    host.set_address(None, None)
    owner = await host.owner_of(address.ip)
    if owner:
        screen.write(f"{address.ip} is being used by MAC {mac_text(owner)}\nAddress not changed\n")
        return
    host.set_address(address, gateway)
    through = f" gateway {gateway}" if gateway else ""
    screen.write(f"{host.name} : {address.ip} {address.network.netmask}{through}\n")


def _parse_ip(words: list[str]) -> tuple[IPv4Interface, IPv4Address | None]:
    """`A[/BITS] [GATEWAY] [BITS|MASK]`, in the orders that VPCS takes."""
    if not words:
        raise UsageError("Incomplete command.")
    address, _, length = words[0].partition("/")
    gateway: IPv4Address | None = None
    for word in words[1:]:
        if word.isdigit() or word.startswith("255."):
            length = word
        else:
            gateway = _address(word)
    try:
        return IPv4Interface(f"{_address(address)}/{length or 24}"), gateway
    except (AddressValueError, NetmaskValueError):
        raise UsageError("Invalid address") from None


def _address(text: str) -> IPv4Address:
    try:
        return IPv4Address(text)
    except AddressValueError:
        raise UsageError(f"Cannot resolve {text}") from None


# --- ping and trace -------------------------------------------------------------------------------------------------


async def _ping(screen: Screen, options: PingOptions) -> None:
    host = screen.host
    screen.write("\n")
    source = host.stack.source_for(options.host)
    if source is None:
        screen.write(f"host ({options.host}) not reachable\n")
        return
    pinger = Pinger(host.stack, source, options.host, size=84, ttl=64)
    sequence = 0
    while options.count is None or sequence < options.count:
        if sequence:
            await asyncio.sleep(options.interval / 1000)
        sequence += 1
        answer = await pinger.ping(sequence, options.wait / 1000)
        if answer and host.stack.is_own(answer.source) and not answer.is_reply:
            # Our own stack says so: nobody answered ARP.
            screen.write(f"host ({options.host}) not reachable\n")
            return
        screen.write(_ping_line(options.host, sequence, answer))


def _ping_line(destination: IPv4Address, sequence: int, answer: Answer | None) -> str:
    if answer is None:
        return f"{destination} icmp_seq={sequence} timeout\n"
    measured = f"icmp_seq={sequence} ttl={answer.ttl} time={answer.milliseconds:.3f} ms"
    if answer.is_reply:
        return f"{answer.size} bytes from {answer.source} {measured}\n"
    return f"*{answer.source} {measured} ({_error_text(answer.message)})\n"


def _error_text(message: Icmp) -> str:
    name = _ERROR_NAMES.get((message.type, message.code), "unknown")
    return f"ICMP type:{message.type}, code:{message.code}, {name}"


async def _trace(screen: Screen, options: TraceOptions) -> None:
    host = screen.host
    screen.write(f"trace to {options.host}, {options.hops} hops max, press Ctrl+C to stop\n")
    source = host.stack.source_for(options.host)
    if source is None:
        screen.write(f"host ({options.host}) not reachable\n")
        return
    for ttl in range(1, options.hops + 1):
        screen.write(f"{ttl:2} ")
        seen = False
        for probe in range(3):
            answer = await trace_probe(
                host.stack, source, options.host, ttl=ttl, number=3 * (ttl - 1) + probe, seconds=options.wait / 1000
            )
            if answer is None:
                screen.write("  *")
            elif answer.message.type == ICMP_UNREACHABLE:
                where, why = answer.source, _error_text(answer.message)
                screen.write(f"  *{where}   {answer.milliseconds:.3f} ms ({why})\n")
                return
            else:
                screen.write("" if seen else f"  {answer.source} ")
                screen.write(f"  {answer.milliseconds:.3f} ms")
                seen = True
        screen.write("\n")
