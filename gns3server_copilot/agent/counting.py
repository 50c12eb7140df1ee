"""How many tokens messages take. Each message is counted once, however often it is sent."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage

from gns3server_copilot.agent.bounded import Bounded
from gns3server_copilot.llm.config import LLMConfig
from gns3server_copilot.llm.tokens import token_counts

log = logging.getLogger(__name__)

#: What a provider puts around a message: its role, its ends.
TOKENS_AROUND = 4
#: A provider's count that differs from ours by more is worth a line in the log.
USUAL_DIFFERENCE = 0.25
LEAST_COMPARED = 1_000
#: Messages whose counts are kept: some hundred long conversations, in 3 MB.
KEPT_COUNTS = 20_000

#: Models whose difference is in the log.
_differing: Bounded[tuple[str, str, str], None] = Bounded(1_000)


class Counter:
    """Counts texts and messages, and remembers the messages' counts by their id. Blocks: for worker threads.

    A message that was shortened, or lost what another provider cannot read, keeps its id; so what it says is part of
    the key.
    """

    def __init__(self, kept: int = KEPT_COUNTS) -> None:
        self._counts: Bounded[tuple[str | None, int], int] = Bounded(kept)

    def messages(self, messages: Sequence[BaseMessage]) -> list[int]:
        """Give the tokens of each message as it is sent, thoughts and tool calls included."""
        counts = self._counted([(message.id, sent_text(message)) for message in messages])
        return [count + TOKENS_AROUND for count in counts]

    def texts(self, *texts: str) -> int:
        """Give the tokens of texts, together. They are remembered as messages are."""
        return sum(self._counted([(None, text) for text in texts]))

    def _counted(self, texts: Sequence[tuple[str | None, str]]) -> list[int]:
        keys = [(name, hash(text)) for name, text in texts]
        found = self._counts.known(keys)
        new = {key: text for key, (_, text) in zip(keys, texts, strict=True) if key not in found}
        counts = dict(zip(new, token_counts(list(new.values())), strict=True))
        self._counts.add(counts)
        found |= counts
        return [found[key] for key in keys]


def compare_counts(config: LLMConfig, *, counted: int, told: int) -> None:
    """Log, once for each model, that its provider counts quite differently: the context limit then means less, or more.

    Below a thousand tokens what a provider puts around the messages decides, and nothing is compared.
    """
    model = (config.provider, config.model, config.base_url)
    if min(counted, told) < LEAST_COMPARED or abs(told - counted) <= counted * USUAL_DIFFERENCE:
        return
    if _differing.known([model]):
        return
    _differing.add({model: None})
    log.info(
        "Model %s: its provider counts %d tokens where %d are counted here. The context limit of its configurations "
        "should allow for that.",
        config.model,
        told,
        counted,
    )


def sent_text(message: BaseMessage) -> str:
    """Give what a message says to a provider, in about the characters that it is sent in."""
    parts = [message.content if isinstance(message.content, str) else _json(message.content)]
    if isinstance(message, AIMessage):
        parts += [call["name"] + _json(call["args"]) for call in message.tool_calls]
        parts += [_json(message.additional_kwargs)] if message.additional_kwargs else []
    return "".join(parts)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
