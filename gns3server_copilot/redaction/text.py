"""Takes secrets and control characters out of a text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator

from gns3server_copilot.redaction.placeholders import OPENING, placeholder
from gns3server_copilot.redaction.rules import RULES, Rule

_PRIVATE_KEY = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_END = re.compile(r"-----END [A-Z0-9 ]{0,40}-----")
_KEY_LINE = re.compile(r"\s*[A-Za-z0-9+/=:,.\- ]*\s*\Z")
#: In characters.
LONGEST_PIECE = 8192
#: How far behind a piece is looked at least, for the end of what begins in it; from there on to the next space.
SEAM = 1024
#: Signs that end a secret in some syntaxes; a secret that really ends so is hidden but for its last sign.
_CLOSING = ";,\"')}]"

_TERMINAL_SEQUENCE = re.compile(
    r"\x1b(?:\[[0-9;?]{0,32}[ -/]{0,4}[@-~]|\][^\x07\x1b\n]{0,200}(?:\x07|\x1b\\)|[@-Z\\^_])"
)
#: Invisible characters that real scripts and emoji need.
_KEPT = {"\n", "\t", "\u200c", "\u200d"}


class _Invisible(dict[int, str | None]):
    """A table for `str.translate` that is filled as characters are met: None takes one out."""

    def __missing__(self, code: int) -> str | None:
        character = chr(code)
        hidden = unicodedata.category(character) in ("Cc", "Cf", "Cs") and character not in _KEPT
        self[code] = None if hidden else character
        return self[code]


_INVISIBLE = _Invisible()


def visible(text: str) -> str:
    """Give a text without terminal sequences and without characters that a reader would not see."""
    if text.isprintable():
        return text
    if "\x1b" in text:
        text = _TERMINAL_SEQUENCE.sub("", text)
    return text.translate(_INVISIBLE)


def redact(text: str) -> str:
    """Give a text with a placeholder in the place of each secret; line ends and all else stay as they are.

    Takes time in proportion to the text: under a second for a megabyte.
    """
    small = text.lower()
    rules = [rule for rule in RULES if rule.may_be_in(small)]
    if not rules and "PRIVATE KEY" not in text:
        return text
    lines = text.split("\n")
    position = 0
    while position < len(lines):
        line = lines[position]
        if "PRIVATE KEY" in line and _PRIVATE_KEY.search(line):
            position = _redact_key(lines, position)
        elif len(line) <= LONGEST_PIECE:
            lines[position] = _redact_line(line, rules)
        else:
            lines[position] = _redact_long_line(line, rules)
        position += 1
    return "\n".join(lines)


def _redact_long_line(line: str, rules: Iterable[Rule]) -> str:
    for rule in rules:
        line = "".join(_redacted_pieces(line, rule))
    return line


def _redacted_pieces(line: str, rule: Rule) -> Iterator[str]:
    """Give a line piece by piece: a pattern keeps every other thread waiting for as long as it looks at one text."""
    start = 0
    while start < len(line):
        end = min(start + LONGEST_PIECE, len(line))
        space = line.find(" ", end + SEAM, end + LONGEST_PIECE)
        seen = space if space >= 0 else end + LONGEST_PIECE
        small = line[max(0, start - SEAM) : seen].lower()
        if rule.may_be_in(small) and not (rule.unless and rule.unless in small):
            for found in rule.pattern.finditer(line, start, seen):
                if found.start() >= end:
                    break
                if found.end() == seen:  # a longer secret goes on behind what was looked at
                    found = rule.pattern.match(line, found.start()) or found
                yield line[start : found.start()]
                yield _with_placeholder(found)
                start = found.end()
        if start < end:
            yield line[start:end]
            start = end


def _redact_line(line: str, rules: Iterable[Rule]) -> str:
    small = line.lower()
    for rule in rules:
        if rule.may_be_in(small) and not (rule.unless and rule.unless in small):
            line = rule.pattern.sub(_with_placeholder, line)
    return line


def _with_placeholder(found: re.Match[str]) -> str:
    groups = found.groupdict()
    name = next(name for name in ("s", "q", "p") if groups.get(name) is not None)
    start, end = found.span(name)
    secret = found[name]
    if secret.startswith(OPENING):
        return found[0]
    if name == "s":
        shorter = secret.rstrip(_CLOSING) or secret
        end -= len(secret) - len(shorter)
        secret = shorter
    offset = found.start()
    return found[0][: start - offset] + placeholder(secret) + found[0][end - offset :]


def _redact_key(lines: list[str], first: int) -> int:
    """Put one placeholder in the place of a private key's lines, to its end or to the last line that looks like it."""
    opening = _PRIVATE_KEY.search(lines[first])
    assert opening is not None
    ending = _END.search(lines[first], opening.end())
    if ending is not None:  # all in one line, as in JSON
        body = lines[first][opening.end() : ending.start()]
        if OPENING in body:
            return first
        lines[first] = lines[first][: opening.end()] + placeholder(body) + lines[first][ending.start() :]
        return first
    last = first + 1
    if last < len(lines) and lines[last].startswith(OPENING):
        return last
    while last < len(lines) and not _END.search(lines[last]) and _KEY_LINE.match(lines[last]):
        last += 1
    body = "".join(line.strip() for line in lines[first + 1 : last])
    head = lines[first][: opening.end()]
    rest = lines[first][opening.end() :].strip("\r")
    lines[first + 1 : last] = [placeholder(rest + body)]
    lines[first] = head
    return first + 1
