"""Streams of OpenAI's protocol as the plain data that LangChain makes its messages of.

The openai package makes an object of every chunk, by looking up the type of each of its fields, which LangChain turns
back into the data that it was; and it walks through the request in search of keys to rename. With many conversations
at once that is a third of all processor time. Its documented way to endpoints that it does not know does neither.
"""

from __future__ import annotations

from typing import Any, Self

from langchain_openai.chat_models.base import BaseChatOpenAI
from openai import AsyncStream
from pydantic import model_validator

#: What of a request's fields goes into the package's options for it, and under which name.
OPTIONS = {"extra_headers": "headers", "extra_query": "params", "timeout": "timeout"}


class PlainStreams(BaseChatOpenAI):
    """To be put before a client class of the protocol."""

    @model_validator(mode="after")
    def _ask_for_plain_data(self) -> Self:
        if not isinstance(self.async_client, _Completions):
            self.async_client = _Completions(self.root_async_client, self.async_client)
        return self

    def _convert_chunk_to_generation_chunk(self, chunk: dict[str, Any], *others: Any) -> Any:
        for choice in chunk.get("choices") or []:
            # the package's objects have every field, and some servers leave these out
            delta = choice.setdefault("delta", None) or {}
            for call in delta.get("tool_calls") or []:
                call.setdefault("index", None)
                call["function"] = call.get("function") or {}
        return super()._convert_chunk_to_generation_chunk(chunk, *others)


class _Completions:
    """The package's `chat.completions`, but for streams."""

    def __init__(self, client: Any, completions: Any) -> None:
        self._client = client
        self._completions = completions

    async def create(self, *, extra_body: dict[str, Any] | None = None, **payload: Any) -> Any:
        if not payload.get("stream"):
            return await self._completions.create(extra_body=extra_body, **payload)
        options = {name: payload.pop(field) for field, name in OPTIONS.items() if field in payload}
        return await self._client.post(
            "/chat/completions",
            body=payload | (extra_body or {}),
            options=options,
            cast_to=object,
            stream=True,
            stream_cls=AsyncStream[object],
        )

    def __getattr__(self, name: str) -> Any:
        return getattr(self._completions, name)
