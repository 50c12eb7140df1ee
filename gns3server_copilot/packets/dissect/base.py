"""What a dissector is given and what it gives."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from gns3server_copilot.packets.addresses import ip_text, mac_text
from gns3server_copilot.packets.walk.frame import Frame
from gns3server_copilot.packets.walk.steps import Layer

#: Values by field name; a list where a field occurs several times.
Fields = dict[str, Any]


@dataclass(frozen=True)
class Context:
    """Where a protocol's bytes were found."""

    frame: Frame
    #: index of the layer among the frame's layers
    index: int

    @property
    def layer(self) -> Layer:
        """The protocol's layer."""
        return self.frame.layers[self.index]

    @property
    def source(self) -> str:
        """The sender's IP address, or its MAC address where there is no IP below."""
        return self._end(0)

    @property
    def destination(self) -> str:
        """The receiver's address, as `source`."""
        return self._end(1)

    def below(self, *protocols: str) -> Layer | None:
        """Give the nearest of these protocols that carries this one."""
        for layer in reversed(self.frame.layers[: self.index]):
            if layer.protocol in protocols:
                return layer
        return None

    def _end(self, which: int) -> str:
        layer = self.below("ipv4", "ipv6", "ethernet")
        data = self.frame.data
        if layer is None:
            return ""
        at = layer.start
        if layer.protocol == "ethernet":
            return mac_text(data[at + 6 : at + 12] if which == 0 else data[at : at + 6])
        begin, size = (at + 12, 4) if layer.protocol == "ipv4" else (at + 8, 16)
        return ip_text(data[begin + which * size : begin + (which + 1) * size])


#: From the protocol's bytes to its fields: one entry for each message in them. May raise anything for broken bytes.
Reader = Callable[[bytes, Context], list[Fields]]


@dataclass(frozen=True)
class Dissector:
    """A protocol's reader, and the names of all fields that it may give."""

    protocol: str
    fields: tuple[str, ...]
    read: Reader
    #: whether equal bytes between equal addresses always give equal fields, and reading them takes long
    repeats: bool = False


DISSECTORS: dict[str, Dissector] = {}


def dissects(protocol: str, fields: str, *, repeats: bool = False) -> Callable[[Reader], Reader]:
    """Register a reader with the names of its fields, separated by spaces; `repeats` as in Dissector."""

    def register(reader: Reader) -> Reader:
        DISSECTORS[protocol] = Dissector(protocol, tuple(fields.split()), reader, repeats)
        return reader

    return register


def tlvs(
    data: bytes, head: str = "!BB", *, inclusive: bool = False, type_mask: int = -1
) -> Iterator[tuple[int, bytes]]:
    """Give type and value of each TLV; a broken one ends them.

    `head` is the format of type and length. `inclusive` lengths count type and length themselves.
    """
    size = struct.calcsize(head)
    at = 0
    while at + size <= len(data):
        kind, length = struct.unpack_from(head, data, at)
        if inclusive:
            length -= size
        if length < 0 or at + size + length > len(data):
            return
        yield kind & type_mask, data[at + size : at + size + length]
        at += size + length


def u16(data: bytes, at: int = 0) -> int:
    """Two bytes as a number; raises struct.error where they are missing."""
    (value,) = struct.unpack_from("!H", data, at)
    return int(value)


def u32(data: bytes, at: int = 0) -> int:
    """Four bytes as a number; raises struct.error where they are missing."""
    (value,) = struct.unpack_from("!I", data, at)
    return int(value)


def ip(data: bytes, at: int = 0) -> str:
    """Four bytes as an IPv4 address; raises ValueError where they are missing."""
    if len(data) < at + 4:
        raise ValueError("an address is cut")
    return ip_text(data[at : at + 4])


def ip6(data: bytes, at: int = 0) -> str:
    """Sixteen bytes as an IPv6 address; raises ValueError where they are missing."""
    if len(data) < at + 16:
        raise ValueError("an address is cut")
    return ip_text(data[at : at + 16])


def mac(data: bytes, at: int = 0) -> str:
    """Six bytes as a MAC address; raises ValueError where they are missing."""
    if len(data) < at + 6:
        raise ValueError("an address is cut")
    return mac_text(data[at : at + 6])


def text(raw: bytes) -> str:
    """Bytes that should be text, up to the first zero."""
    return raw.split(b"\0", 1)[0].decode("utf-8", "replace")


def prefix4(raw: bytes, length: int) -> str:
    """An IPv4 prefix whose last bytes may be left out, as `10.0.0.0/8`."""
    return f"{ip_text(raw[:4].ljust(4, bytes(1)))}/{length}"


def prefix6(raw: bytes, length: int) -> str:
    """An IPv6 prefix whose last bytes may be left out."""
    return f"{ip_text(raw[:16].ljust(16, bytes(1)))}/{length}"


def named(names: dict[int, str], number: int) -> str:
    """The number's name, or the number as text."""
    return names.get(number, str(number))
