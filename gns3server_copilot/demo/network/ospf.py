"""An OSPF process: hellos, adjacencies and flooding of link state on real frames.

Simpler than RFC 2328: broadcast networks and intra-area routes only, no authentication, and an adjacency is FULL as
soon as both sides' hellos list each other; then each asks the other for its whole database.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from ipaddress import IPv4Address, IPv4Network

from gns3server_copilot.demo.network.frames import PROTOCOL_OSPF, IPv4Packet
from gns3server_copilot.demo.network.interfaces import Interface
from gns3server_copilot.demo.network.ospf_circuit import DESIGNATED, FULL, INIT, Circuit, Neighbor
from gns3server_copilot.demo.network.ospf_database import Database, later, newer, shortest_paths
from gns3server_copilot.demo.network.ospf_packets import (
    ALL_OSPF_ROUTERS,
    LINK_STUB,
    LINK_TRANSIT,
    MAX_AGE,
    NETWORK_LSA,
    ROUTER_LSA,
    TYPE_ACKNOWLEDGMENT,
    TYPE_HELLO,
    TYPE_REQUEST,
    TYPE_UPDATE,
    Hello,
    Lsa,
    LsaKey,
    OspfPacket,
    RouterLink,
    acknowledgment_body,
    network_lsa_body,
    request_body,
    router_lsa_body,
    update_body,
)
from gns3server_copilot.demo.network.routes import OSPF, Route
from gns3server_copilot.demo.network.stack import IPStack

RETRANSMIT_SECONDS = 5.0
_HOST_MASK = IPv4Address("255.255.255.255")
_DUPLICATE_LOG_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class NetworkStatement:
    """`network ADDRESS WILDCARD area AREA`"""

    address: IPv4Address
    wildcard: IPv4Address
    area: IPv4Address

    def covers(self, address: IPv4Address) -> bool:
        care = ~int(self.wildcard) & 0xFFFFFFFF
        return int(address) & care == int(self.address) & care


class OspfProcess:
    def __init__(self, number: int, stack: IPStack, log: Callable[[str], None]) -> None:
        self.number = number
        self.configured_router_id: IPv4Address | None = None
        self.networks: list[NetworkStatement] = []
        self.passive_interfaces: set[str] = set()
        self.router_id = highest_address(stack.interfaces.values())
        self.circuits: dict[str, Circuit] = {}
        self._stack = stack
        self._log = log
        self._databases: dict[IPv4Address, Database] = {}
        self._routes_stale = False
        self._duplicate_logged = float("-inf")

    # --- what it shows ----------------------------------------------------------------------------------------------

    def neighbors(self) -> list[tuple[Circuit, Neighbor]]:
        return [
            (circuit, neighbor)
            for _, circuit in sorted(self.circuits.items())
            for _, neighbor in sorted(circuit.neighbors.items())
        ]

    def database(self) -> list[tuple[IPv4Address, list[Lsa]]]:
        now = self._stack.clock()
        return [(area, database.all(now)) for area, database in sorted(self._databases.items())]

    # --- configuration ----------------------------------------------------------------------------------------------

    def configuration_changed(self) -> None:
        """To be called after any change of the process, of an interface's address, state or OSPF settings."""
        router_id = self.configured_router_id or self.router_id or highest_address(self._stack.interfaces.values())
        if router_id != self.router_id:
            self._drop_circuits("Interface down or detached")
            self._databases.clear()
        self.router_id = router_id
        wanted = self._wanted_circuits()
        for name, circuit in list(self.circuits.items()):
            new = wanted.get(name)
            same = new is not None and (new.address, new.area, new.passive) == (
                circuit.address,
                circuit.area,
                circuit.passive,
            )
            if same:
                wanted.pop(name)
            else:
                self._drop_circuit(circuit, "Interface down or detached")
        self.circuits.update(wanted)
        for circuit in wanted.values():
            circuit.settle(self._stack.clock(), lambda _: None)
        self._originate()

    def restart(self) -> None:
        """Forget all neighbours and all link state, and begin anew."""
        self._drop_circuits("Interface down or detached")
        self._databases.clear()
        self._routes_stale = True
        self.configuration_changed()

    def stop(self) -> None:
        self._drop_circuits("Interface down or detached")
        self._stack.routes.replace(OSPF, [])

    def _wanted_circuits(self) -> dict[str, Circuit]:
        wanted: dict[str, Circuit] = {}
        for name, interface in self._stack.interfaces.items():
            area = self._area_of(interface)
            if self.router_id and area is not None and interface.address and interface.up:
                passive = interface.loopback or name in self.passive_interfaces
                wanted[name] = Circuit(interface, interface.address, area, self.router_id, passive)
        return wanted

    def _area_of(self, interface: Interface) -> IPv4Address | None:
        if interface.ospf.process == self.number:
            return interface.ospf.area
        if interface.ip is None:
            return None
        return next((network.area for network in self.networks if network.covers(interface.ip)), None)

    def _drop_circuits(self, reason: str) -> None:
        for circuit in list(self.circuits.values()):
            self._drop_circuit(circuit, reason)

    def _drop_circuit(self, circuit: Circuit, reason: str) -> None:
        for neighbor in circuit.neighbors.values():
            self._log_down(circuit, neighbor, reason)
        del self.circuits[circuit.interface.name]

    # --- time -------------------------------------------------------------------------------------------------------

    def tick(self) -> None:
        now = self._stack.clock()
        for circuit in self.circuits.values():
            for neighbor in circuit.silent_neighbors(now):
                self._log_down(circuit, neighbor, "Dead timer expired")
                del circuit.neighbors[neighbor.router_id]
                self._settle(circuit)
            if now >= circuit.next_hello:
                self._send_hello(circuit)
            if now >= circuit.next_retransmission:
                circuit.next_retransmission = now + RETRANSMIT_SECONDS
                missing = {lsa.key: lsa for n in circuit.full_neighbors() for lsa in n.unacknowledged.values()}
                self._send_update(circuit, list(missing.values()))
                for neighbor in circuit.full_neighbors():
                    if neighbor.loading:
                        self._request(circuit, neighbor)
        for database in self._databases.values():
            self._routes_stale |= database.expire(now)
        self._originate()

    # --- receiving --------------------------------------------------------------------------------------------------

    def receive(self, interface: Interface, packet: IPv4Packet) -> None:
        """Take an OSPF packet; raises FrameError for a malformed one."""
        circuit = self.circuits.get(interface.name)
        if circuit is None or circuit.passive:
            return
        ospf = OspfPacket.parse(packet.payload)
        if ospf.area != circuit.area or ospf.authentication_type != 0:
            return
        if ospf.router_id == self.router_id:
            self._log_duplicate(circuit, packet.source)
        elif ospf.type == TYPE_HELLO:
            self._receive_hello(circuit, ospf, packet.source)
        else:
            neighbor = circuit.neighbors.get(ospf.router_id)
            if neighbor and neighbor.state == FULL:
                self._receive_link_state(circuit, neighbor, ospf)

    def _receive_hello(self, circuit: Circuit, ospf: OspfPacket, source: IPv4Address) -> None:
        hello = Hello.parse(ospf.body)
        if circuit.mismatch(hello, source):
            return
        new = ospf.router_id not in circuit.neighbors
        before = None if new else circuit.neighbors[ospf.router_id].state
        neighbor = circuit.heard(ospf.router_id, source, hello, self._stack.clock())
        if before == FULL and neighbor.state == INIT:
            self._log_change(circuit, neighbor, "FULL to INIT, 1-Way")
        self._settle(circuit)
        if new:
            # Answering at once brings the adjacency up without waiting for the interval.
            self._send_hello(circuit)
        self._originate()

    def _receive_link_state(self, circuit: Circuit, neighbor: Neighbor, ospf: OspfPacket) -> None:
        if ospf.type == TYPE_ACKNOWLEDGMENT:
            for header in Lsa.parse_headers(ospf.body):
                self._acknowledged(neighbor, header)
        elif ospf.type == TYPE_UPDATE:
            lsas = Lsa.parse_all(ospf.body)
            for lsa in lsas:
                self._receive_lsa(circuit, neighbor, lsa)
            self._send(circuit, TYPE_ACKNOWLEDGMENT, acknowledgment_body(lsas))
            self._originate()
        elif ospf.type == TYPE_REQUEST:
            lsas = self._database(circuit.area).all(self._stack.clock())
            neighbor.unacknowledged.update((lsa.key, lsa) for lsa in lsas)
            circuit.next_retransmission = self._stack.clock() + 1
            self._send_update(circuit, lsas)

    def _receive_lsa(self, circuit: Circuit, neighbor: Neighbor, lsa: Lsa) -> None:
        database = self._database(circuit.area)
        known = database.get(lsa.key)
        self._acknowledged(neighbor, lsa)
        if lsa.key == _router_lsa(neighbor.router_id):
            neighbor.loading = False
        if lsa.age >= MAX_AGE:
            if known and not newer(known, lsa):
                database.remove(lsa.key)
                self._routes_stale = True
                self._flood(circuit.area, lsa, but=neighbor)
        elif known is None or newer(lsa, known):
            database.install(lsa, self._stack.clock())
            self._routes_stale = True
            if lsa.key.advertising_router == self.router_id:
                # From before a restart: outdo it, so that everybody takes the new one (RFC 2328, 13.4).
                self._supersede(circuit.area, lsa)
            else:
                self._flood(circuit.area, lsa, but=neighbor)
        elif newer(known, lsa):
            self._send_update(circuit, [known])

    def _acknowledged(self, neighbor: Neighbor, lsa: Lsa) -> None:
        waiting = neighbor.unacknowledged.get(lsa.key)
        if waiting and not later(waiting.sequence, lsa.sequence):
            del neighbor.unacknowledged[lsa.key]

    # --- link state -------------------------------------------------------------------------------------------------

    def _database(self, area: IPv4Address) -> Database:
        return self._databases.setdefault(area, Database())

    def _originate(self) -> None:
        """Bring the own LSAs and the routes up to date with the circuits."""
        if self.router_id is None:
            return
        now = self._stack.clock()
        areas = {circuit.area for circuit in self.circuits.values()} | set(self._databases)
        for area in areas:
            database = self._database(area)
            wanted = self._own_lsas(area)
            for key, body in wanted.items():
                lsa = database.own_version(key, body, now)
                if lsa:
                    self._install_own(area, lsa)
            for lsa in database.all(now):
                if lsa.key.advertising_router == self.router_id and lsa.key not in wanted:
                    self._flush(area, lsa)
        if self._routes_stale:
            self._routes_stale = False
            self._stack.routes.replace(OSPF, self._compute_routes())

    def _own_lsas(self, area: IPv4Address) -> dict[LsaKey, bytes]:
        assert self.router_id
        circuits = [circuit for circuit in self.circuits.values() if circuit.area == area]
        if not circuits:
            return {}
        links = [self._link(circuit) for circuit in circuits]
        bodies = {_router_lsa(self.router_id): router_lsa_body(links)}
        for circuit in circuits:
            if circuit.role == DESIGNATED and circuit.is_transit():
                routers = [self.router_id, *sorted(n.router_id for n in circuit.full_neighbors())]
                key = LsaKey(NETWORK_LSA, circuit.address.ip, self.router_id)
                bodies[key] = network_lsa_body(circuit.address.network.netmask, routers)
        return bodies

    def _link(self, circuit: Circuit) -> RouterLink:
        address = circuit.address
        if circuit.interface.loopback:
            return RouterLink(LINK_STUB, address.ip, _HOST_MASK, circuit.cost)
        if circuit.is_transit():
            return RouterLink(LINK_TRANSIT, circuit.designated_router, address.ip, circuit.cost)
        return RouterLink(LINK_STUB, address.network.network_address, address.network.netmask, circuit.cost)

    def _install_own(self, area: IPv4Address, lsa: Lsa) -> None:
        self._database(area).install(lsa, self._stack.clock())
        self._routes_stale = True
        self._flood(area, lsa)

    def _supersede(self, area: IPv4Address, lsa: Lsa) -> None:
        body = self._own_lsas(area).get(lsa.key)
        if body is None:
            self._flush(area, lsa)
        else:
            self._install_own(area, replace(lsa, sequence=lsa.sequence + 1, body=body, age=0))

    def _flush(self, area: IPv4Address, lsa: Lsa) -> None:
        self._database(area).remove(lsa.key)
        self._routes_stale = True
        self._flood(area, replace(lsa, age=MAX_AGE))

    def _flood(self, area: IPv4Address, lsa: Lsa, but: Neighbor | None = None) -> None:
        for circuit in self.circuits.values():
            others = [neighbor for neighbor in circuit.full_neighbors() if neighbor is not but]
            if circuit.area == area and others:
                for neighbor in others:
                    neighbor.unacknowledged[lsa.key] = lsa
                self._send_update(circuit, [lsa])

    def _compute_routes(self) -> list[Route]:
        assert self.router_id
        now = self._stack.clock()
        own: dict[IPv4Address, str] = {circuit.address.ip: name for name, circuit in self.circuits.items()}
        attached: set[IPv4Network] = {circuit.address.network for circuit in self.circuits.values()}
        routes: list[Route] = []
        for database in self._databases.values():
            found = shortest_paths(database.all(now), self.router_id, own, now)
            routes += [route for route in found if route.prefix not in attached]
        return routes

    # --- neighbours and sending -------------------------------------------------------------------------------------

    def _settle(self, circuit: Circuit) -> None:
        roles = circuit.designated_router, circuit.backup_router
        circuit.settle(self._stack.clock(), lambda neighbor: self._became_full(circuit, neighbor))
        if roles != (circuit.designated_router, circuit.backup_router):
            self._send_hello(circuit)
        self._routes_stale = True

    def _became_full(self, circuit: Circuit, neighbor: Neighbor) -> None:
        self._log_change(circuit, neighbor, "LOADING to FULL, Loading Done")
        # The neighbour takes link state only from routers that it has FULL as well: our hello must come first.
        self._send_hello(circuit)
        circuit.next_retransmission = self._stack.clock() + 1
        self._request(circuit, neighbor)

    def _request(self, circuit: Circuit, neighbor: Neighbor) -> None:
        # Only who asks knows that it has nothing: a neighbour that has restarted within the dead interval, and hears
        # us before we hear it, has never been other than FULL for us.
        self._send(circuit, TYPE_REQUEST, request_body(_router_lsa(neighbor.router_id)))

    def _send_hello(self, circuit: Circuit) -> None:
        circuit.next_hello = self._stack.clock() + circuit.interface.ospf.effective_hello
        self._send(circuit, TYPE_HELLO, circuit.hello().pack())

    def _send_update(self, circuit: Circuit, lsas: Iterable[Lsa]) -> None:
        lsas = list(lsas)
        if lsas:
            self._send(circuit, TYPE_UPDATE, update_body(lsas))

    def _send(self, circuit: Circuit, type_: int, body: bytes) -> None:
        if circuit.passive:
            return
        packet = OspfPacket(type_, circuit.router_id, circuit.area, body)
        # Network control precedence, and no hop further than the link (RFC 2328, A.1).
        ip = IPv4Packet(circuit.address.ip, ALL_OSPF_ROUTERS, PROTOCOL_OSPF, packet.pack(), ttl=1, tos=0xC0)
        self._stack.send_multicast(circuit.interface, ip)

    # --- log lines, worded as IOS words them ------------------------------------------------------------------------

    def _log_change(self, circuit: Circuit, neighbor: Neighbor, change: str) -> None:
        self._log(
            f"%OSPF-5-ADJCHG: Process {self.number}, Nbr {neighbor.router_id} on {circuit.interface.name} from {change}"
        )

    def _log_down(self, circuit: Circuit, neighbor: Neighbor, reason: str) -> None:
        if neighbor.state == FULL:
            self._log_change(circuit, neighbor, f"FULL to DOWN, Neighbor Down: {reason}")

    def _log_duplicate(self, circuit: Circuit, source: IPv4Address) -> None:
        now = self._stack.clock()
        if now - self._duplicate_logged >= _DUPLICATE_LOG_SECONDS:
            self._duplicate_logged = now
            self._log(
                f"%OSPF-4-DUP_RTRID_NBR: OSPF detected duplicate router-id {self.router_id} "
                f"from {source} on interface {circuit.interface.name}"
            )


def _router_lsa(router_id: IPv4Address) -> LsaKey:
    return LsaKey(ROUTER_LSA, router_id, router_id)


def highest_address(interfaces: Iterable[Interface]) -> IPv4Address | None:
    """The address that becomes the router id: the highest of the loopbacks, else of all."""
    up = [interface for interface in interfaces if interface.up and interface.ip is not None]
    loopbacks = [interface for interface in up if interface.loopback]
    return max((interface.ip for interface in loopbacks or up if interface.ip), default=None)
