"""From a request to tool calls, and from their results to an answer."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from gns3server_copilot.llm.offline import abilities
from gns3server_copilot.llm.offline.abilities import why_not
from gns3server_copilot.llm.offline.conversation import Conversation
from gns3server_copilot.llm.offline.requests import (
    About,
    CaptureTraffic,
    CreateNodes,
    End,
    Help,
    InjectFault,
    LinkNodes,
    ListTemplates,
    Misread,
    Ping,
    Power,
    ReadTopology,
    RenameNode,
    Request,
    RestoreFaults,
    RunCommands,
    SwitchNodes,
    Unknown,
)
from gns3server_copilot.llm.offline.sentences import read_sentence
from gns3server_copilot.llm.offline.slash import read_slash
from gns3server_copilot.llm.offline.texts import IDENTITY, NOT_UNDERSTOOD, SHORT_IDENTITY, help_text
from gns3server_copilot.llm.offline.wording import results_in_words, succeeded

#: A loss that pings show at once and that routing protocols survive.
FAULT = {"packet_loss": [40]}
#: Some links cannot filter; as many are tried.
MAX_FAULT_TRIES = 3
POWER_TOOLS = {Power.START: abilities.START, Power.STOP: abilities.STOP, Power.SUSPEND: abilities.SUSPEND}


@dataclass(frozen=True)
class Call:
    """A tool call to be made."""

    tool: str
    arguments: dict[str, Any]


@dataclass(frozen=True)
class Reply:
    """What the model says, and the calls that it makes."""

    text: str = ""
    calls: tuple[Call, ...] = field(default=())


def reply_to(conversation: Conversation, offered: Collection[str]) -> Reply:
    """Give the answer to a conversation's last question, or the next step towards it."""
    request = read_request(conversation, offered)
    step = _after_results if conversation.results else _first_step
    reply = step(request, conversation, offered)
    if conversation.is_first and not reply.calls and IDENTITY not in reply.text:
        return Reply(f"{reply.text}\n\n{SHORT_IDENTITY}")
    return reply


def read_request(conversation: Conversation, offered: Collection[str]) -> Request:
    """Give what the last question asks for."""
    question, names = conversation.question, conversation.lab.names
    if not question:
        return Help()
    if question.startswith(("/", "／")):
        return read_slash(question, names)
    request = read_sentence(question, names)
    if isinstance(request, Unknown) and conversation.is_first and abilities.LINK_FILTER in offered:
        return InjectFault()  # a conversation in injection mode is begun for nothing else
    return request


def _first_step(request: Request, conversation: Conversation, offered: Collection[str]) -> Reply:
    lab = conversation.lab
    match request:
        case Help() | About():
            return Reply(help_text(offered))
        case Misread(reason):
            return Reply(reason)
        case ReadTopology():
            return _topology(conversation, offered)
        case ListTemplates(name, category):
            filters = {"name": name, "category": category}
            return _call(abilities.TEMPLATES, {key: value for key, value in filters.items() if value}, offered)
        case CreateNodes(count, template):
            return _call(abilities.CREATE_NODE, {"nodes": [{"template": template} for _ in range(count)]}, offered)
        case LinkNodes(a, b):
            return _call(abilities.CREATE_LINK, {"links": [_link(a, b)]}, offered)
        case SwitchNodes(power, nodes):
            return _call(POWER_TOOLS[power], {"nodes": list(nodes)}, offered)
        case RenameNode(node, new_name):
            return _call(abilities.RENAME, {"nodes": [{"node": node, "new_name": new_name}]}, offered)
        case RunCommands(devices, commands):
            asked = [{"device": device, "commands": list(commands)} for device in devices]
            return _call(abilities.DEVICE_COMMANDS, {"devices": asked}, offered)
        case Ping():
            return _ping(request, conversation, offered)
        case CaptureTraffic(link, action, protocol):
            arguments = {"link": lab.link_named(link), "action": str(action)}
            return _call(abilities.PACKETS, arguments | ({"protocol": protocol} if protocol else {}), offered)
        case InjectFault():
            return _inject(conversation, offered)
        case RestoreFaults():
            return _restore(request, conversation, offered)
        case _:
            return Reply(help_text(offered, first_line=NOT_UNDERSTOOD))


def _after_results(request: Request, conversation: Conversation, offered: Collection[str]) -> Reply:
    last = conversation.results[-1]
    if isinstance(request, InjectFault):
        if succeeded(last):
            return Reply(
                "The exercise is ready. What the users report: since a while ago, the network loses packets now and "
                "then. Find out where. `/restore` puts everything back."
            )
        if len(conversation.results) < MAX_FAULT_TRIES and abilities.LINK_FILTER in offered:
            return _inject(conversation, offered)
    return Reply(results_in_words(conversation.results))


def _call(tool: str, arguments: dict[str, Any], offered: Collection[str]) -> Reply:
    return Reply(calls=(Call(tool, arguments),)) if tool in offered else Reply(why_not(tool, offered))


def _topology(conversation: Conversation, offered: Collection[str]) -> Reply:
    if abilities.TOPOLOGY in offered:
        return _call(abilities.TOPOLOGY, {}, offered)
    lab = conversation.lab
    hint = " Add something with `/create 2 vpcs`." if lab.is_empty and abilities.CREATE_NODE in offered else ""
    return Reply(lab.in_words() + hint)


def _link(a: End, b: End) -> dict[str, str]:
    return {"node_a": a.node, "port_a": a.port, "node_b": b.node, "port_b": b.port}


def _ping(request: Ping, conversation: Conversation, offered: Collection[str]) -> Reply:
    lab = conversation.lab
    if any(request.target.casefold() == name.casefold() for name in lab.names):
        return Reply(f"`{request.target}` is a node. Give the address to ping, for example /ping PC1 10.0.0.2")
    is_vpcs = (lab.type_of(request.device) or "vpcs") == "vpcs"
    tool = abilities.VPCS_COMMANDS if is_vpcs and abilities.VPCS_COMMANDS in offered else abilities.DEVICE_COMMANDS
    return _call(tool, {"devices": [{"device": request.device, "commands": [f"ping {request.target}"]}]}, offered)


def _inject(conversation: Conversation, offered: Collection[str]) -> Reply:
    tried = {result.arguments.get("link") for result in conversation.results}
    links = [link.name for link in conversation.lab.links if not link.filtered and link.name not in tried]
    if abilities.LINK_FILTER in offered and not links:
        return Reply("There is no link that a fault could be put on. Connect nodes first, then ask again.")
    arguments = {"link": links[0] if links else "", "action": "set", "filters": FAULT}
    return _call(abilities.LINK_FILTER, arguments, offered)


def _restore(request: RestoreFaults, conversation: Conversation, offered: Collection[str]) -> Reply:
    lab = conversation.lab
    links = [lab.link_named(request.link)] if request.link else [link.name for link in lab.links if link.filtered]
    if abilities.LINK_FILTER not in offered:
        return Reply(why_not(abilities.LINK_FILTER, offered))
    if not links:
        return Reply("No link has a packet filter now: there is nothing to restore.")
    return Reply(calls=tuple(Call(abilities.LINK_FILTER, {"link": link, "action": "clear"}) for link in links))
