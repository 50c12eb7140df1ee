"""Optimistic locking over HTTP: `If-Match` of requests and `ETag` of answers (docs/developer/llm-configs.md)."""

from __future__ import annotations

import re
from typing import Annotated

from fastapi import Depends, Header, Response

from gns3server_copilot.errors import InvalidFieldError
from gns3server_copilot.schemas.llm_configs import ConfigAnswer

_VERSION_TAG = re.compile(r'"(\d{1,9})"|(\d{1,9})')


def if_match(if_match: Annotated[str | None, Header()] = None) -> int | None:
    """Give the version in the `If-Match` header. `*`, which every existing thing matches, is none."""
    if if_match is None or if_match.strip() == "*":
        return None
    tag = _VERSION_TAG.fullmatch(if_match.strip())
    if tag is None:
        raise InvalidFieldError("If-Match", 'must be the version in quotes, like "3"')
    return int(tag[1] or tag[2])


IfMatch = Annotated[int | None, Depends(if_match)]


def expected_version(header: int | None, field: int | None) -> int | None:
    """Give the version that a request expects, whichever way it says so."""
    if header is not None and field is not None and header != field:
        raise InvalidFieldError("expected_version", f"is {field}, but the If-Match header says {header}")
    return field if header is None else header


def tagged(response: Response, answer: ConfigAnswer) -> None:
    """Put the version of what is answered into the `ETag` header."""
    response.headers["ETag"] = f'"{answer.version}"'
