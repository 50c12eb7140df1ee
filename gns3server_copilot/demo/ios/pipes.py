"""What stands behind `|` in a show command."""

from __future__ import annotations

import re

from gns3server_copilot.demo.ios.grammar import IncompleteCommand, InvalidInput

_FILTERS = ("begin", "count", "exclude", "include", "section")


def split_pipe(line: str) -> tuple[str, str | None, int]:
    """The command, what stands behind its first ` | ` (or None), and where that begins."""
    found = re.search(r"\s\|\s*", line)
    if not found:
        return line, None, 0
    return line[: found.start()], line[found.end() :], found.end()


def apply_pipe(text: str, pipe: str, position: int) -> str:
    """The lines of `text` that the filter lets through. Raises CommandError for what is no filter."""
    word, _, expression = pipe.strip().partition(" ")
    expression = expression.strip()
    meant = [name for name in _FILTERS if name.startswith(word.lower())] if word else []
    if not meant:
        raise InvalidInput(position)
    if not expression:
        raise IncompleteCommand
    return "\n".join(_filter(meant[0], _pattern(expression), text.split("\n")))


def _pattern(expression: str) -> re.Pattern[str]:
    try:
        return re.compile(expression)
    except re.error:
        return re.compile(re.escape(expression))


def _filter(name: str, pattern: re.Pattern[str], lines: list[str]) -> list[str]:
    if name == "include":
        return [line for line in lines if pattern.search(line)]
    if name == "exclude":
        return [line for line in lines if not pattern.search(line)]
    if name == "count":
        matching = sum(1 for line in lines if pattern.search(line))
        return [f"Number of lines which match regexp = {matching}"]
    if name == "begin":
        first = next((i for i, line in enumerate(lines) if pattern.search(line)), len(lines))
        return lines[first:]
    return _sections(pattern, lines)


def _sections(pattern: re.Pattern[str], lines: list[str]) -> list[str]:
    """Unindented lines that match, with the indented ones below them."""
    kept: list[str] = []
    inside = False
    for line in lines:
        if not line.startswith(" "):
            inside = bool(pattern.search(line))
        if inside:
            kept.append(line)
    return kept
