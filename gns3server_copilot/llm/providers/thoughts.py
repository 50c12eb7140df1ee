"""What servers of OpenAI's protocol want done with a model's thoughts (`reasoning_content`), which it does not know.

Some refuse them in a request. Others refuse an answer that has called tools without them, the answers of other models
included. So they are kept; whether they are sent back is the client's setting, and the opposite of it once a server has
refused a request because of them.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from langchain_core.messages import AIMessage, AIMessageChunk
from pydantic import PrivateAttr

from gns3server_copilot.schemas.wire_names import THOUGHTS


class Thoughts:
    """Comes before a client class of the protocol and keeps thoughts, and sends them if it is told to."""

    _sends_thoughts: bool = PrivateAttr(default=False)

    def send_thoughts(self, wanted: bool, omit: Collection[str]) -> None:
        """Send thoughts back, or not; the opposite when a refusal has named them."""
        self._sends_thoughts = wanted != (THOUGHTS in omit)

    def _convert_chunk_to_generation_chunk(self, chunk: dict[str, Any], *others: Any) -> Any:
        made = super()._convert_chunk_to_generation_chunk(chunk, *others)  # type: ignore[misc]
        choices = chunk.get("choices") or [{}]
        thought = (choices[0].get("delta") or {}).get(THOUGHTS)
        if made is not None and isinstance(made.message, AIMessageChunk) and isinstance(thought, str):
            made.message.additional_kwargs[THOUGHTS] = thought
        return made

    def _get_request_payload(self, input_: Any, **options: Any) -> dict[str, Any]:
        payload: dict[str, Any] = super()._get_request_payload(input_, **options)  # type: ignore[misc]
        messages = self._convert_input(input_).to_messages()  # type: ignore[attr-defined]
        sent = payload.get("messages", [])
        if self._sends_thoughts and len(sent) == len(messages):
            for message, written in zip(messages, sent, strict=True):
                if isinstance(message, AIMessage):
                    written[THOUGHTS] = message.additional_kwargs.get(THOUGHTS) or ""
        return payload
