"""What the offline model says about itself."""

from __future__ import annotations

from collections.abc import Collection

from gns3server_copilot.llm.offline import abilities
from gns3server_copilot.llm.offline.abilities import where

IDENTITY = (
    "I am the offline model of GNS3 Copilot: a set of fixed rules, not an AI language model. I need no network and no "
    "key. I understand the commands below and plain sentences of the same kind, in English best; I cannot discuss or "
    "explain."
)
SHORT_IDENTITY = "_Answered by the offline model: fixed rules, not an AI language model._"
NOT_UNDERSTOOD = "I did not understand that."
ANOTHER_MODEL = "For a conversation, choose an AI profile with a language model."

#: Each command with what it does and the tools that can do it; none is needed where the prompt has the answer.
COMMANDS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("/topology", "what is in the lab", ()),
    ("/templates [part of a name]", "what can be added", (abilities.TEMPLATES,)),
    ("/create 2 vpcs", "add nodes", (abilities.CREATE_NODE,)),
    ("/link PC1 PC2", "connect two nodes", (abilities.CREATE_LINK,)),
    ("/start all", "start nodes (also `/stop`, `/suspend`)", (abilities.START,)),
    ("/rename PC1 Client", "give a node another name", (abilities.RENAME,)),
    ("/show R1 show version", "run a show command on a device", (abilities.DEVICE_COMMANDS,)),
    ("/ping PC1 10.0.0.2", "ping from a device", (abilities.DEVICE_COMMANDS, abilities.VPCS_COMMANDS)),
    ("/capture R1-R2 ospf", "look at the traffic of a link", (abilities.PACKETS,)),
    ("/inject", "put in a fault to practise on", (abilities.LINK_FILTER,)),
    ("/restore", "take the faults away again", (abilities.LINK_FILTER,)),
)


def help_text(offered: Collection[str], *, first_line: str = "") -> str:
    """Give what can be asked here, and what cannot be and why."""
    here: list[str] = []
    elsewhere: dict[str, list[str]] = {}
    for usage, does, tools in COMMANDS:
        if not tools or any(tool in offered for tool in tools):
            here.append(f"- `{usage}`: {does}")
        else:
            elsewhere.setdefault(where(tools[0], offered), []).append(f"`{usage}`")
    parts = [first_line, IDENTITY, "\n".join(here)]
    if elsewhere:
        reasons = [f"- {', '.join(usages)}: {reason}" for reason, usages in elsewhere.items()]
        parts += ["Not in this conversation:", "\n".join(reasons)]
    return "\n\n".join(part for part in [*parts, ANOTHER_MODEL] if part)
