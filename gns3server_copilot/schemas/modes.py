"""The three modes of the copilot, as their names appear in requests, configurations and prompts."""

from __future__ import annotations

from enum import StrEnum


class Mode(StrEnum):
    """What the copilot may do in a turn; `tools.registry` binds tools to modes."""

    TEACHING = "teaching_assistant"
    LAB_AUTOMATION = "lab_automation_assistant"
    INJECTION = "troubleshooting_injection"


#: The modes that a configuration may hold; injection is chosen by the request alone.
CONFIGURABLE_MODES = (Mode.TEACHING, Mode.LAB_AUTOMATION)
