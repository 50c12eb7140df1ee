"""Echo requests and traceroute probes with their answers, for the `ping` and `trace` commands."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import IPv4Address

from gns3server_copilot.demo.network.frames import (
    ICMP_ECHO_REPLY,
    ICMP_ECHO_REQUEST,
    PROTOCOL_ICMP,
    PROTOCOL_UDP,
    FrameError,
    Icmp,
    IPv4Packet,
    Udp,
)
from gns3server_copilot.demo.network.stack import IPStack

FIRST_TRACE_PORT = 33434
_TRACE_SOURCE_PORT = 49152

_identifiers = itertools.count(1)


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back: an echo reply or an ICMP error, from whom, and after how long."""

    source: IPv4Address
    message: Icmp
    ttl: int
    size: int
    milliseconds: float

    @property
    def is_reply(self) -> bool:
        return self.message.type == ICMP_ECHO_REPLY


class Pinger:
    """Sends the echo requests of one `ping` command; `size` is that of the whole IPv4 packet in bytes."""

    def __init__(
        self, stack: IPStack, source: IPv4Address, destination: IPv4Address, *, size: int, ttl: int = 255
    ) -> None:
        self._stack = stack
        self._source = source
        self._destination = destination
        self._payload = bytes(i & 0xFF for i in range(max(0, size - 28)))
        self._ttl = ttl
        self._identifier = next(_identifiers) & 0xFFFF

    async def ping(self, sequence: int, seconds: float) -> Answer | None:
        """The answer to one request; None after `seconds`, or at once where there is no route."""
        request = Icmp(ICMP_ECHO_REQUEST, 0, self._identifier, sequence, self._payload)
        packet = IPv4Packet(self._source, self._destination, PROTOCOL_ICMP, request.pack(), self._ttl)

        def belongs(message: Icmp) -> bool:
            if message.type == ICMP_ECHO_REPLY:
                return (message.identifier, message.sequence) == (self._identifier, sequence)
            quoted = message.quoted()
            return quoted.protocol == PROTOCOL_ICMP and quoted.payload[4:8] == request.pack()[4:8]

        return await _exchange(self._stack, packet, belongs, seconds)


async def trace_probe(
    stack: IPStack, source: IPv4Address, destination: IPv4Address, *, ttl: int, number: int, seconds: float
) -> Answer | None:
    """The answer to the UDP probe `number` of a traceroute."""
    port = FIRST_TRACE_PORT + number
    probe = Udp(_TRACE_SOURCE_PORT, port, bytes(20))
    packet = IPv4Packet(source, destination, PROTOCOL_UDP, probe.pack(), ttl)

    def belongs(message: Icmp) -> bool:
        if message.type == ICMP_ECHO_REPLY:
            return False
        quoted = message.quoted()
        return quoted.protocol == PROTOCOL_UDP and Udp.parse(quoted.payload).destination_port == port

    return await _exchange(stack, packet, belongs, seconds)


async def _exchange(
    stack: IPStack, packet: IPv4Packet, belongs: Callable[[Icmp], bool], seconds: float
) -> Answer | None:
    answered: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
    sent = stack.clock()

    def listen(answer: IPv4Packet, message: Icmp) -> None:
        try:
            expected = belongs(message)
        except FrameError:
            return
        if expected and not answered.done():
            milliseconds = (stack.clock() - sent) * 1000
            answered.set_result(Answer(answer.source, message, answer.ttl, 20 + len(answer.payload), milliseconds))

    stack.icmp_listeners.append(listen)
    try:
        if not stack.send(packet):
            return None
        async with asyncio.timeout(seconds):
            return await answered
    except TimeoutError:
        return None
    finally:
        stack.icmp_listeners.remove(listen)
