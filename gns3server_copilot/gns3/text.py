"""Names and messages that come from a lab or from gns3-server, made fit for one line of a prompt or an answer."""

from __future__ import annotations

import re
import unicodedata

TERMINAL_SEQUENCE = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
#: Joiners that Persian, Indic scripts and emoji need; every other invisible character can hide text from a reader.
KEPT_INVISIBLE = "\u200c\u200d"


def printable(text: object) -> str:
    """Give `text` as one line without double spaces, control, direction and other invisible characters; "" for None."""
    if text is None:
        return ""
    line = str(text)
    if not line.isprintable():
        line = "".join(_visible(character) for character in TERMINAL_SEQUENCE.sub("", line))
    return " ".join(line.split())


def clipped(text: str, limit: int) -> str:
    """Give `text`, or its beginning and an ellipsis when it has more than `limit` characters."""
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def _visible(character: str) -> str:
    if character.isspace():
        return " "
    if unicodedata.category(character).startswith("C") and character not in KEPT_INVISIBLE:
        return ""
    return character
