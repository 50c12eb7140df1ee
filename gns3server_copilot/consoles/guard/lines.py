"""A line as it would be sent: Unicode folded, spaces collapsed, and what no console may get refused."""

from __future__ import annotations

import re
import unicodedata

from gns3server_copilot.consoles.guard import reasons

MAX_LENGTH = 250
LINE_BREAK = re.compile(r"\r\n|\r|\n")


def split_lines(text: str) -> list[str]:
    """Give the lines of a configuration text."""
    return LINE_BREAK.split(text)


def normalised(line: str) -> tuple[str, str]:
    """Give the line in its usual form and "", or a printable form of it and the reason why it is refused.

    Beyond ASCII nothing is let through: a line with seven data bits drops the top bit of each byte, so that a letter of
    another script can arrive as a carriage return.
    """
    if len(line) > MAX_LENGTH:
        return _printable(line), reasons.TOO_LONG
    text = line if line.isascii() else unicodedata.normalize("NFKC", line)
    text = " ".join(word for word in text.split(" ") if word)
    if len(text) > MAX_LENGTH:
        return _printable(text), reasons.TOO_LONG
    if "\t" in text:
        return _printable(text), reasons.TAB
    if not text.isprintable() and any(unicodedata.category(one) == "Cc" for one in text):
        return _printable(text), reasons.CONTROL
    if not text.isascii():
        return _printable(text), reasons.NOT_ASCII
    if "?" in text:
        return text, reasons.QUESTION_MARK
    return text, ""


def has_open_quote(text: str, quotes: str) -> bool:
    """Tell whether one of `quotes` begins in the text and does not end there."""
    inside = ""
    for character in text:
        if inside:
            inside = "" if character == inside else inside
        elif character in quotes:
            inside = character
    return bool(inside)


def _printable(line: str) -> str:
    return "".join(one if one.isprintable() else " " for one in line[:MAX_LENGTH]).strip()
