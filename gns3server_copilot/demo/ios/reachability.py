"""The `ping` and `traceroute` commands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import IPv4Address

from gns3server_copilot.demo.ios.grammar import CommandError
from gns3server_copilot.demo.ios.router import Router
from gns3server_copilot.demo.network.frames import (
    ICMP_UNREACHABLE,
    UNREACHABLE_HOST,
    UNREACHABLE_NETWORK,
)
from gns3server_copilot.demo.network.probes import Answer, Pinger, trace_probe

Write = Callable[[str], None]

_UNRECOGNIZED = "% Unrecognized host or address, or protocol not running."


@dataclass(slots=True)
class PingOptions:
    repeat: int = 5
    size: int = 100
    timeout: int = 2
    source: str | None = None
    """An interface's name or an address of the router."""


async def ping(router: Router, destination: IPv4Address, options: PingOptions, write: Write) -> None:
    source = _source(router, destination, options.source)
    write(
        "Type escape sequence to abort.\n"
        f"Sending {options.repeat}, {options.size}-byte ICMP Echos to {destination}, "
        f"timeout is {options.timeout} seconds:\n"
    )
    if options.source:
        write(f"Packet sent with a source address of {source} \n")
    times: list[float] = []
    if source is None:
        write("." * options.repeat)
    else:
        pinger = Pinger(router.stack, source, destination, size=options.size)
        for sequence in range(options.repeat):
            answer = await pinger.ping(sequence, options.timeout)
            if answer and answer.is_reply:
                times.append(answer.milliseconds)
            write(_ping_mark(router, answer))
    write("\n" + _ping_summary(times, options.repeat))


def _ping_mark(router: Router, answer: Answer | None) -> str:
    if answer is None or (router.stack.is_own(answer.source) and not answer.is_reply):
        return "."
    if answer.is_reply:
        return "!"
    return "U" if answer.message.type == ICMP_UNREACHABLE else "&"


def _ping_summary(times: list[float], sent: int) -> str:
    percent = 100 * len(times) // sent
    text = f"Success rate is {percent} percent ({len(times)}/{sent})"
    if times:
        # IOS shows whole milliseconds, and 1 for less.
        low, mean, high = (max(1, round(t)) for t in (min(times), sum(times) / len(times), max(times)))
        text += f", round-trip min/avg/max = {low}/{mean}/{high} ms"
    return text + "\n"


def _source(router: Router, destination: IPv4Address, wanted: str | None) -> IPv4Address | None:
    """The address that the packets come from; None where no route leads to the destination."""
    if wanted is None:
        return router.stack.source_for(destination)
    for interface in router.interfaces.values():
        if interface.ip is not None and interface.up and wanted in (interface.name, str(interface.ip)):
            return interface.ip if router.stack.source_for(destination) else None
    raise CommandError("% Invalid source. Must use same-VRF IP address or full interface name")


@dataclass(slots=True)
class TraceOptions:
    least_ttl: int = 1
    most_ttl: int = 30
    probes: int = 3
    timeout: int = 3


async def traceroute(router: Router, destination: IPv4Address, options: TraceOptions, write: Write) -> None:
    write(
        f"Type escape sequence to abort.\nTracing the route to {destination}\n"
        "VRF info: (vrf in name/id, vrf out name/id)\n"
    )
    source = router.stack.source_for(destination)
    for ttl in range(options.least_ttl, options.most_ttl + 1):
        write(f"{ttl:>3} ")
        reached = False
        seen: IPv4Address | None = None
        for probe in range(options.probes):
            answer = None
            if source is not None:
                number = (ttl - 1) * options.probes + probe
                answer = await trace_probe(
                    router.stack, source, destination, ttl=ttl, number=number, seconds=options.timeout
                )
            if answer is None or (router.stack.is_own(answer.source) and answer.source != destination):
                write(" * ")
                continue
            if answer.source != seen:
                seen = answer.source
                write(f"{seen} ")
            write(_trace_mark(answer))
            reached |= answer.message.type == ICMP_UNREACHABLE
        write("\n")
        if reached:
            return


def _trace_mark(answer: Answer) -> str:
    time = f"{max(1, round(answer.milliseconds))} msec "
    if answer.message.type == ICMP_UNREACHABLE:
        return {UNREACHABLE_HOST: "!H ", UNREACHABLE_NETWORK: "!N "}.get(answer.message.code, time)
    return time
