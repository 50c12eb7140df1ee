"""One answer of the copilot on the screen: its text, its tool calls, and how it ended."""

from __future__ import annotations

import json
from typing import Any

from gns3server_copilot.commands.terminal import FAINT, GREEN, RED, Screen

MAX_ARGUMENTS = 100
MAX_FAILURES = 3


class Answer:
    """Shows the events of a turn as they come; `ended` after the terminal one, `status` 0 unless it was an error."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._shown_calls: set[str] = set()
        self._aborted = False
        self.ended = False
        self.status = 0

    def show(self, event: dict[str, Any]) -> None:
        """Show one event; unknown kinds are for later clients."""
        match event.get("type"):
            case "content":
                self._screen.text(str(event.get("content", "")))
            case "tool_call":
                self._call(event.get("tool_call") or {})
            case "tool_start":
                self._announce(str(event.get("tool_call_id")), str(event.get("tool_name")), "")
            case "tool_end":
                self._result(str(event.get("tool_name")), str(event.get("tool_output", "")))
            case "abort":
                self.stopped()
            case "error":
                self._end(1)
                self._screen.line(f"✗ {event.get('error')}", RED)
            case "done":
                self._end(1 if self._aborted else 0)
                self._usage(event.get("usage") or {})

    def stopped(self) -> None:
        """Say once that the answer was stopped before its end."""
        if not self._aborted and not self.ended:
            self._aborted = True
            self._screen.line("(stopped)", FAINT)

    def _end(self, status: int) -> None:
        self.ended = True
        self.status = status
        self._screen.end_line()

    def _call(self, call: dict[str, Any]) -> None:
        function = call.get("function") or {}
        if function.get("complete"):
            arguments = short_arguments(str(function.get("arguments", "")))
            self._announce(str(call.get("id")), str(function.get("name")), arguments)

    def _announce(self, call_id: str, name: str, arguments: str) -> None:
        if call_id not in self._shown_calls:
            self._shown_calls.add(call_id)
            self._screen.line(f"→ {name} {arguments}".rstrip(), FAINT)

    def _result(self, name: str, output: str) -> None:
        succeeded, text = result_line(output)
        self._screen.line(f"{'✓' if succeeded else '✗'} {name}: {text}", GREEN if succeeded else RED)

    def _usage(self, usage: dict[str, Any]) -> None:
        if self._screen.is_terminal and usage.get("total_tokens"):
            about = "about " if usage.get("estimated") else ""
            self._screen.line(
                f"({about}{usage.get('input_tokens')} tokens read, {usage.get('output_tokens')} written)", FAINT
            )


def short_arguments(text: str) -> str:
    """Give a call's arguments on a short line, e.g. `nodes=["R1"], wait="console"`."""
    try:
        arguments = json.loads(text)
    except (ValueError, RecursionError):
        arguments = None
    if isinstance(arguments, dict):
        text = ", ".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in arguments.items())
    text = " ".join(text.split())
    return text if len(text) <= MAX_ARGUMENTS else f"{text[: MAX_ARGUMENTS - 1]}…"


def result_line(output: str) -> tuple[bool, str]:
    """Tell whether a tool response is a success, and give it in a few words: counts, and the first failures."""
    try:
        response = json.loads(output)
        succeeded = response["success"] is True
        items = [item for item in response["data"] if isinstance(item, dict)]
        counts = f"{response['successful']} of {response['total']}"
    except (ValueError, KeyError, TypeError, RecursionError):
        return False, "its answer cannot be read"
    if response.get("error"):
        return False, _one_line(response["error"])
    failures = [item for item in items if item.get("status") == "failed"]
    reasons = list(dict.fromkeys(f"{item.get('name') or item.get('id')}: {item.get('error')}" for item in failures))
    more = [f"and {len(reasons) - MAX_FAILURES} more"] if len(reasons) > MAX_FAILURES else []
    return succeeded, _one_line("; ".join([counts, *reasons[:MAX_FAILURES], *more]))


def _one_line(text: object) -> str:
    return " ".join(str(text).split())
