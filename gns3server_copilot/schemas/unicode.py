"""Text that JSON can hold and UTF-8 cannot, and text that nobody can see."""

from __future__ import annotations

import unicodedata
from typing import Annotated

from pydantic import BeforeValidator

_HIGH_SURROGATES = ("\ud800", "\udbff")


def valid_unicode(text: str) -> str:
    """Give text with the halves of surrogate pairs joined, and replaced where they stand alone."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def is_blank(text: str) -> bool:
    """Tell whether a reader would see nothing: only spaces, control characters and such as have no width."""
    return all(unicodedata.category(character) in ("Cc", "Cf", "Zs", "Zl", "Zp") for character in text)


def without_half(text: str) -> tuple[str, str]:
    """Give the text, and apart from it the first half of a surrogate pair that it ends with, if it does."""
    if text and _HIGH_SURROGATES[0] <= text[-1] <= _HIGH_SURROGATES[1]:
        return text[:-1], text[-1]
    return text, ""


def _valid(value: object) -> object:
    return valid_unicode(value) if isinstance(value, str) else value


ValidText = Annotated[str, BeforeValidator(_valid)]
