"""What can be wrong with a knowledge file, and how it is said."""

from __future__ import annotations

from dataclasses import dataclass

MESSAGE_LENGTH = 400


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong: the file as `<kind>/<name>`, its line (0 when it is no line's fault), and the reason."""

    file: str
    line: int
    message: str

    def __str__(self) -> str:
        """Give it as one line of a log."""
        return f"{self.file}, line {self.line}: {self.message}" if self.line else f"{self.file}: {self.message}"


class WrongFileError(Exception):
    """A file cannot be used. The loader catches it: it never leaves this part of the package."""

    def __init__(self, message: str, line: int = 0) -> None:
        one_line = " ".join(message.split())
        self.message = one_line if len(one_line) <= MESSAGE_LENGTH else one_line[: MESSAGE_LENGTH - 1] + "…"
        self.line = line
        super().__init__(self.message)
