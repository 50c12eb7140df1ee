"""Texts of the show commands about OSPF. They are empty where no process runs, as on IOS."""

from __future__ import annotations

from ipaddress import IPv4Address

from gns3server_copilot.demo.ios.router import Router
from gns3server_copilot.demo.ios.show_device import short_name
from gns3server_copilot.demo.ios.show_ip import age_text
from gns3server_copilot.demo.network.ospf import OspfProcess
from gns3server_copilot.demo.network.ospf_circuit import BACKUP, DESIGNATED, Circuit
from gns3server_copilot.demo.network.ospf_packets import NETWORK_LSA, ROUTER_LSA, Lsa

_ROLE_NAMES = {DESIGNATED: "Designated Router", BACKUP: "Backup Designated Router"}


def process(router: Router) -> str:
    if router.ospf is None:
        return ""
    ospf = router.ospf
    lines = [
        f' Routing Process "ospf {ospf.number}" with ID {ospf.router_id}',
        " Supports only single TOS(TOS0) routes",
        f" Number of areas in this router is {len(ospf.database())}. {len(ospf.database())} normal 0 stub 0 nssa",
    ]
    for area, lsas in ospf.database():
        circuits = [circuit for circuit in ospf.circuits.values() if circuit.area == area]
        loopbacks = sum(circuit.interface.loopback for circuit in circuits)
        lines += [
            f"    Area {_area(area)}",
            f"        Number of interfaces in this area is {len(circuits)} ({loopbacks} loopback)",
            "        Area has no authentication",
            f"        Number of LSA {len(lsas)}",
        ]
    return "\n".join(lines)


def neighbor(router: Router) -> str:
    if router.ospf is None or not router.ospf.neighbors():
        return ""
    now = router.stack.clock()
    lines = ["", "Neighbor ID     Pri   State           Dead Time   Address         Interface"]
    for circuit, heard in router.ospf.neighbors():
        left = age_text(max(0.0, circuit.interface.ospf.effective_dead - (now - heard.last_heard)))
        state = f"{heard.state}/{circuit.role_of(heard)}"
        lines.append(
            f"{heard.router_id!s:<15} {heard.priority:>3}   {state:<15} {left:<11} "
            f"{heard.address!s:<15} {circuit.interface.name}"
        )
    return "\n".join(lines)


def interface_brief(router: Router) -> str:
    if router.ospf is None:
        return ""
    lines = ["Interface    PID   Area            IP Address/Mask    Cost  State Nbrs F/C"]
    for circuit in _circuits(router.ospf):
        full, heard = len(circuit.full_neighbors()), len(circuit.neighbors)
        lines.append(
            f"{short_name(circuit.interface.name):<12} {router.ospf.number:<5} {_area(circuit.area):<15} "
            f"{circuit.address!s:<18} {circuit.cost:<5} {_state(circuit):<5} {full}/{heard}"
        )
    return "\n".join(lines)


def interface(router: Router, name: str | None = None) -> str:
    if router.ospf is None:
        return ""
    chosen = [circuit for circuit in _circuits(router.ospf) if name in (None, circuit.interface.name)]
    return "\n".join(_interface(router.ospf, circuit) for circuit in chosen)


def _interface(ospf: OspfProcess, circuit: Circuit) -> str:
    loopback = circuit.interface.loopback
    network = "LOOPBACK" if loopback else "BROADCAST"
    lines = [
        f"{circuit.interface.name} is up, line protocol is up",
        f"  Internet Address {circuit.address}, Area {_area(circuit.area)}",
        f"  Process ID {ospf.number}, Router ID {ospf.router_id}, Network Type {network}, Cost: {circuit.cost}",
    ]
    if loopback:
        return "\n".join([*lines, "  Loopback interface is treated as a stub Host"])
    settings = circuit.interface.ospf
    hello, dead = settings.effective_hello, settings.effective_dead
    lines += [
        f"  Transmit Delay is 1 sec, State {_state(circuit)}, Priority {settings.effective_priority}",
        f"  Designated Router address {circuit.designated_router}",
        f"  Backup Designated Router address {circuit.backup_router}",
        f"  Timer intervals configured, Hello {hello}, Dead {dead}, Wait {dead}, Retransmit 5",
        "    No Hellos (Passive interface)" if circuit.passive else f"    Hello every {hello} seconds",
        f"  Neighbor Count is {len(circuit.neighbors)}, Adjacent neighbor count is {len(circuit.full_neighbors())}",
    ]
    for adjacent in circuit.full_neighbors():
        role = _ROLE_NAMES.get(circuit.role_of(adjacent))
        lines.append(f"    Adjacent with neighbor {adjacent.router_id}" + (f"  ({role})" if role else ""))
    return "\n".join(lines)


def database(router: Router) -> str:
    if router.ospf is None:
        return ""
    lines = ["", f"            OSPF Router with ID ({router.ospf.router_id}) (Process ID {router.ospf.number})"]
    for area, lsas in router.ospf.database():
        for type_, title in ((ROUTER_LSA, "Router Link States"), (NETWORK_LSA, "Net Link States")):
            chosen = [lsa for lsa in lsas if lsa.key.type == type_]
            if chosen:
                count = " Link count" if type_ == ROUTER_LSA else ""
                lines += ["", f"                {title} (Area {_area(area)})", ""]
                lines.append(f"Link ID         ADV Router      Age         Seq#       Checksum{count}")
                lines += [_lsa(lsa) for lsa in chosen]
    return "\n".join(lines)


def _lsa(lsa: Lsa) -> str:
    count = f" {len(lsa.router_links())}" if lsa.key.type == ROUTER_LSA else ""
    return (
        f"{lsa.key.id!s:<15} {lsa.key.advertising_router!s:<15} {lsa.age:<11} "
        f"0x{lsa.sequence:08X} 0x{lsa.checksum():06X}{count}"
    )


def _circuits(ospf: OspfProcess) -> list[Circuit]:
    return [ospf.circuits[name] for name in sorted(ospf.circuits)]


def _state(circuit: Circuit) -> str:
    if circuit.interface.loopback:
        return "LOOP"
    return {DESIGNATED: "DR", BACKUP: "BDR"}.get(circuit.role, "DROTH")


def _area(area: IPv4Address) -> str:
    return str(int(area))
