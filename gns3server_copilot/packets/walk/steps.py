"""The pieces of a walk: a layer, what handlers keep and say, and the table of handlers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple


class Layer(NamedTuple):
    """A protocol in a frame: where its header begins, and where its data ends (padding is left out)."""

    protocol: str
    start: int
    end: int


class MalformedError(Exception):
    """A header says what cannot be; the walk ends there."""


@dataclass
class State:
    """What the walk of one frame finds out beside its layers."""

    #: endpoints (address, port) that a server has told to use, by transport endpoint: `tftp` and the like
    endpoints: dict[tuple[bytes, int], str] = field(default_factory=dict)
    #: whether the layers depend on more than the headers' types, protocols and ports
    peeked: bool = False
    fragment: bool = False
    erspan_type: int = 0
    source: bytes = b""
    destination: bytes = b""


#: From the frame's bytes, and where a protocol begins and ends, to the protocol that it carries, if any.
#: May raise IndexError where bytes are missing, and MalformedError.
Handler = Callable[[bytes, int, int, State], Layer | None]

HANDLERS: dict[str, Handler] = {}


def handles(*protocols: str) -> Callable[[Handler], Handler]:
    """Register a handler."""

    def register(handler: Handler) -> Handler:
        for protocol in protocols:
            HANDLERS[protocol] = handler
        return handler

    return register


def u16(data: bytes, at: int) -> int:
    """Two bytes as a number; raises IndexError where they are missing."""
    return data[at] << 8 | data[at + 1]


def u32(data: bytes, at: int) -> int:
    """Four bytes as a number; raises IndexError where they are missing."""
    return data[at] << 24 | data[at + 1] << 16 | data[at + 2] << 8 | data[at + 3]
