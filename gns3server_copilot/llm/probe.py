"""Tries a configuration out: one tiny request, and what came of it in one sentence."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace

from gns3server_copilot.errors import CopilotError, ModelError
from gns3server_copilot.llm.config import LLMConfig
from gns3server_copilot.llm.scrubbing import hidden
from gns3server_copilot.schemas.llm_configs import ProbeResult

QUESTION = "Answer with the word OK."
#: Enough for a model that thinks before it says one word, and no more than an error costs.
MAX_TOKENS = 64
SECONDS = 30.0


async def probe(config: LLMConfig, seconds: float = SECONDS) -> ProbeResult:
    """Ask the configuration's model for one word. Never raises but when it is cancelled.

    An answer that comes to its end is enough, whatever it says: address, key and model are then right.
    """
    started = time.monotonic()
    error: str | None = None
    with hidden(config.secret_values):
        try:
            await _ask_without_what_is_refused(config, seconds)
        except CopilotError as failure:
            error = failure.message
    latency = round((time.monotonic() - started) * 1000)
    return ProbeResult(ok=error is None, latency_ms=latency, model=config.model, error=error)


async def _ask_without_what_is_refused(config: LLMConfig, seconds: float) -> None:
    """Ask as a turn does: what a turn would get over is no failure here."""
    omit: frozenset[str] = frozenset()
    deadline = asyncio.get_running_loop().time() + seconds  # for all tries together
    while True:
        try:
            return await _ask(config, omit, deadline)
        except ModelError as error:
            if error.parameter is None or error.parameter in omit:
                raise
            omit |= {error.parameter}


async def _ask(config: LLMConfig, omit: frozenset[str], deadline: float) -> None:
    from gns3server_copilot.llm.factory import model_with_tools, optional_parameters, prepare_provider
    from gns3server_copilot.llm.model_errors import model_error

    await prepare_provider(config.provider)
    asked = replace(config, max_tokens=min(config.max_tokens or MAX_TOKENS, MAX_TOKENS))
    model = await model_with_tools([], asked, omit)
    chunks = model.astream([("human", QUESTION)])
    failure = None
    try:
        async with asyncio.timeout_at(deadline):
            async for _ in chunks:
                pass
    except Exception as error:  # provider clients have no common base class
        failure = model_error(error, config.model, optional_parameters(config))
    finally:
        await chunks.aclose()  # type: ignore[attr-defined]  # LangChain's iterator is an async generator
    if failure is not None:
        raise failure
