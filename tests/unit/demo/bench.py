"""A bench with scripted routers and PCs: frames move in one process, and time passes when the test says so."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from ipaddress import IPv4Address, IPv4Interface
from pathlib import Path

from gns3server_copilot.demo.ios.configuration import Configurator, load
from gns3server_copilot.demo.ios.router import Router
from gns3server_copilot.demo.network.frames import (
    ETHERTYPE_IPV4,
    PROTOCOL_ICMP,
    PROTOCOL_OSPF,
    Ethernet,
    Icmp,
    IPv4Packet,
)
from gns3server_copilot.demo.network.interfaces import Interface
from gns3server_copilot.demo.network.ospf_packets import OspfPacket
from gns3server_copilot.demo.network.stack import IPStack, Transmit
from gns3server_copilot.demo.pc.host import Host

GI0 = "GigabitEthernet0/0"
GI1 = "GigabitEthernet0/1"

Port = tuple[str, str]


def router_config(n: int) -> str:
    """R`n`: 10.0.12.n towards its peer, 192.168.n.1 towards its PC, n.n.n.n as loopback; hellos every 2 s."""
    return f"""\
hostname R{n}
interface Loopback0
 ip address {n}.{n}.{n}.{n} 255.255.255.255
interface {GI0}
 ip address 10.0.12.{n} 255.255.255.0
 ip ospf hello-interval 2
interface {GI1}
 ip address 192.168.{n}.1 255.255.255.0
router ospf 1
 passive-interface {GI1}
 network {n}.{n}.{n}.{n} 0.0.0.0 area 0
 network 10.0.12.0 0.0.0.255 area 0
 network 192.168.{n}.0 0.0.0.255 area 0
end
"""


class Bench:
    """Devices by name; `loses` may drop frames on their way."""

    def __init__(self, folder: Path) -> None:
        self.now = 1000.0
        self.frames: list[tuple[Port, bytes]] = []
        self.logs: list[str] = []
        self.routers: dict[str, Router] = {}
        self.loses: Callable[[Port, bytes], bool] = lambda port, frame: False
        self._folder = folder
        self._stacks: dict[str, IPStack] = {}
        self._wires: dict[Port, Port] = {}
        self._waiting: deque[tuple[Port, bytes]] = deque()

    def clock(self) -> float:
        return self.now

    def add_router(self, name: str, config: str = "", ports: int = 4) -> Router:
        first = 16 * (len(self._stacks) + 1)
        macs = [bytes((2, 0, 0, 0, 0, first + port)) for port in range(ports)]
        router = Router(name, macs, self._transmit(name), self._folder / f"{name}.cfg", self.clock)
        router.on_log = self.logs.append
        self.routers[name] = router
        self._stacks[name] = router.stack
        load(router, config)
        return router

    def add_pc(self, name: str, address: str, gateway: str | None = None) -> Host:
        mac = bytes((2, 0, 0, 0, 0, 16 * (len(self._stacks) + 1)))
        host = Host(mac, self._transmit(name), self._folder, self.clock)
        self._stacks[name] = host.stack
        host.set_address(IPv4Interface(address), IPv4Address(gateway) if gateway else None)
        return host

    def stack(self, name: str) -> IPStack:
        return self._stacks[name]

    def connect(self, one: Port, other: Port) -> None:
        self._wires[one] = other
        self._wires[other] = one

    def disconnect(self, one: Port) -> None:
        del self._wires[self._wires.pop(one)]

    def configure(self, name: str, *lines: str) -> None:
        """Type configuration lines, beginning in global mode."""
        configurator = Configurator(self.routers[name])
        for line in lines:
            configurator.execute(line)

    def run(self, seconds: float) -> None:
        """Let time pass in steps of 0.1 s."""
        for _ in range(round(seconds * 10)):
            self.now += 0.1
            for router in self.routers.values():
                router.tick()
            for stack in self._stacks.values():
                stack.tick()
            self.deliver()

    def deliver(self) -> None:
        """Let the frames on their way arrive, and those that they cause."""
        while self._waiting:
            port, frame = self._waiting.popleft()
            self.frames.append((port, frame))
            if port in self._wires and not self.loses(port, frame):
                device, interface = self._wires[port]
                stack = self._stacks[device]
                stack.receive(stack.interfaces[interface], frame)

    def ping(self, stack: IPStack, destination: str, ttl: int = 64, seconds: float = 5) -> list[Icmp]:
        """Send one echo request; gives the ICMP messages that came back."""
        received: list[Icmp] = []
        stack.icmp_listeners.append(lambda _, message: received.append(message))
        target = IPv4Address(destination)
        source = stack.source_for(target)
        assert source
        stack.send(IPv4Packet(source, target, PROTOCOL_ICMP, Icmp(8, 0, 7, 1, b"x" * 56).pack(), ttl))
        self.run(seconds)
        return received

    def ospf_packets(self, name: str) -> Iterator[OspfPacket]:
        """The OSPF packets that a router has sent."""
        for (device, _), frame in self.frames:
            ethernet = Ethernet.parse(frame)
            if device == name and ethernet.ethertype == ETHERTYPE_IPV4:
                packet = IPv4Packet.parse(ethernet.payload)
                if packet.protocol == PROTOCOL_OSPF:
                    yield OspfPacket.parse(packet.payload)

    def _transmit(self, name: str) -> Transmit:
        def transmit(interface: Interface, frame: bytes) -> None:
            self._waiting.append(((name, interface.name), frame))

        return transmit
