"""A captured frame with its layers."""

from __future__ import annotations

from dataclasses import dataclass, field

from gns3server_copilot.packets.records import Record
from gns3server_copilot.packets.walk import llc, network, ppp, transport  # noqa: F401  (they register handlers)
from gns3server_copilot.packets.walk.links import first_layer
from gns3server_copilot.packets.walk.steps import HANDLERS, Layer, MalformedError, State

#: No real frame is nested deeper; made ones would go on for ever.
MOST_LAYERS = 24
QUOTING = ("icmp", "icmpv6")


@dataclass(frozen=True)
class Frame:
    """One frame: `number` counts from 1 in the order of the capture, `layers` are from the outside in."""

    number: int
    record: Record
    layers: tuple[Layer, ...]
    malformed: bool
    fragment: bool
    #: whether the layers depend on more than types, protocols and ports
    peeked: bool

    @property
    def own_layers(self) -> tuple[Layer, ...]:
        """The layers without those of a packet that an ICMP error quotes."""
        for index, layer in enumerate(self.layers):
            if layer.protocol in QUOTING:
                return self.layers[: index + 1]
        return self.layers

    @property
    def data(self) -> bytes:
        """The captured bytes."""
        return self.record.data

    @property
    def cut(self) -> bool:
        """Whether fewer bytes were captured than were on the wire."""
        return len(self.record.data) < self.record.length

    def has(self, protocol: str) -> bool:
        """Whether the protocol is in it."""
        return any(layer.protocol == protocol for layer in self.layers)


@dataclass
class Walker:
    """Walks through the frames of one capture, in their order: some protocols go on at ports told in earlier frames."""

    endpoints: dict[tuple[bytes, int], str] = field(default_factory=dict)

    def frame(self, number: int, record: Record) -> Frame:
        """Give the frame with its layers; what is broken ends the layers and is marked, never raised."""
        data = record.data
        state = State(self.endpoints)
        layers: list[Layer] = []
        malformed = False
        layer = first_layer(record.link_type, len(data))
        while layer is not None and len(layers) < MOST_LAYERS:
            layers.append(layer)
            handler = HANDLERS.get(layer.protocol)
            if handler is None:
                break
            try:
                layer = handler(data, layer.start, layer.end, state)
            except (IndexError, MalformedError):
                # what was cut off by the capture is not the sender's fault
                malformed = len(data) >= record.length
                break
        return Frame(number, record, tuple(layers), malformed, state.fragment, state.peeked)
