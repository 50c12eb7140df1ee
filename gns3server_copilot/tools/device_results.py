"""What the tools for devices answer about commands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gns3server_copilot.consoles.guard import Verdict
from gns3server_copilot.tools.devices import Device, Item
from gns3server_copilot.tools.response import failed, succeeded
from gns3server_copilot.utils.plain_data import json_text


@dataclass(frozen=True)
class CommandResult:
    """One command: what it printed, in how many seconds, and why it failed; None when it did not."""

    command: str
    output: str = ""
    error: str | None = None
    seconds: float | None = None

    def as_data(self) -> dict[str, Any]:
        """Give it for an answer."""
        data: dict[str, Any] = {"command": self.command, "status": "failed" if self.error else "success"}
        if self.output or not self.error:
            data["output"] = self.output
        if self.error:
            data["error"] = self.error
        if self.seconds is not None:
            data["seconds"] = self.seconds
        return data


def command_item(device: Device, results: Sequence[CommandResult], **more: Any) -> Item:
    """Give the item of a device: failed when any of its commands failed; each command's result is in it either way."""
    told = [result.as_data() for result in results]
    wrong = [result for result in results if result.error]
    if not wrong:
        return succeeded(*device.item_name(), told, **more)
    first = wrong[0]
    count = f"{len(wrong)} of {len(results)} commands failed. " if len(results) > 1 else ""
    error = f"{count}{first.command}: {first.error}"
    return failed(*device.item_name(), error, result=json_text(told), **more)


def refused_result(verdict: Verdict) -> CommandResult:
    """Give the result of a command that the guard has refused."""
    return CommandResult(verdict.line, error=f"Refused, not sent: {verdict.reason}")
