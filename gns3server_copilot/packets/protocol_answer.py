"""Answers a question about one protocol: its messages as rows, summed up, and checked."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

from gns3server_copilot.packets.budget import INTERVAL, Budget
from gns3server_copilot.packets.checks import run_checks
from gns3server_copilot.packets.conditions import Condition, all_hold, condition_from
from gns3server_copilot.packets.dissect.base import Dissector
from gns3server_copilot.packets.dissect.registry import dissector_of
from gns3server_copilot.packets.facts import facts_of
from gns3server_copilot.packets.findings.base import Finding, Rows, merged
from gns3server_copilot.packets.findings.registry import find_all
from gns3server_copilot.packets.findings.tcp import find as find_in_tcp
from gns3server_copilot.packets.question import Question
from gns3server_copilot.packets.reader import Capture
from gns3server_copilot.packets.rows import ALIASES, FRAME_FIELDS, Row, RowReader, frame_fields
from gns3server_copilot.packets.samples import Sample
from gns3server_copilot.packets.survey import Survey
from gns3server_copilot.packets.tcp import TcpTracker
from gns3server_copilot.packets.tcp_feed import Repetitions, feed
from gns3server_copilot.packets.tcp_feed import facts_of as tcp_facts
from gns3server_copilot.packets.walk.frame import Frame

#: Findings told at most; a broken network repeats itself.
MOST_FINDINGS = 40


class ProtocolQuestion:
    """Takes one protocol's messages out of a capture while it is surveyed."""

    def __init__(self, question: Question, survey: Survey) -> None:
        self.protocol = question.protocol
        self._definition = question.definitions[question.protocol]
        self._limit = question.limit
        self._survey = survey
        conditions = [_resolved(condition_from(raw), self.protocol) for raw in question.where]
        self._on_frame = [one for one in conditions if one.field in FRAME_FIELDS]
        self._on_row = [one for one in conditions if one.field not in FRAME_FIELDS]
        self._columns = [_bare(name, self.protocol) for name in question.fields] or list(self._definition["columns"])
        self._dissector: Dissector = _known(dissector_of(self.protocol))
        self._sample = Sample()
        self._broken = 0
        self._tracker = TcpTracker()
        if not self._on_frame:
            # without conditions on frames only those of the sample have to be looked at
            survey.passes_over = self._sample.pass_over
            if self.protocol == "tcp":
                survey.tracker = self._tracker
        survey.watch(self.protocol, self._see)

    def _see(self, frame: Frame) -> bool:
        if not self._on_frame or all_hold(self._on_frame, frame_fields(frame, self._survey.start)):
            self._sample.offer(frame)
            if self.protocol == "tcp" and self._on_frame:
                feed(self._tracker, frame)
        return True

    def answer(self, budget: Budget) -> dict[str, Any]:
        """Give rows, facts and findings after the survey; the rest of the time is the budget's."""
        frames = self._sample.frames
        by_number = {frame.number: frame for frame in frames}
        rows = self._rows(frames, budget)
        whole = self._sample.whole and not budget.spent
        found = Rows(self.protocol, rows, whole)
        findings = merged([*run_checks(self._definition, found), *self._find(found)])
        told: dict[str, Any] = {
            "protocol": self.protocol,
            "matching_frames": self._sample.matching,
            "messages": len(rows),
            "facts": facts_of(self._definition, rows) | tcp_facts(self._tracker.counts),
            "findings": [finding.told() for finding in findings[:MOST_FINDINGS]],
            "packets": [self._shown(row, by_number[row.number]) for row in rows[: self._limit]],
        }
        notes = []
        if len(rows) > self._limit:
            notes.append(f"Only the first {self._limit} of {len(rows):,} messages are listed.")
        if not self._sample.whole:
            notes.append(
                f"Of {self._sample.matching:,} {self.protocol} frames a sample of {len(frames):,}, spread over the "
                "capture, was read: counts of facts and findings are of the sample."
            )
        if self._broken:
            told["broken_messages"] = self._broken
            notes.append(f"{self._broken} frames could not be taken apart; they are malformed or cut.")
        if notes:
            told["notes"] = notes
        return told

    def _find(self, found: Rows) -> Iterable[Finding]:
        if self.protocol == "tcp":
            return find_in_tcp(self._tracker, self._survey.last)
        return find_all(found)

    def _rows(self, frames: Iterable[Frame], budget: Budget) -> list[Row]:
        rows: list[Row] = []
        repeats = Repetitions()
        reader = RowReader(self._dissector, self._survey.start)
        for count, frame in enumerate(frames):
            if not count % (INTERVAL // 10) and not budget.has_time():
                break
            if repeats.is_repetition(frame, self.protocol):
                continue
            try:
                found = reader.rows(frame)
            except Exception:
                # whatever a broken packet makes a reader raise, it is the packet that is broken
                self._broken += 1
                continue
            rows += [row for row in found if all_hold(self._on_row, row.fields)] if self._on_row else found
        return rows

    def _shown(self, row: Row, frame: Frame) -> dict[str, Any]:
        shown: dict[str, Any] = {"number": row.number, "time": round(row.time, 6)}
        general = frame_fields(frame, self._survey.start) if any("." in name for name in self._columns) else {}
        for name in self._columns:
            value = general.get(name) if "." in name else row.get(name)
            if value is not None:
                shown[name] = value
        return shown


def _resolved(condition: Condition, protocol: str) -> Condition:
    """Give the condition with its field named as rows name it."""
    return dataclasses.replace(condition, field=_bare(condition.field, protocol))


def _bare(name: str, protocol: str) -> str:
    """Give a field's name as rows have it: frame fields whole, the protocol's own without its name."""
    name = ALIASES.get(name, name)
    return name if name in FRAME_FIELDS else name.removeprefix(f"{protocol}.")


def _known(dissector: Dissector | None) -> Dissector:
    if dissector is None:
        raise LookupError("a definition without dissector")
    return dissector


def answer_protocol(question: Question, capture: Capture, survey: Survey, budget: Budget) -> dict[str, Any]:
    """Survey the capture and give what the question asks about its protocol."""
    asked = ProtocolQuestion(question, survey)
    survey.run(capture, budget)
    return asked.answer(budget)
