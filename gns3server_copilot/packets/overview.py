"""What looks wrong in a whole capture: the checks of all protocols that are in it, over the first frames of each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gns3server_copilot.packets.budget import Budget
from gns3server_copilot.packets.checks import run_checks
from gns3server_copilot.packets.dissect.registry import dissector_of
from gns3server_copilot.packets.findings.base import Finding, Rows, merged
from gns3server_copilot.packets.findings.registry import MODULES, find_all
from gns3server_copilot.packets.findings.tcp import find as find_in_tcp
from gns3server_copilot.packets.findings.traffic import fragments, one_way
from gns3server_copilot.packets.rows import Row, RowReader
from gns3server_copilot.packets.survey import FRAGMENTS, Survey
from gns3server_copilot.packets.tcp import TcpTracker
from gns3server_copilot.packets.tcp_feed import Repetitions
from gns3server_copilot.packets.walk.frame import Frame

#: Frames of one protocol that are looked into for an overview; a question about the protocol reads more.
MOST_FRAMES = 500
MOST_FINDINGS = 30
#: The connections themselves are followed by the survey.
FOLLOWED = "tcp"


class Overview:
    """Keeps each protocol's first frames while a capture is surveyed, and looks into them afterwards."""

    def __init__(self, definitions: dict[str, Any], survey: Survey) -> None:
        self._survey = survey
        self._definitions = definitions
        self._kept: dict[str, list[Frame]] = {}
        self._more: set[str] = set()
        checked = {name for name, definition in definitions.items() if definition.get("checks")} | set(MODULES)
        for protocol in sorted(checked - {FOLLOWED}):
            self._watch(protocol, protocol)
        self._watch(FRAGMENTS, FRAGMENTS)
        survey.tracker = TcpTracker()

    def _watch(self, what: str, name: str) -> None:
        kept = self._kept.setdefault(name, [])

        def see(frame: Frame) -> bool:
            if len(kept) < MOST_FRAMES:
                kept.append(frame)
                return True
            self._more.add(name)
            return False

        self._survey.watch(what, see)

    def told(self, budget: Budget) -> dict[str, Any]:
        """Give the findings, and for which protocols they are of the first frames only."""
        findings = merged(self._find(budget))
        told: dict[str, Any] = {"findings": [finding.told() for finding in findings[:MOST_FINDINGS]]}
        if self._more:
            names = ", ".join(sorted(self._more - {FRAGMENTS}) or ["ip"])
            told["notes"] = [
                f"Findings on {names} are of the first {MOST_FRAMES:,} frames; ask about the protocol for all."
            ]
        return told

    def _find(self, budget: Budget) -> Iterator[Finding]:
        for name, frames in self._kept.items():
            if frames and budget.has_time():
                protocol = "ipv4" if name == FRAGMENTS else name
                rows = Rows(protocol, self._rows(protocol, frames), name not in self._more and not budget.spent)
                if name == FRAGMENTS:
                    yield from fragments(rows)
                else:
                    yield from run_checks(self._definitions.get(protocol, {}), rows)
                    yield from find_all(rows)
        if self._survey.tracker is not None:
            yield from find_in_tcp(self._survey.tracker, self._survey.last)
        yield from one_way(self._survey.conversations)

    def _rows(self, protocol: str, frames: list[Frame]) -> list[Row]:
        dissector = dissector_of(protocol)
        if dissector is None:
            return []
        repeats = Repetitions()
        reader = RowReader(dissector, self._survey.start)
        rows: list[Row] = []
        for frame in frames:
            if not repeats.is_repetition(frame, protocol):
                try:
                    rows += reader.rows(frame)
                except Exception:
                    # whatever a broken packet makes a reader raise, it is the packet that is broken
                    continue
        return rows
