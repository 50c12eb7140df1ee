"""Which family a device belongs to."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

from gns3server_copilot.knowledge.schemas.family import Family
from gns3server_copilot.knowledge.snapshot import Catalogue

GENERIC = "generic"
#: What netmiko and GNS3's appliance files put around a family's name.
PREFIX = "gns3_"
ENDINGS = ("_telnet", "_ssh", "_serial")


class Families:
    """All families that are loaded, and the ways to find the one of a device."""

    def __init__(self, families: Catalogue[Family]) -> None:
        self._families = families

    @property
    def names(self) -> list[str]:
        """The names of all families, in order."""
        return list(self._families)

    @property
    def generic(self) -> Family:
        """The one for devices of which nothing is known."""
        return self._families[GENERIC]

    def get(self, name: str) -> Family | None:
        """Give the family of this very name."""
        return self._families.get(name)

    def declared(self, device_type: str) -> Family | None:
        """Give the family that a declared type means: a name of ours, an alias, netmiko's name, a `gns3_` name."""
        wanted = device_type
        found = self._families.find(wanted)
        while found is None and (shorter := _shortened(wanted)) != wanted:
            wanted = shorter
            found = self._families.find(wanted)
        return found

    def of_node_type(self, node_type: str) -> Family | None:
        """Give the family that alone runs in this emulator."""
        return next((one for one in self._families.values() if node_type in one.hints.node_types), None)

    def of_names(self, names: Iterable[str]) -> Family | None:
        """Give the family that a template's or an image's name tells; earlier names count more, then longer hints."""
        for name in names:
            found = self._longest(name, "names", re.IGNORECASE)
            if found is not None:
                return found
        return None

    def of_console(self, text: str) -> Family | None:
        """Give the family that a console's text tells: the one of the last line that tells any."""
        for line in reversed(text.splitlines()):
            found = self._longest(line, "console")
            if found is not None:
                return found
        return None

    def _longest(self, text: str, hints: Literal["names", "console"], flags: re.RegexFlag = re.NOFLAG) -> Family | None:
        """Give the family with the longest match: `Huawei CE12800` is a Huawei, and more than that a CE12800."""
        best, longest = None, 0
        for family in self._families.values():
            for pattern in getattr(family.hints, hints):
                match = re.search(pattern.pattern, text, pattern.flags | flags)
                if match is not None and len(match[0]) > longest:
                    best, longest = family, len(match[0])
        return best


def _shortened(name: str) -> str:
    for ending in ENDINGS:
        if name.casefold().endswith(ending):
            return name[: -len(ending)]
    return name.casefold().removeprefix(PREFIX)
