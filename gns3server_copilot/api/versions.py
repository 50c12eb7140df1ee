"""Optimistic locking over HTTP: `If-Match` of requests and `ETag` of answers (docs/developer/llm-configs.md)."""

from __future__ import annotations

import re
from typing import Annotated

from fastapi import Depends, Header, Query, Response

from gns3server_copilot.errors import InvalidFieldError
from gns3server_copilot.schemas.llm_config_changes import DeleteLLMConfig
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


def version_to_delete(
    header: IfMatch,
    body: DeleteLLMConfig | None = None,
    query: Annotated[int | None, Query(alias="expected_version", ge=0)] = None,
) -> int | None:
    """Give the version that a deletion expects. Many clients cannot send a body with one."""
    return expected_version(header, expected_version(query, body.expected_version if body else None))


DeletedVersion = Annotated[int | None, Depends(version_to_delete)]


def expected_version(one: int | None, other: int | None) -> int | None:
    """Give the version that a request expects, when it can say so in two ways. Raises InvalidFieldError."""
    if one is not None and other is not None and one != other:
        raise InvalidFieldError("expected_version", f"is {other} in one place of the request and {one} in another")
    return other if one is None else one


def tagged(response: Response, answer: ConfigAnswer) -> None:
    """Put the version of what is answered into the `ETag` header."""
    response.headers["ETag"] = f'"{answer.version}"'
