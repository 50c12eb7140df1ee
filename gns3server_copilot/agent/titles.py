"""A conversation's title: made by the model of its first turn, or else the beginning of the first question."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Sequence

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage

from gns3server_copilot.agent.counting import sent_text
from gns3server_copilot.agent.trimming import shortened
from gns3server_copilot.agent.turn import Turn
from gns3server_copilot.errors import CopilotError
from gns3server_copilot.knowledge.schemas.prompt import TITLE, Prompt
from gns3server_copilot.llm.factory import model_with_tools
from gns3server_copilot.llm.providers import PROVIDERS
from gns3server_copilot.llm.tokens import count_tokens
from gns3server_copilot.schemas.titles import shortened as title_shortened

log = logging.getLogger(__name__)

#: What a title may delay the end of a turn by, in seconds.
TITLE_SECONDS = 3.0
#: Characters after which an answer is no title, however it goes on.
LONGEST_ANSWER = 500
#: Characters of the question and of the answer that a title is made of.
MOST_READ = 1_500
SHORTEST = 3

#: What models put around a title.
LABEL = re.compile(r"^(?:title|titel|titre|título|titolo|заголовок|标题|標題|タイトル)\s*[:\uff1a]\s*", re.IGNORECASE)
MARKDOWN = re.compile(r"[*`~]+|^#+")
ENDS = "\"'`«»„“”‚‘’‹›「」『』《》 _.,;:-–—。\uff1a"


async def model_title(turn: Turn, messages: Sequence[AnyMessage]) -> str | None:
    """Give the title that the turn's model makes of the first exchange; None when it makes none in time.

    Nothing of it is shown; what it costs is added to the user's usage and to no statistics of the conversation.
    """
    if not PROVIDERS[turn.request.config.provider].makes_titles:
        return None
    try:
        async with asyncio.timeout(TITLE_SECONDS):
            return title_of(await _ask(turn, messages))
    except TimeoutError:
        log.info("The model made no title in time")
    except CopilotError as error:
        log.info("The model made no title: %s", error.message)
    except Exception as error:  # provider clients have no common base class, and their text may hold the key
        log.info("The model made no title: %s", type(error).__name__)
    return None


async def _ask(turn: Turn, messages: Sequence[AnyMessage]) -> str:
    sent = [SystemMessage(turn.knowledge.of(Prompt)[TITLE].text), HumanMessage(_excerpt(messages))]
    omit = frozenset(turn.refused_parameters)
    model = await model_with_tools([], turn.request.config, omit)
    chunks = model.astream(sent)
    turn.hidden_calls += 1
    text = ""
    told = (0, 0)
    try:
        async for chunk in chunks:
            text += str(chunk.text)
            usage = chunk.usage_metadata
            if usage:
                told = (max(told[0], usage["input_tokens"]), max(told[1], usage["output_tokens"]))
            if len(text) > LONGEST_ANSWER:
                break
    finally:
        await chunks.aclose()  # type: ignore[attr-defined]  # LangChain's iterator is an async generator
        if told == (0, 0):
            counts = await count_tokens([*map(sent_text, sent), text])
            told = (sum(counts[:-1]), counts[-1])
        turn.hidden_usage.add(*told, estimated=False)
    return text


def _excerpt(messages: Sequence[AnyMessage]) -> str:
    question = next((str(one.text) for one in messages if isinstance(one, HumanMessage)), "")
    answer = next((str(one.text) for one in reversed(messages) if isinstance(one, AIMessage) and one.text.strip()), "")
    parts = {"question": question, "answer": answer}
    return "\n".join(f"<{name}>\n{shortened(text, MOST_READ)}\n</{name}>" for name, text in parts.items())


def title_of(answer: str) -> str | None:
    """Give the title that a model's answer holds: one line, at most 40 characters, without quotes and Markdown.

    None for an answer that is too long, or says nothing.
    """
    if len(answer) > LONGEST_ANSWER:
        return None
    lines = [line.strip() for line in answer.splitlines() if line.strip()]
    # several lines are a list of proposals, or an explanation, and none of them is the title
    if len(lines) != 1:
        return None
    title = LABEL.sub("", " ".join(MARKDOWN.sub(" ", lines[0]).split())).strip(ENDS)
    says_something = len(title) >= SHORTEST or (title and not title.isascii())
    return title_shortened(title) if says_something else None
