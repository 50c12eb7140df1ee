"""A finding, and what a finder is given."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from gns3server_copilot.packets.rows import Row

#: Most serious first.
SEVERITIES = ("error", "warning", "info")
#: Packet numbers that prove a finding; there may be many more.
SHOWN_PACKETS = 6


@dataclass(frozen=True)
class Finding:
    """Something that a person would want to know. `packets` are the numbers of all packets that show it."""

    id: str
    protocol: str
    severity: str
    message: str
    packets: tuple[int, ...]

    def told(self) -> dict[str, Any]:
        """As plain data, with the first packets and how many there are."""
        return {
            "id": self.id,
            "protocol": self.protocol,
            "severity": self.severity,
            "message": self.message,
            "packets": list(self.packets[:SHOWN_PACKETS]),
            "count": len(self.packets),
        }


@dataclass(frozen=True)
class Rows:
    """The messages of one protocol in a capture; `whole` unless only a sample was read."""

    protocol: str
    rows: Sequence[Row]
    whole: bool


def merged(findings: Iterable[Finding]) -> list[Finding]:
    """Give the findings with those that say the same made one, most serious first."""
    by_key: dict[tuple[str, str, str, str], list[int]] = {}
    for finding in findings:
        key = (finding.id, finding.protocol, finding.severity, finding.message)
        by_key.setdefault(key, []).extend(finding.packets)
    made = [Finding(*key, tuple(sorted(set(packets)))) for key, packets in by_key.items()]
    return sorted(made, key=lambda one: (SEVERITIES.index(one.severity), -len(one.packets)))
