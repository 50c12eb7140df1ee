"""What a conversation's title may be."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import BeforeValidator, StringConstraints

from gns3server_copilot.schemas.unicode import is_blank

DEFAULT_TITLE = "New conversation"
LONGEST_TITLE = 255
#: An automatic title is shorter: it has to fit into a list.
LONGEST_AUTOMATIC_TITLE = 40

_NOT_IN_A_LINE = re.compile(r"[\s\x00-\x1f\x7f-\x9f]+")


def one_line(text: str) -> str:
    """Give text without line breaks, control characters and repeated spaces; nothing where nothing could be seen."""
    return "" if is_blank(text) else _NOT_IN_A_LINE.sub(" ", text).strip()


def title_from(message: str) -> str:
    """Give the first title of a conversation: the beginning of its first message."""
    return shortened(one_line(message) or DEFAULT_TITLE)


def shortened(words: str) -> str:
    """Give words as an automatic title: cut where they are too long for a list."""
    if len(words) <= LONGEST_AUTOMATIC_TITLE:
        return words
    return words[: LONGEST_AUTOMATIC_TITLE - 1].rstrip() + "…"


def _in_one_line(value: object) -> object:
    return one_line(value) if isinstance(value, str) else value


Title = Annotated[
    str, StringConstraints(strict=True, min_length=1, max_length=LONGEST_TITLE), BeforeValidator(_in_one_line)
]
