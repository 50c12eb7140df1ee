"""Keeps a long conversation from holding the event loop while it is put into a request of OpenAI's protocol.

LangChain looks at every character of every answer, and the openai package then walks through every value of the list
in search of keys to rename, of which a conversation has none: half a second for 800 messages. Here the first is done
once for each message, and many in a thread; and the second not at all, since the list goes in as `extra_body`.
"""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import AsyncIterator, Iterable
from functools import partial
from typing import Any

from langchain_core.language_models import LanguageModelInput
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatGenerationChunk
from langchain_openai.chat_models.base import BaseChatOpenAI
from pydantic import PrivateAttr

#: So many messages are put into a request faster than another thread is asked for it.
FEW = 16

Form = dict[str, Any]


class SendsLongConversations(BaseChatOpenAI):
    """To be put before a client class of the protocol."""

    #: the form of each message in a request, for as long as the message lives
    _forms: dict[int, tuple[weakref.ref[BaseMessage], Form]] = PrivateAttr(default_factory=dict)

    async def _astream(
        self, messages: list[BaseMessage], *args: Any, **kwargs: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        if not self._use_responses_api({**kwargs, **self.model_kwargs}):
            new = [message for message in messages if self._form(message) is None]
            if len(new) > FEW:
                await asyncio.to_thread(self._convert, new)
            else:
                self._convert(new)
            messages = _Converted(messages, [self._form(message) for message in messages])
        async for chunk in super()._astream(messages, *args, **kwargs):
            yield chunk

    def _convert(self, messages: list[BaseMessage]) -> None:
        for message, form in zip(messages, super()._get_request_payload(messages)["messages"], strict=True):
            self._forms[id(message)] = (weakref.ref(message, partial(self._forget, id(message))), form)

    def _forget(self, key: int, _: weakref.ref[BaseMessage]) -> None:
        self._forms.pop(key, None)

    def _form(self, message: BaseMessage) -> Form | None:
        known = self._forms.get(id(message))
        return known[1] if known is not None and known[0]() is message else None

    def _get_request_payload(
        self, input_: LanguageModelInput, *, stop: list[str] | None = None, **kwargs: Any
    ) -> dict[str, Any]:
        converted = input_.forms if isinstance(input_, _Converted) else None
        payload = super()._get_request_payload(input_ if converted is None else [], stop=stop, **kwargs)
        # the newer protocol calls the list `input`
        field = "messages" if "messages" in payload else "input"
        conversation = payload[field] if converted is None else converted
        return payload | {field: [], "extra_body": {**(payload.get("extra_body") or {}), field: conversation}}


class _Converted(list[BaseMessage]):
    """Messages with their forms in the request."""

    def __init__(self, messages: Iterable[BaseMessage], forms: list[Form | None]) -> None:
        super().__init__(messages)
        self.forms = forms
