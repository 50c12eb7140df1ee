"""The one way in which a tool is executed, whoever asked for it."""

from __future__ import annotations

import asyncio
import logging
import time
import traceback
from collections.abc import Callable, Iterator
from http import HTTPStatus
from typing import Any, TypeVar

from gns3server_copilot.errors import CopilotError, ToolError
from gns3server_copilot.gns3.text import clipped, printable
from gns3server_copilot.redaction.data import made_visible, redacted
from gns3server_copilot.schemas.audit import Verdict
from gns3server_copilot.tools.arguments import read_arguments
from gns3server_copilot.tools.audit import record, verdict_of
from gns3server_copilot.tools.base import Tool, ToolArguments, ToolContext
from gns3server_copilot.tools.registry import ALL_TOOLS, tools_for
from gns3server_copilot.tools.response import build, failure

log = logging.getLogger(__name__)

#: Shorter argument values are not hidden in logged tracebacks: they would take ordinary words with them.
SHORTEST_HIDDEN = 4
#: How long a cancelled call waits for what becomes of its answer, in seconds: less than a stopped turn waits for it.
LAST_SECONDS = 0.3

T = TypeVar("T")


async def execute(name: str, arguments: str | dict[str, Any] | list[Any], context: ToolContext) -> dict[str, Any]:
    """Run the tool `name` and give its response; nothing but cancellation is raised.

    The mode is enforced here, not only when tools are offered: a model may name any tool, and device text may talk it
    into that. Here, too, every response loses its secrets and what no reader would see, and every call is recorded.
    """
    started = time.monotonic()
    shown_name = clipped(printable(name), 64)
    tool: Tool | None = None
    read: ToolArguments | None = None
    verdict: Verdict | None = None
    try:
        tool = _tool(name, shown_name, context)
        read = read_arguments(tool, arguments, context.project)
        items = await tool.run(read, context)
        response = build(shown_name, items, seconds=time.monotonic() - started)
    except CopilotError as error:
        problem = error.message
        if read is None or error.status == HTTPStatus.FORBIDDEN:
            verdict = Verdict.REFUSED
        response = failure(shown_name, problem, seconds=time.monotonic() - started)
    except asyncio.CancelledError:
        if _is_cancelled():
            _record(context, shown_name, Verdict.INTERRUPTED, started, None, read)
            raise
        # what the tool waited for was cancelled, not the tool: a future of a library, a task that it shared
        log.error("The tool %s was left by what it waited for", shown_name)
        problem = f"{shown_name} was interrupted inside the copilot; it may have been partly carried out."
        response = failure(shown_name, problem, seconds=time.monotonic() - started)
    except Exception as error:
        log.error("The tool %s failed: %s", shown_name, _traceback(error, read))
        problem = f"{shown_name} failed inside the copilot; the server's log says why. Other tools still work."
        response = failure(shown_name, problem, seconds=time.monotonic() - started)
    _record(context, shown_name, verdict or verdict_of(response), started, response["data"], read)
    if tool is None or tool.tells_of_the_lab:
        response = await kept_result(redacted if context.redact else made_visible, response)
    return response


def refuse(name: str, reason: str, context: ToolContext) -> dict[str, Any]:
    """Give the response of a call that is not carried out for a reason that is none of the tool's, and record it."""
    shown_name = clipped(printable(name), 64)
    _record(context, shown_name, Verdict.REFUSED, time.monotonic(), None, None)
    return failure(shown_name, reason)


async def kept_result(function: Callable[..., T], *arguments: object) -> T:
    """Give the function's result, made in a thread, also to a caller that is cancelled meanwhile.

    The cancellation then comes at the caller's next wait. One that comes a second time is raised at once, and so is one
    after which the thread takes longer than `LAST_SECONDS`.
    """
    work = asyncio.ensure_future(asyncio.to_thread(function, *arguments))
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        await asyncio.wait({work}, timeout=LAST_SECONDS)
        if not work.done():
            raise
        task = asyncio.current_task()
        assert task is not None
        task.uncancel()  # counted once, as whoever cancelled expects
        task.cancel()
        return work.result()


def _record(
    context: ToolContext,
    name: str,
    verdict: Verdict,
    started: float,
    items: list[dict[str, Any]] | None,
    arguments: ToolArguments | None,
) -> None:
    try:
        named = arguments.model_dump(mode="json") if arguments is not None and not items else None
        seconds = time.monotonic() - started
        context.audit(record(context, name, verdict, seconds, items=items, arguments=named))
    except Exception:  # the call has been carried out, and its answer is worth more than its record
        log.exception("A call of %s could not be recorded", name)


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0


def _tool(name: str, shown_name: str, context: ToolContext) -> Tool:
    offered = tools_for(context.mode, context.settings)
    for tool in offered:
        if tool.name == name:
            return tool
    known = any(tool.name == name for tool in ALL_TOOLS)
    problem = f"The tool {shown_name} does not belong to this mode" if known else f"There is no tool {shown_name}"
    raise ToolError(f"{problem}. The tools are: {', '.join(tool.name for tool in offered)}.")


def _traceback(error: Exception, arguments: ToolArguments | None) -> str:
    """Give the traceback for the log without any value of the arguments, which may be passwords."""
    if arguments is None:
        return "".join(traceback.format_tb(error.__traceback__)) + type(error).__name__
    text = "".join(traceback.format_exception(error))
    lines = {line for value in _strings_in(arguments.model_dump(mode="json")) for line in value.splitlines()}
    for line in sorted(lines, key=len, reverse=True):
        if len(line) >= SHORTEST_HIDDEN:
            text = text.replace(line, "…")
    return text


def _strings_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _strings_in(inner)
