"""Which tool belongs to which mode, and why one that a request needs is not offered."""

from __future__ import annotations

from collections.abc import Collection

from gns3server_copilot.schemas.modes import Mode

MODE_NAMES = {Mode.TEACHING: "teaching", Mode.LAB_AUTOMATION: "lab automation", Mode.INJECTION: "fault injection"}

ALL_MODES = frozenset(Mode)
BUILDING_MODES = frozenset({Mode.TEACHING, Mode.LAB_AUTOMATION})
AUTOMATION = frozenset({Mode.LAB_AUTOMATION})
INJECTION = frozenset({Mode.INJECTION})

TEMPLATES = "get_gns3_templates"
CREATE_NODE = "create_gns3_node"
CREATE_LINK = "create_gns3_link"
START = "start_gns3_node"
STOP = "stop_gns3_node"
SUSPEND = "suspend_gns3_node"
RENAME = "update_gns3_node_name"
DEVICE_COMMANDS = "execute_multiple_device_commands"
VPCS_COMMANDS = "execute_vpcs_commands"
PACKETS = "packet_analysis"
LINK_FILTER = "manage_gns3_packet_filter"
TOPOLOGY = "gns3_topology_reader"

#: The modes of the tools that requests need (docs/developer/tools.md), except the topology tool, which a setting adds
#: to others.
MODES_OF: dict[str, frozenset[Mode]] = {
    TEMPLATES: BUILDING_MODES,
    CREATE_NODE: BUILDING_MODES,
    CREATE_LINK: BUILDING_MODES,
    START: BUILDING_MODES,
    RENAME: BUILDING_MODES,
    STOP: AUTOMATION,
    SUSPEND: AUTOMATION,
    DEVICE_COMMANDS: ALL_MODES,
    VPCS_COMMANDS: AUTOMATION,
    PACKETS: BUILDING_MODES,
    LINK_FILTER: INJECTION,
}


def why_not(tool: str, offered: Collection[str]) -> str:
    """Say in a sentence why a tool is not among those offered."""
    return f"I cannot do that here: {where(tool, offered)} (it needs the tool `{tool}`)."


def where(tool: str, offered: Collection[str]) -> str:
    """Say, as part of a sentence, where a tool that is not among those offered may be had.

    A model is not told its mode; what it is offered narrows it down.
    """
    if not offered:
        return "no tool is offered at this point of the conversation"
    allowed, possible = MODES_OF[tool], _possible_modes(offered)
    if possible <= allowed:
        return "this version of the copilot cannot do it yet"
    if not possible & allowed:
        return f"it belongs to the {_named(allowed)} mode, and this conversation is in another"
    return (
        f"it belongs to the {_named(allowed)} mode, and if this conversation is in that mode already, this version of "
        "the copilot cannot do it yet"
    )


def _possible_modes(offered: Collection[str]) -> frozenset[Mode]:
    if TEMPLATES not in offered:  # bound in both other modes
        return INJECTION
    known = [MODES_OF[tool] for tool in offered if tool in MODES_OF]
    return ALL_MODES.intersection(*known)


def _named(modes: Collection[Mode]) -> str:
    return " or ".join(MODE_NAMES[mode] for mode in Mode if mode in modes)
