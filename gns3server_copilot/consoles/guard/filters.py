"""What may follow a pipe: filters that print less, never anything that writes or runs."""

from __future__ import annotations

import re

from gns3server_copilot.consoles.guard import reasons
from gns3server_copilot.consoles.guard.family import FamilyGuard
from gns3server_copilot.consoles.guard.lines import has_open_quote
from gns3server_copilot.consoles.guard.programs import NotAllowedError

#: A pattern's characters; `$` only at its end, `\` only before a character that it makes literal.
PATTERN = re.compile(r"""(?:[A-Za-z0-9 _.:/,@*+%^()\[\]#="'!-]|\\[.*+^$()\[\]/-]|\$(?=$|[ )"']))+""")
LIKE_OPTION = re.compile(r"""(?:^|[ "'|])-""")

QUOTES = "\"'"


def checked_filters(guard: FamilyGuard, text: str) -> list[str]:
    """Give the filters of `text`, which is what follows the first pipe. Raises NotAllowedError."""
    filters: list[str] = []
    pieces = text.split("|")
    for index, piece in enumerate(pieces):
        if index and _is_alternative(guard, filters[-1], pieces[index - 1], piece):
            filters[-1] += f"|{piece.rstrip()}"
        else:
            filters.append(_checked_filter(guard, piece.strip()))
    if any(has_open_quote(one, QUOTES) for one in filters):
        raise NotAllowedError(reasons.OPEN_QUOTE)
    return filters


def _checked_filter(guard: FamilyGuard, text: str) -> str:
    name, _, value = text.partition(" ")
    full = _resolved(guard, name.lower())
    known = guard.filters[full]
    good = (_is_pattern(value) or (known.optional and not value)) if known.pattern else known.takes(value.split())
    if not good:
        raise NotAllowedError(f"`| {text}` is not allowed: what follows `{full}` has to be one simple pattern.")
    return f"{full} {value}".strip()


def _resolved(guard: FamilyGuard, word: str) -> str:
    if word in guard.filters:
        return word
    known = [*guard.filters, *guard.rules.read.bad_filters]
    found = [one for one in known if word and guard.rules.abbreviations and one.startswith(word)]
    if len(found) == 1 and found[0] in guard.filters:
        return found[0]
    if len(found) > 1 and word not in known:
        raise NotAllowedError(reasons.ambiguous(f"| {word}", found))
    names = ", ".join(guard.filters)
    raise NotAllowedError(
        f"`| {word}` is not among the filters that only print less ({names}). Leave it out."
        if names
        else "Pipes are not allowed on this kind of device. Leave the pipe out."
    )


def _is_pattern(text: str) -> bool:
    # a word like -f could be an option of the program that filters
    return PATTERN.fullmatch(text) is not None and LIKE_OPTION.search(text) is None


def _is_alternative(guard: FamilyGuard, before: str, previous: str, piece: str) -> bool:
    """Tell whether the pipe stands within a pattern: tight, and not before anything that a pipe could lead to."""
    how = guard.rules.read.alternation
    if how == "no" or previous[-1:] in ("", " ") or piece[:1] in ("", " ") or not _is_pattern(piece.rstrip()):
        return False
    if how == "quoted" and before.count('"') % 2 == 0 and before.count("'") % 2 == 0:
        return False
    word = re.split(r"[^A-Za-z0-9_-]", piece.lstrip("(\"'^ "), maxsplit=1)[0].lower()
    known = [*guard.rules.read.bad_filters, *guard.filters]
    return not any(word and (one.startswith(word) or word == one) for one in known)
