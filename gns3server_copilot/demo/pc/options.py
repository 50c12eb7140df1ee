"""Options of the PC's `ping` and `trace`."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import AddressValueError, IPv4Address


class UsageError(Exception):
    """The command cannot be done as typed; the text is what is printed."""


@dataclass(slots=True)
class PingOptions:
    """Times are in milliseconds; a count of None goes on until Ctrl+C."""

    host: IPv4Address
    count: int | None = 5
    wait: int = 1000
    interval: int = 1000

    @classmethod
    def parse(cls, words: list[str]) -> PingOptions:
        options = cls(_host(words))
        rest = words[1:]
        while rest:
            option = rest.pop(0)
            if option == "-t":
                options.count = None
            elif option == "-c":
                options.count = _number(rest)
            elif option == "-w":
                options.wait = _number(rest)
            elif option == "-i":
                options.interval = _number(rest)
            else:
                raise UsageError(f"Invalid option {option}")
        return options


@dataclass(slots=True)
class TraceOptions:
    host: IPv4Address
    hops: int = 8
    wait: int = 1000

    @classmethod
    def parse(cls, words: list[str]) -> TraceOptions:
        options = cls(_host(words))
        rest = words[1:]
        while rest:
            option = rest.pop(0)
            if option == "-m":
                options.hops = min(64, _number(rest))
            else:
                raise UsageError(f"Invalid option {option}")
        return options


def _host(words: list[str]) -> IPv4Address:
    if not words:
        raise UsageError("Incomplete command.")
    try:
        return IPv4Address(words[0])
    except AddressValueError:
        raise UsageError(f"Cannot resolve {words[0]}") from None


def _number(words: list[str]) -> int:
    if not words or not words[0].isdigit():
        raise UsageError("Incomplete command.")
    return int(words.pop(0))
