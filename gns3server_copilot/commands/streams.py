"""Standard input, output and errors that any text can go through, whatever the terminal can show."""

from __future__ import annotations

import codecs
import io
import os
import sys

#: What is shown instead of our own signs where the encoding lacks them; anything else becomes "?".
STAND_INS = {"✓": "+", "✗": "x", "–": "-", "→": "->", "…": "...", "─": "-"}
HANDLER = "gns3server_copilot.stand_ins"


def make_tolerant() -> None:
    """Let no text fail at the standard streams: what has no code in them is replaced; a closed one is as if empty."""
    codecs.register_error(HANDLER, _stand_in)
    for name, mode, errors in (("stdin", "r", "replace"), ("stdout", "w", HANDLER), ("stderr", "w", HANDLER)):
        if getattr(sys, name) is None:  # closed by who started us
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115  # lives as long as the program
        stream = getattr(sys, name)
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=errors)


def _stand_in(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(STAND_INS.get(sign, "?") for sign in error.object[error.start : error.end]), error.end
