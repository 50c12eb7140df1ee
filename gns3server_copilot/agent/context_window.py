"""What of the context window a model call may fill, and what it is filled with.

context_limit × 1000 × fill ratio − tool definitions − max_tokens   is the room
room − system prompt                                                is the conversation's budget
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass

from langchain_core.messages import AnyMessage, BaseMessage, SystemMessage

from gns3server_copilot.agent.counting import TOKENS_AROUND, Counter
from gns3server_copilot.agent.model_input import conversation, system_prompt_text
from gns3server_copilot.agent.trimming import fit
from gns3server_copilot.errors import GNS3Error, ModelError
from gns3server_copilot.gns3.topology import Topology, compact_text
from gns3server_copilot.llm.config import LLMConfig
from gns3server_copilot.tools.base import Tool, ToolContext
from gns3server_copilot.tools.lab_view import lab_view

#: The part of the context window that a conversation may fill, by strategy (docs/developer/llm-configs.md).
FILL_RATIO = {"conservative": 0.60, "balanced": 0.75, "aggressive": 0.85}
#: The part of the room that the topology may take; beyond it there are names and counts.
TOPOLOGY_SHARE = 0.25
#: Characters for each token of compact topology text; the densest measured, a lab of 200 nodes, has 1.8.
CHARS_PER_TOKEN = 1.7
LEFT_OUT = (
    "\n\nThis conversation is longer than what you can be shown: parts of it before the newest question, or between it "
    "and your last steps, are left out. Look again with your tools, or ask, rather than guess what was in them."
)

#: One for all: it is bounded, and a conversation goes on where another turn has left it.
COUNTER = Counter()


@dataclass(frozen=True)
class Prepared:
    """What to send, and its tokens as they are counted here, tool definitions included."""

    messages: list[BaseMessage]
    tokens: int


async def pre_model_hook(
    messages: Sequence[AnyMessage],
    tools: Sequence[Tool],
    context: ToolContext,
    config: LLMConfig,
    *,
    closing: str = "",
    at_most: int | None = None,
) -> Prepared:
    """Give what a model call sends: the prompt with the lab as it is now, and as much of the conversation as fits.

    `closing` is added to the prompt. `at_most` limits the whole to fewer tokens than the configuration allows, for a
    model whose window has turned out to be smaller. Raises ModelError when the newest question does not fit.
    """
    definitions = json.dumps([tool.definition() for tool in tools], ensure_ascii=False) if tools else ""
    try:
        topology: Topology | str = await lab_view(context)
    except GNS3Error as error:
        topology = f"(The topology cannot be read: {error.message})"
    return await asyncio.to_thread(
        _prepare, messages, tools, definitions, context, config, topology, closing=closing, at_most=at_most
    )


def _prepare(
    messages: Sequence[AnyMessage],
    tools: Sequence[Tool],
    definitions: str,
    context: ToolContext,
    config: LLMConfig,
    topology: Topology | str,
    *,
    closing: str,
    at_most: int | None,
) -> Prepared:
    defined = COUNTER.texts(definitions)
    window = window_tokens(config) - (config.max_tokens or 0)
    room = (window if at_most is None else min(window, at_most)) - defined
    shown = topology if isinstance(topology, str) else topology_text(topology, int(room * TOPOLOGY_SHARE))
    prompt = system_prompt_text(tools, context, shown) + closing
    fixed = COUNTER.texts(prompt, LEFT_OUT) + TOKENS_AROUND
    if room <= fixed:
        raise ModelError(
            "The context window of this model is too small for the copilot. Raise the context limit in the AI profile, "
            "or lower max_tokens.",
            "too_large",
        )
    fitted = fit(conversation(messages, config.provider, hide_secrets=context.redact), room - fixed, COUNTER.messages)
    system = SystemMessage(prompt + (LEFT_OUT if fitted.left_out else ""))
    return Prepared([system, *fitted.messages], defined + fixed + fitted.tokens)


def window_tokens(config: LLMConfig) -> int:
    """Give how many tokens a configuration's strategy lets a request have, its answer included."""
    ratio = FILL_RATIO.get(config.context_strategy, FILL_RATIO["balanced"])
    return int(config.context_limit * 1000 * ratio)


def topology_text(topology: Topology, tokens: int) -> str:
    """Give the topology in at most so many tokens: in full, else names and counts, as many as fit."""
    characters = int(max(tokens, 1) * CHARS_PER_TOKEN)
    while True:
        text = compact_text(topology, characters)
        taken = COUNTER.texts(text)
        if taken <= tokens or characters <= 1:
            return text
        # names in scripts that take a token for each character, or more
        characters = min(characters - 1, characters * tokens // taken)
