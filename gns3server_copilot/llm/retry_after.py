"""When a provider that refuses a request says to come back."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Mapping
from email.utils import parsedate_to_datetime
from typing import Any

#: Google says it in the error's details: `"retryDelay": "17s"`.
IN_TEXT = re.compile(r"retrydelay\W+([0-9]+(?:\.[0-9]+)?)s")


def retry_after(errors: Iterable[BaseException], text: str) -> float | None:
    """Give the seconds that the headers of one of these errors say, or else their text (lower case); None for none."""
    for error in errors:
        headers = _headers(error)
        milliseconds = _number(headers.get("retry-after-ms"))
        if milliseconds is not None:
            return milliseconds / 1000
        value = headers.get("retry-after")
        if value is not None:
            seconds = _number(value)
            return _until(value) if seconds is None else seconds
    found = IN_TEXT.search(text)
    return float(found[1]) if found else None


def _headers(error: BaseException) -> dict[str, str]:
    response: Any = getattr(error, "response", None)
    if isinstance(response, dict):  # botocore
        headers = response.get("ResponseMetadata", {}).get("HTTPHeaders")
    else:
        headers = getattr(response, "headers", None)
    return {str(name).lower(): str(value) for name, value in headers.items()} if isinstance(headers, Mapping) else {}


def _number(text: str | None) -> float | None:
    try:
        number = float(text) if text is not None else None
    except ValueError:
        return None
    return number if number is not None and 0 <= number < 1e9 else None


def _until(date: str) -> float | None:
    try:
        return max(0.0, parsedate_to_datetime(date).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return None
