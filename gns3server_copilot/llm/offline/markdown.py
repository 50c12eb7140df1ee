"""Lab text inside Markdown: names, console output and the like, where they can neither format nor link anything."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

#: Control characters and those that turn the writing direction: they could hide what a text says.
UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
#: `](` makes links and images; square brackets alone are left readable.
SPECIAL = re.compile(r"([\\`*<|]|(?<=\])\()")
MAX_ROWS = 100
#: Columns are padded to the same width up to this one.
MAX_PADDED = 40


def clean(text: object) -> str:
    """Give the text without unseen characters; line feeds and tabs stay."""
    return UNSEEN.sub("", str(text))


def inline(text: object) -> str:
    """Give the text as one line in which nothing is taken for Markdown."""
    return SPECIAL.sub(r"\\\1", " ".join(clean(text).split()))


def block(text: object) -> str:
    """Give the text as a code block; its fence is longer than any run of backticks in it."""
    content = clean(text).strip("\n")
    longest = max((len(run) for run in re.findall(r"`+", content)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{content}\n{fence}"


def table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Give a table of at most 100 rows, readable as plain text too; how many more rows there are is said below it."""
    all_rows = [[inline(cell) for cell in row] for row in rows]
    shown = all_rows[:MAX_ROWS]
    widths = [min(MAX_PADDED, max(len(cell) for cell in column)) for column in zip(heads, *shown, strict=True)]
    lines = [_row(row, widths) for row in (heads, ["-" * max(3, width) for width in widths], *shown)]
    if len(all_rows) > MAX_ROWS:
        lines += ["", f"… and {len(all_rows) - MAX_ROWS} more."]
    return "\n".join(lines)


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    return f"| {' | '.join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True))} |"
