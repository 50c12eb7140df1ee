"""Answers a question about a capture file, in this process. The worker calls it; tests may."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from gns3server_copilot.packets.budget import Budget
from gns3server_copilot.packets.conditions import all_hold, condition_from
from gns3server_copilot.packets.overview import Overview
from gns3server_copilot.packets.protocol_answer import answer_protocol
from gns3server_copilot.packets.question import CONVERSATIONS, Question
from gns3server_copilot.packets.reader import Capture
from gns3server_copilot.packets.records import SECOND
from gns3server_copilot.packets.rows import frame_fields
from gns3server_copilot.packets.survey import Survey


def answer(question: Question) -> dict[str, Any]:
    """Give the answer as plain data. Raises CaptureError for a file that is no capture, OSError for none at all."""
    budget = Budget(question.max_frames, question.max_seconds, question.max_memory)
    with Path(question.path).open("rb") as file:
        capture = Capture(file)
        survey = Survey()
        if question.protocol:
            told = answer_protocol(question, capture, survey, budget)
        else:
            if question.where:
                conditions = [condition_from(raw) for raw in question.where]
                survey.accepts = lambda frame: all_hold(conditions, frame_fields(frame, survey.start))
            overview = Overview(question.definitions, survey)
            survey.run(capture, budget)
            told = overview.told(budget)
    notes = told.pop("notes", [])
    told = summary(survey, capture, budget) | told
    notes = told.pop("notes", []) + notes
    return told | ({"notes": notes} if notes else {})


def summary(survey: Survey, capture: Capture, budget: Budget) -> dict[str, Any]:
    """Sum a surveyed capture up."""
    conversations, count = survey.conversations.top(CONVERSATIONS)
    told: dict[str, Any] = {
        "frames": survey.frames,
        "bytes": survey.octets,
        "seconds": round(survey.seconds, 6),
        "link_type": survey.link_type,
        "protocols": survey.protocols(),
        "conversations": conversations,
        "conversation_count": count,
    }
    if survey.first:
        told["first"] = datetime.fromtimestamp(survey.first / SECOND, UTC).isoformat(timespec="milliseconds")
    for name, count in (
        ("malformed_frames", survey.malformed),
        ("cut_frames", survey.cut),
        ("fragments", survey.fragments),
    ):
        if count:
            told[name] = count
    notes = [*capture.notes, *([budget.spent] if budget.spent else [])]
    if notes:
        told["notes"] = notes
    return told
