"""Devices' output on its way to an answer."""

from __future__ import annotations

#: Of one command. An answer as a whole is cut further on its way to the model.
MAX_CHARS = 60_000


def bounded(text: str) -> str:
    """Give the text, or its head and tail and how many lines were left out between them."""
    if len(text) <= MAX_CHARS:
        return text
    half = MAX_CHARS // 2
    head = text[:half].rpartition("\n")[0] or text[:half]
    tail = text[-half:].partition("\n")[2] or text[-half:]
    left_out = text[len(head) : len(text) - len(tail)].count("\n")
    return f"{head}\n… {left_out} lines left out …\n{tail}"
