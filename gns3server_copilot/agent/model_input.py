"""What a model call is given: the mode's prompt with the lab as it is now, and a valid copy of the conversation."""

from __future__ import annotations

from collections.abc import Sequence

from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, SystemMessage

from gns3server_copilot.agent.repair import as_sent
from gns3server_copilot.errors import GNS3Error
from gns3server_copilot.gns3.topology import compact_text, read_topology
from gns3server_copilot.knowledge.schemas.prompt import Prompt
from gns3server_copilot.llm.config import LLMConfig
from gns3server_copilot.llm.providers import PROVIDERS
from gns3server_copilot.tools.base import Tool, ToolContext

#: The part of the context window that a conversation may fill, by strategy (docs/developer/llm-configs.md).
FILL_RATIO = {"conservative": 0.60, "balanced": 0.75, "aggressive": 0.85}
TOPOLOGY_SHARE = 0.25
#: Characters for each token of compact topology text; the densest measured, a lab of 200 nodes, has 1.8.
CHARS_PER_TOKEN = 1.7

BUDGET_GONE = (
    "\n\nThe tool budget of this turn is used up and no tool can be called any more. Say what you have found, "
    "what is left to do, and that the person can ask you to go on."
)


async def model_input(
    messages: Sequence[AnyMessage], tools: Sequence[Tool], context: ToolContext, config: LLMConfig, *, budget_gone: bool
) -> list[BaseMessage]:
    """Give the messages to send: the system message, then the conversation."""
    values = {
        "project": context.project.name,
        "tools": "\n".join(f"- `{tool.name}`: {tool.description}" for tool in tools) or "(none)",
        "topology_info": await _topology_text(context, config),
    }
    prompt = context.knowledge.of(Prompt)[context.mode].filled(values)
    conversation = [_readable_for(config.provider, message) for message in as_sent(messages)]
    return [SystemMessage(prompt + (BUDGET_GONE if budget_gone else "")), *conversation]


def _readable_for(provider: str, message: AnyMessage) -> AnyMessage:
    """Give a message as this provider's client can send it: of another provider's, the words and the calls alone.

    Thoughts, signatures and the like are for the provider that made them, and others' clients refuse them.
    """
    if not isinstance(message, AIMessage):
        return message
    mark = PROVIDERS[provider].mark if provider in PROVIDERS else ""
    if message.response_metadata.get("model_provider", "") == mark:
        return message
    return AIMessage(str(message.text), tool_calls=message.tool_calls, id=message.id)


async def _topology_text(context: ToolContext, config: LLMConfig) -> str:
    ratio = FILL_RATIO.get(config.context_strategy, FILL_RATIO["balanced"])
    budget = config.context_limit * 1000 * ratio * TOPOLOGY_SHARE
    try:
        topology = await read_topology(context.gns3, context.project.project_id)
    except GNS3Error as error:
        return f"(The topology cannot be read: {error.message})"
    text = compact_text(topology, int(budget * CHARS_PER_TOKEN))
    # a node may be called like the end of the fence, and what follows would read as ours
    return text.replace("</topology", "</ topology")
