"""The names that the ports of a new node will have, told from its template."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from gns3server_copilot.gns3.text import printable

log = logging.getLogger(__name__)

#: What gns3-server gives a switch or hub whose template names no ports: the built-in ones.
BUILTIN_SWITCH_PORTS = tuple(f"Ethernet{number}" for number in range(8))
#: How gns3-server's controller names the ports of IOU nodes, whose templates do not say it.
IOU_FORMAT = "Ethernet{segment0}/{port0}"
IOU_PORTS_PER_ADAPTER = 4


def template_ports(kind: str, raw: Mapping[str, Any]) -> tuple[str, ...] | None:
    """Give the port names of nodes made of the template `raw` of type `kind`; None where only the compute can tell.

    A cloud's ports are the interfaces of the compute it runs on.
    """
    if kind == "vpcs":
        return ("Ethernet0",)
    if kind in ("cloud", "nat"):
        return None
    if kind in ("frame_relay_switch", "atm_switch"):
        # their ports come with the mappings that are configured later
        return ()
    try:
        if kind in ("ethernet_switch", "ethernet_hub"):
            mapping = raw.get("ports_mapping")
            return tuple(printable(port["name"]) for port in mapping) if mapping else BUILTIN_SWITCH_PORTS
        if kind == "docker":
            return tuple(f"eth{number}" for number in range(raw["adapters"]))
        # an unset address is "" in a template, which the host's factories take for one
        return _made_by_host(kind, {key: value for key, value in raw.items() if key != "mac_address"})
    except Exception:
        # The host's port factories are not made for asking: whatever they raise, the template is still usable.
        log.info("the ports of template %s cannot be told", printable(raw.get("name")), exc_info=True)
        return None


def _made_by_host(kind: str, raw: Mapping[str, Any]) -> tuple[str, ...]:
    # Imported here because outside of gns3-server (command line, documentation) it takes more than a second.
    from gns3server.controller.ports.port_factory import DynamipsPortFactory, StandardPortFactory

    if kind == "dynamips":
        ports = DynamipsPortFactory(raw)
    elif kind == "iou":
        ports = StandardPortFactory(raw, IOU_PORTS_PER_ADAPTER, None, IOU_FORMAT, IOU_PORTS_PER_ADAPTER, [])
    else:
        ports = StandardPortFactory(
            raw,
            1,
            raw.get("first_port_name"),
            raw.get("port_name_format") or "Ethernet{0}",
            raw.get("port_segment_size") or 0,
            raw.get("custom_adapters") or [],
        )
    return tuple(printable(port.asdict()["name"]) for port in ports)
