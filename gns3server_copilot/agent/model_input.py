"""What a model is told besides its tools: the mode's prompt with the lab as it is now, and a copy of the conversation
that it can be sent."""

from __future__ import annotations

from collections.abc import Sequence

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage

from gns3server_copilot.agent.repair import as_sent
from gns3server_copilot.knowledge.prompts import system_prompt
from gns3server_copilot.llm.providers import PROVIDERS
from gns3server_copilot.tools.base import Tool, ToolContext

#: Where clients of OpenAI's protocol keep a model's thoughts.
THOUGHTS = "reasoning_content"


def system_prompt_text(tools: Sequence[Tool], context: ToolContext, topology: str) -> str:
    """Give the mode's prompt, filled in. Reads the file the first time: for worker threads."""
    values = {
        "project": context.project.name,
        "tools": "\n".join(f"- `{tool.name}`: {tool.description}" for tool in tools) or "(none)",
        # a node may be called like the end of the fence, and what follows would read as ours
        "topology_info": topology.replace("</topology", "</ topology"),
    }
    return system_prompt(context.mode, values)


def conversation(messages: Sequence[AnyMessage], provider: str) -> list[AnyMessage]:
    """Give the valid copy of a conversation that this provider can be sent; the messages themselves stay."""
    sent = as_sent(messages)
    newest = max((at for at, message in enumerate(sent) if isinstance(message, HumanMessage)), default=0)
    return [_readable_for(provider, one if at > newest else _without_thoughts(one)) for at, one in enumerate(sent)]


def _without_thoughts(message: AnyMessage) -> AnyMessage:
    """Give a message without the thoughts beside its text, which are wanted back in the same turn at most."""
    if not isinstance(message, AIMessage) or THOUGHTS not in message.additional_kwargs:
        return message
    kept = {key: value for key, value in message.additional_kwargs.items() if key != THOUGHTS}
    return message.model_copy(update={"additional_kwargs": kept})


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
