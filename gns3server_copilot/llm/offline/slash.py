"""Reads slash commands, e.g. `/show R1 show version`."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Sequence

from gns3server_copilot.llm.offline.requests import (
    About,
    CaptureAction,
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
)

MAX_LENGTH = 2000
MAX_NODES = 50
QUOTES = {'"': '"', "'": "'", "“": "”", "«": "»"}
HOST = re.compile(r"[A-Za-z0-9][A-Za-z0-9.:_-]*")

#: How people call the devices that every GNS3 has a template for.
TEMPLATE_NAMES = {
    "pc": "VPCS",
    "pcs": "VPCS",
    "vpc": "VPCS",
    "vpcs": "VPCS",
    "computer": "VPCS",
    "computers": "VPCS",
    "switch": "Ethernet switch",
    "switches": "Ethernet switch",
    "ethernet switches": "Ethernet switch",
    "hub": "Ethernet hub",
    "hubs": "Ethernet hub",
    "ethernet hubs": "Ethernet hub",
    "cloud": "Cloud",
    "clouds": "Cloud",
    "nat": "NAT",
}

CATEGORIES = {
    "router": "router",
    "routers": "router",
    "switch": "switch",
    "switches": "switch",
    "firewall": "firewall",
    "firewalls": "firewall",
    "guest": "guest",
    "guests": "guest",
}

USAGE = {
    "help": "/help",
    "about": "/about",
    "topology": "/topology",
    "templates": "/templates [part of a name]",
    "create": "/create 2 vpcs",
    "link": "/link PC1 PC2, or with ports /link R1:Gi0/0 R2:Gi0/1",
    "start": "/start all, or /start R1 R2",
    "stop": "/stop all, or /stop R1 R2",
    "suspend": "/suspend R1",
    "rename": "/rename PC1 Client",
    "show": "/show R1 show version",
    "ping": "/ping PC1 10.0.0.2",
    "capture": "/capture R1-R2 ospf, or /capture start R1-R2",
    "inject": "/inject",
    "restore": "/restore, or /restore R1-R2",
}
OTHER_NAMES = {
    "?": "help",
    "add": "create",
    "connect": "link",
    "run": "show",
    "analyse": "capture",
    "analyze": "capture",
}


def read_slash(text: str, known_names: Sequence[str]) -> Request:
    """Give the request that a message beginning with `/` makes; a wrong one becomes Misread.

    `known_names` are the lab's node names: they may hold spaces and need no quotes then.
    """
    if len(text) > MAX_LENGTH or "\n" in text:
        return Misread("Write one command in a message, on one line.")
    word, _, rest = text[1:].strip().partition(" ")
    command = OTHER_NAMES.get(word.casefold(), word.casefold())
    read = READERS.get(command)
    if read is None:
        near = difflib.get_close_matches(command, READERS, n=1)
        hint = f" Did you mean `/{near[0]}`?" if near else ""
        return Misread(f"There is no such command.{hint} `/help` lists them.")
    request = read(Words(rest, known_names))
    return request or Misread(f"Say it like this: {USAGE[command]}")


class Words:
    """What follows a command's name, taken from the left piece by piece."""

    def __init__(self, text: str, known_names: Sequence[str] = ()) -> None:
        self.rest = text.strip()
        # the longest first: with nodes R1 and "R1 backup", `R1 backup` means the second
        self._known = sorted((name for name in known_names if name), key=len, reverse=True)

    def name(self) -> str:
        """Take a node's name: a known one whatever it holds, a quoted one, or the next word; "" at the end."""
        closing = QUOTES.get(self.rest[:1])
        if closing:
            end = self.rest.find(closing, 1)
            if end > 0:
                return self._take(end + 1)[1:-1].strip()
        for name in self._known:
            if self.rest[: len(name)].casefold() == name.casefold() and self.rest[len(name) : len(name) + 1] in " ,:":
                return self._take(len(name))
        return self._take(len(re.match(r"[^\s,:]*", self.rest)[0]))  # type: ignore[index]  # matches "" at worst

    def word(self) -> str:
        """Take the next word; "" at the end."""
        return self._take(len(re.match(r"\S*", self.rest)[0]))  # type: ignore[index]  # matches "" at worst

    def skip(self, mark: str) -> bool:
        """Take a punctuation mark if it comes next, and tell whether it did."""
        if not self.rest.startswith(mark):
            return False
        self._take(len(mark))
        return True

    def names(self) -> tuple[str, ...]:
        """Take all that is left as names, divided by spaces or commas."""
        found = []
        while self.rest:
            if self.rest[0] in ",:":
                self._take(1)
            elif (name := self.name()) and name not in found:
                found.append(name)
        return tuple(found)

    def _take(self, length: int) -> str:
        taken, self.rest = self.rest[:length], self.rest[length:].lstrip()
        return taken


