"""Ids of tool calls for servers that take nine letters and digits and nothing else, as those of Mistral's models do.

A conversation that another model began has other ids. They are renamed in requests alone, once a server refused one.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Collection
from typing import Any

from pydantic import PrivateAttr

from gns3server_copilot.schemas.wire_names import CALL_ID

LENGTH = 9


class CallIds:
    """Comes before a client class of OpenAI's protocol and renames ids, if it is told to."""

    _short_ids: bool = PrivateAttr(default=False)

    def shorten_ids(self, omit: Collection[str]) -> None:
        """Rename ids when a refusal has named them."""
        self._short_ids = CALL_ID in omit

    def _get_request_payload(self, input_: Any, **options: Any) -> dict[str, Any]:
        payload: dict[str, Any] = super()._get_request_payload(input_, **options)  # type: ignore[misc]
        for message in payload.get("messages", []) if self._short_ids else []:
            if "tool_call_id" in message:
                message["tool_call_id"] = short_id(message["tool_call_id"])
            for call in message.get("tool_calls") or []:
                call["id"] = short_id(call["id"])
        return payload


def short_id(call_id: str) -> str:
    """Give nine letters and digits that stand for an id; an id of that kind stays."""
    if len(call_id) == LENGTH and call_id.isascii() and call_id.isalnum():
        return call_id
    digest = base64.b32encode(hashlib.sha256(call_id.encode()).digest()).decode()
    return digest[:LENGTH]
