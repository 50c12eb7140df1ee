"""Reading a gns3-server's log: records, tracebacks, and which of these are ours."""

from __future__ import annotations

import re

RECORD_START = re.compile(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [A-Z]+ ")
PACKAGE = "gns3server_copilot"


def records(text: str) -> list[str]:
    """Split a log into its records; the lines of a traceback stay with the record that they follow."""
    found: list[list[str]] = []
    for line in text.splitlines():
        if not found or RECORD_START.match(line):
            found.append([])
        found[-1].append(line)
    return ["\n".join(lines) for lines in found]


def tracebacks_of_ours(text: str) -> list[str]:
    """Give the records that hold a traceback through our package."""
    return [record for record in records(text) if "Traceback (most recent call last)" in record and PACKAGE in record]


def tail(text: str, lines: int = 80) -> str:
    """Give the last lines, and say how many were left out."""
    every = text.splitlines()
    left_out = len(every) - lines
    head = [f"[{left_out} earlier lines]"] if left_out > 0 else []
    return "\n".join(head + every[-lines:])
