"""The packet filters of a link: their types and ranges, what a set of them means, and what they do beside it.

Ranges as gns3-server advertises them, which it does not check itself; how they act, as ubridge does.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gns3server_copilot.errors import ToolError

#: A link's filters as gns3-server keeps them: a list of values by type.
Filters = dict[str, list[int | str]]

HIGHEST = 32_767
LONGEST_EXPRESSION = 500
#: Characters that end the quotes in which gns3-server hands an expression to ubridge.
QUOTES = "\"'\\`"
#: A word with a dot and a letter, but for the two ways in which addresses of cards are written with dots.
HOST_NAME = re.compile(r"(?<![\w.-])(?=[\w.-]*[^\W\d_])[\w-]+\.[\w.-]+")
CARD_ADDRESS = re.compile(r"([0-9a-f]{4}\.){2}[0-9a-f]{4}|([0-9a-f]{1,2}\.){5}[0-9a-f]{1,2}", re.IGNORECASE)
#: Above this a delay slows transfers and routing protocols noticeably, in milliseconds.
LONG_DELAY = 50


@dataclass(frozen=True)
class FilterType:
    """One type: what its values mean, and their ranges."""

    meaning: str
    ranges: tuple[tuple[str, int, int], ...] = ()


TYPES = {
    "frequency_drop": FilterType(
        "drop every n-th packet; -1 drops all, 0 removes the filter", (("frequency_drop", -1, HIGHEST),)
    ),
    "packet_loss": FilterType("drop packets at random, in percent; 0 removes the filter", (("packet_loss", 0, 100),)),
    "delay": FilterType(
        "delay packets: latency and jitter in milliseconds", (("latency", 0, HIGHEST), ("jitter", 0, HIGHEST))
    ),
    "corrupt": FilterType("corrupt packets at random, in percent; 0 removes the filter", (("corrupt", 0, 100),)),
    "bpf": FilterType("drop packets that match a Berkeley packet filter, one expression a line"),
}


def checked(wanted: Mapping[str, Any]) -> Filters:
    """Give wanted filters as gns3-server takes them; an empty list stands for one that is to be removed.

    Raises ToolError that lists everything that is out of range.
    """
    wrong: list[str] = []
    found: Filters = {}
    for name, value in wanted.items():
        if name == "bpf":
            found[name] = _expression(str(value), wrong)
        elif name in TYPES:
            values = list(value) if isinstance(value, list | tuple) else [value]
            found[name] = _numbers(name, values, wrong)
        else:
            wrong.append(f"there is no filter {name}; there are {', '.join(TYPES)}")
    if wrong:
        raise ToolError("Nothing was changed: " + "; ".join(wrong) + ".")
    return found


def _numbers(name: str, values: list[Any], wrong: list[str]) -> list[int | str]:
    ranges = TYPES[name].ranges
    if not 1 <= len(values) <= len(ranges):
        wrong.append(f"{name} takes {' and '.join(one for one, _, _ in ranges)}")
        return []
    for (part, lowest, highest), value in zip(ranges, values, strict=False):
        if not lowest <= value <= highest:
            wrong.append(f"{part} is {lowest} to {highest}, not {value}")
    if name == "delay":
        latency, jitter = values[0], values[1] if len(values) > 1 else 0
        if latency == 0 and jitter > 0:
            wrong.append("a delay needs a latency above 0, gns3-server drops one with jitter alone")
        return [latency, jitter] if latency else []
    return [values[0]] if values[0] else []


def _expression(text: str, wrong: list[str]) -> list[int | str]:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    joined = "\n".join(lines)
    if len(joined) > LONGEST_EXPRESSION:
        wrong.append(f"bpf is at most {LONGEST_EXPRESSION} characters, not {len(joined)}")
    if any(character in QUOTES or (not character.isprintable() and character != "\n") for character in joined):
        wrong.append("bpf must not hold quotes, backslashes or control characters")
    # libpcap would ask the name servers of this machine for them
    if names := [name for name in HOST_NAME.findall(joined) if not CARD_ADDRESS.fullmatch(name)]:
        wrong.append(f"bpf names hosts by their addresses, not as {names[0][:60]}")
    return [joined] if joined else []


def merged(before: Mapping[str, Any], wanted: Filters, *, replace: bool) -> Filters:
    """Give the filters that a link has to have: the wanted ones, and those before unless they are replaced."""
    kept: Filters = {} if replace else {name: list(values) for name, values in before.items()}
    return {name: values for name, values in (kept | wanted).items() if values}


def same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether two sets of filters are the same, as gns3-server writes them."""
    return _plain(one) == _plain(other)


def _plain(filters: Mapping[str, Any]) -> Filters:
    plain: Filters = {}
    for name, values in filters.items():
        members = list(values) if isinstance(values, list | tuple) else [values]
        # a delay without jitter has a jitter of 0
        if name == "delay" and len(members) == 1:
            members.append(0)
        if members:
            plain[name] = members
    return plain


def in_words(filters: Mapping[str, Any]) -> list[str]:
    """Say what each filter does."""
    said = []
    for name, values in _plain(filters).items():
        first = values[0]
        if name == "frequency_drop":
            said.append("all packets are dropped" if first == -1 else f"every {first}. packet is dropped")
        elif name == "delay":
            said.append(f"packets are delayed by {first} ms" + (f" ± {values[1]} ms" if values[1] else ""))
        elif name == "packet_loss":
            said.append(f"{first} % of packets are lost")
        elif name == "corrupt":
            said.append(f"{first} % of packets are corrupted")
        else:
            said.append(f"packets matching {str(first).replace(chr(10), ' or ')} are dropped")
    return said


def warnings(filters: Mapping[str, Any]) -> list[str]:
    """Say what else the filters do that their numbers do not tell."""
    said = []
    plain = _plain(filters)
    loss = plain.get("packet_loss", [0])[0]
    if isinstance(loss, int) and loss:
        trip = round(100 * (1 - (1 - min(100, loss + 1) / 100) ** 2))
        said.append(f"Loss works in both directions: of pings, with their answers, about {trip} % are lost.")
    if plain.get("corrupt"):
        said.append("Corruption works in both directions, and hits ARP and routing protocols too.")
    delay = plain.get("delay", [0])[0]
    if isinstance(delay, int) and delay:
        rate = max(1, 1000 // delay)
        said.append(
            f"Delay works in both directions (round trips grow by {2 * delay} ms) and lets packets through one after "
            f"the other: about {rate} a second each way."
        )
        if delay > LONG_DELAY:
            said.append("TCP crawls at such a delay, and routing protocols with short timers may lose neighbours.")
    if plain.get("frequency_drop", [0])[0] not in (0, -1):
        said.append("Packets of both directions are counted together.")
    if plain:
        said.append("A capture on this link shows what the filters let through.")
    return said