def read_templates(words: Words) -> Request:
    """Read nothing, a category, or a part of a name."""
    wanted = words.rest.strip(" \"'")
    category = CATEGORIES.get(wanted.casefold(), "")
    return ListTemplates(category=category) if category else ListTemplates(wanted)


def read_create(words: Words) -> Request | None:
    """Read `2 vpcs`."""
    count = re.match(r"(\d{1,6})\s*[x×]?\s+", words.rest)
    template = words.rest[count.end() :] if count else words.rest
    return create_nodes(int(count[1]) if count else 1, template)


def create_nodes(count: int, template: str) -> Request | None:
    """Give the request for that many nodes of a template, which may be called by an everyday name."""
    template = template.strip(" \"'")
    if not template or template.isdecimal():
        return None
    if not 1 <= count <= MAX_NODES:
        return Misread(f"I create between 1 and {MAX_NODES} nodes at once.")
    return CreateNodes(count, TEMPLATE_NAMES.get(template.casefold(), template))


def read_link(words: Words) -> Request | None:
    """Read `PC1 PC2` or `R1:Gi0/0 R2:Gi0/1`."""
    ends = []
    for _ in range(2):
        node = words.name()
        port = words.word() if words.skip(":") else "auto"
        if not node or not port:
            return None
        ends.append(End(node, port))
        words.skip(",")
    return None if words.rest else LinkNodes(*ends)


def read_power(power: Power) -> Callable[[Words], Request | None]:
    """Give the reader of `all` or `R1 R2` for one kind of switching."""

    def read(words: Words) -> Request | None:
        nodes = words.names()
        if any(node.casefold() == "all" for node in nodes):
            nodes = ("all",)
        return SwitchNodes(power, nodes) if nodes else None

    return read


def read_rename(words: Words) -> Request | None:
    """Read `PC1 Client`."""
    node, new_name = words.name(), words.rest.strip(" \"'")
    return RenameNode(node, new_name) if node and new_name else None


def read_show(words: Words) -> Request | None:
    """Read `R1 show version`, `R1,R2 show version; show clock`."""
    devices = [words.name()]
    while words.skip(","):
        devices.append(words.name())
    commands = tuple(line for part in words.rest.split(";") if (line := part.strip()))
    return RunCommands(tuple(devices), commands) if all(devices) and commands else None


def read_ping(words: Words) -> Request | None:
    """Read `PC1 10.0.0.2`."""
    device, target = words.name(), words.rest
    if not device or not target:
        return None
    if not HOST.fullmatch(target):
        return Misread("Give one address to ping, for example /ping PC1 10.0.0.2")
    return Ping(device, target)


def read_capture(words: Words) -> Request | None:
    """Read `R1-R2 ospf`, `R1 R2 ospf` or `start R1-R2`."""
    action = {
        "start": CaptureAction.START,
        "stop": CaptureAction.STOP,
        "analyse": CaptureAction.ANALYSE,
        "analyze": CaptureAction.ANALYSE,
    }.get(words.rest.partition(" ")[0].casefold())
    if action:
        words.word()
    link = words.name()
    if link and "-" not in link and words.rest:
        link += f"-{words.name()}"
    protocol = words.word()
    if not link or words.rest or (protocol and not re.fullmatch(r"[\w./+-]+", protocol)):
        return None
    return CaptureTraffic(link, action or CaptureAction.ANALYSE, protocol.casefold())


READERS: dict[str, Callable[[Words], Request | None]] = {
    "help": lambda words: Help(),
    "about": lambda words: About(),
    "topology": lambda words: ReadTopology(),
    "templates": read_templates,
    "create": read_create,
    "link": read_link,
    "start": read_power(Power.START),
    "stop": read_power(Power.STOP),
    "suspend": read_power(Power.SUSPEND),
    "rename": read_rename,
    "show": read_show,
    "ping": read_ping,
    "capture": read_capture,
    "inject": lambda words: InjectFault(),
    "restore": lambda words: RestoreFaults(words.rest.strip(" \"'")),
}
