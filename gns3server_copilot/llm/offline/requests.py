"""The kinds of request that the offline model understands: what slash commands and plain sentences both become."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Request:
    """Base of all requests."""


@dataclass(frozen=True)
class Help(Request):
    """What can you do?"""


@dataclass(frozen=True)
class About(Request):
    """Who are you?"""


@dataclass(frozen=True)
class Misread(Request):
    """Meant as a command, but not one that can be carried out; `reason` says what would be right."""

    reason: str


@dataclass(frozen=True)
class Unknown(Request):
    """Nothing that a rule fits."""


@dataclass(frozen=True)
class ReadTopology(Request):
    """What is in the lab?"""


@dataclass(frozen=True)
class ListTemplates(Request):
    """What can be added? A part of the name or a category narrows the list, "" does not."""

    name: str = ""
    category: str = ""


@dataclass(frozen=True)
class CreateNodes(Request):
    """Add `count` nodes of one template."""

    count: int
    template: str


@dataclass(frozen=True)
class End:
    """One end of a link; `port` is "auto" for the first free one."""

    node: str
    port: str = "auto"


@dataclass(frozen=True)
class LinkNodes(Request):
    """Connect two nodes."""

    a: End
    b: End


class Power(StrEnum):
    """What can be done to a node's power."""

    START = "start"
    STOP = "stop"
    SUSPEND = "suspend"


@dataclass(frozen=True)
class SwitchNodes(Request):
    """Start, stop or suspend nodes; `nodes` is ("all",) for all."""

    power: Power
    nodes: tuple[str, ...]


@dataclass(frozen=True)
class RenameNode(Request):
    """Give a node another name."""

    node: str
    new_name: str


@dataclass(frozen=True)
class RunCommands(Request):
    """Run show commands on devices."""

    devices: tuple[str, ...]
    commands: tuple[str, ...]


@dataclass(frozen=True)
class Ping(Request):
    """Ping an address from a device."""

    device: str
    target: str


class CaptureAction(StrEnum):
    """What can be done with a link's capture, in `packet_analysis`' words."""

    ANALYSE = "analyse"
    START = "start_capture"
    STOP = "stop_capture"


@dataclass(frozen=True)
class CaptureTraffic(Request):
    """Look at the traffic of a link; `protocol` narrows it, "" does not."""

    link: str
    action: CaptureAction = CaptureAction.ANALYSE
    protocol: str = ""


@dataclass(frozen=True)
class InjectFault(Request):
    """Break something to practise on."""


@dataclass(frozen=True)
class RestoreFaults(Request):
    """Take faults away again: those of one link, or all when `link` is ""."""

    link: str = ""
