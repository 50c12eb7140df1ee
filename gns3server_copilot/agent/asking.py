"""Asks the model, and once more where another try has a chance: nobody has seen anything of the answer yet, and either
the request can be changed or the provider says that it will do better later."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection
from typing import Any

from langchain_core.messages import AIMessage

from gns3server_copilot.agent.context_window import Prepared
from gns3server_copilot.agent.receive import receive_answer
from gns3server_copilot.agent.turn import Turn
from gns3server_copilot.errors import ModelError
from gns3server_copilot.llm.factory import model_with_tools

log = logging.getLogger(__name__)

#: Further tries when a provider's limit is reached, and the longest wait for one, in seconds: a person is waiting.
MOST_WAITS = 2
LONGEST_WAIT = 60.0
#: After "too long", a request may hold this part of what the refused one held, as counted here.
HARDER = 0.5

#: Gives what to send, in at most so many tokens if a number is given.
Prepare = Callable[[int | None], Awaitable[Prepared]]


async def ask_model(
    turn: Turn, definitions: list[dict[str, Any]], prepare: Prepare, used_call_ids: Collection[str], idle_seconds: float
) -> AIMessage:
    """Give the model's answer to what `prepare` gives. Raises ModelError when it fails for good.

    Tried again: without an optional parameter that is refused, and so for the rest of the turn; once with half of the
    conversation when it is too long, and so for the rest of the turn; once after an empty answer; twice when a limit
    is reached, after the time that the provider names.
    """
    sent = await prepare(turn.token_cap)
    waits = 0
    empty_before = False
    while True:
        omit = frozenset(turn.refused_parameters)
        model = await model_with_tools(definitions, turn.request.config, omit)
        try:
            return await receive_answer(model, sent.messages, sent.tokens, turn, used_call_ids, idle_seconds)
        except ModelError as error:
            if turn.draft is not None and turn.draft.shown:
                raise  # a second answer would follow the half of the first one
            if error.parameter is not None and error.parameter not in omit:
                turn.refused_parameters.add(error.parameter)
            elif error.kind == "too_long" and turn.token_cap is None:
                turn.token_cap = int(sent.tokens * HARDER)
                sent = await _shorter(prepare, turn.token_cap, error)
            elif error.kind == "empty" and not empty_before:
                empty_before = True
            elif error.retry_after is not None and waits < MOST_WAITS:
                waits += 1
                await _wait(error, error.retry_after)
            else:
                raise


async def _shorter(prepare: Prepare, tokens: int, refusal: ModelError) -> Prepared:
    try:
        return await prepare(tokens)
    except ModelError:
        raise refusal from None


async def _wait(error: ModelError, seconds: float) -> None:
    if seconds > LONGEST_WAIT:
        minutes = -(-seconds // 60)
        raise ModelError(
            f"The model provider's limit is reached. It asks to come back in {minutes:.0f} minutes.", error.kind
        ) from None
    log.info("The model provider's limit is reached; trying again in %.1f s", seconds)
    await asyncio.sleep(seconds)
