"""What a model is told besides its tools: the mode's prompt with the lab as it is now, and a copy of the conversation
that it can be sent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage

from gns3server_copilot.agent.bounded import Bounded
from gns3server_copilot.agent.counting import sent_text
from gns3server_copilot.agent.fencing import fenced, without_message_marks
from gns3server_copilot.agent.messages import notes_of
from gns3server_copilot.agent.repair import as_sent
from gns3server_copilot.gns3.text import clipped, printable
from gns3server_copilot.knowledge.schemas.prompt import Prompt
from gns3server_copilot.llm.providers import PROVIDERS
from gns3server_copilot.redaction.data import redacted
from gns3server_copilot.redaction.text import redact
from gns3server_copilot.schemas.wire_names import THOUGHTS
from gns3server_copilot.tools.base import Tool, ToolContext

LONGEST_NAME = 100

#: Results and answers in which nothing had to be hidden: looking through a long conversation takes 20 ms, and this is
#: done before every model call.
_shown_as_they_are: Bounded[tuple[str | None, int, bool], None] = Bounded(20_000)


def system_prompt_text(tools: Sequence[Tool], context: ToolContext, topology: str) -> str:
    """Give the mode's prompt, filled in. Reads the file the first time: for worker threads."""
    values = {
        "project": without_message_marks(clipped(printable(context.project.name), LONGEST_NAME)),
        "tools": "\n".join(f"- `{tool.name}`: {tool.description}" for tool in tools) or "(none)",
        "topology_info": fenced("topology", without_message_marks(redact(topology) if context.redact else topology)),
    }
    return context.knowledge.of(Prompt)[context.mode].filled(values)


def conversation(messages: Sequence[AnyMessage], provider: str, *, hide_secrets: bool) -> list[AnyMessage]:
    """Give the valid copy of a conversation that this provider can be sent; the messages themselves stay."""
    sent = as_sent(messages)
    newest = max((at for at, message in enumerate(sent) if isinstance(message, HumanMessage)), default=0)
    recent = (one if at > newest else _without_thoughts(one) for at, one in enumerate(sent))
    clear = (_without_secrets(one) if hide_secrets and isinstance(one, AIMessage) else one for one in recent)
    readable = (_readable_for(provider, one) for one in clear)
    return [_as_data(one, hide_secrets=hide_secrets) if isinstance(one, ToolMessage) else one for one in readable]


def _without_thoughts(message: AnyMessage) -> AnyMessage:
    """Give a message without the thoughts beside its text, which are wanted back in the same turn at most."""
    if not isinstance(message, AIMessage) or THOUGHTS not in message.additional_kwargs:
        return message
    kept = {key: value for key, value in message.additional_kwargs.items() if key != THOUGHTS}
    return message.model_copy(update={"additional_kwargs": kept})


def _without_secrets(answer: AIMessage) -> AIMessage:
    """Give an answer as another model may see it than the local one that gave it and knew secrets.

    Thoughts in its content that hold one are left out: providers refuse those that were changed.
    """
    if notes_of(answer).get("redacted"):
        return answer
    key = (answer.id, hash(sent_text(answer)), True)
    if _shown_as_they_are.known([key]):
        return answer
    changed = {
        "content": _redacted_content(answer.content),
        "tool_calls": redacted(answer.tool_calls),
        "additional_kwargs": redacted(answer.additional_kwargs),
    }
    if any(value != getattr(answer, name) for name, value in changed.items()):
        return answer.model_copy(update=changed)
    _shown_as_they_are.add({key: None})
    return answer


def _redacted_content(content: str | list[Any]) -> str | list[Any]:
    if isinstance(content, str):
        return redact(content)
    blocks = [
        {**block, "text": redact(block["text"])}
        if isinstance(block, dict) and isinstance(block.get("text"), str)
        else redact(block)
        if isinstance(block, str)
        else block
        for block in content
    ]
    return [block for block in blocks if isinstance(block, str) or redacted(block) == block]


def _as_data(result: ToolMessage, *, hide_secrets: bool) -> ToolMessage:
    """Give a tool's result as a model may see it: also one that was kept while its conversation had a local model."""
    text = str(result.text)
    key = (result.id, hash(text), hide_secrets)
    if _shown_as_they_are.known([key]):
        return result
    shown = text
    if hide_secrets and not notes_of(result).get("redacted"):
        shown = redacted(shown)
    shown = without_message_marks(shown)
    if shown != result.content:
        return result.model_copy(update={"content": shown})
    _shown_as_they_are.add({key: None})
    return result


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
