"""One running turn: its task, its events, and what it has received but not yet stored.

The turn is owned by the server. HTTP responses only read its events, so an abort, a reader that leaves, a project
that closes and a server that stops all end it the same way: `abort()`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from gns3server_copilot.agent.events import EventLog
from gns3server_copilot.errors import CopilotError
from gns3server_copilot.knowledge.snapshot import Knowledge
from gns3server_copilot.llm.config import LLMConfig
from gns3server_copilot.llm.scrubbing import hidden
from gns3server_copilot.schemas.identity import ProjectRef, User
from gns3server_copilot.schemas.modes import Mode
from gns3server_copilot.tools.scope import TurnScope

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

#: How long a new turn waits for its first reader: a client can be gone before the answer has begun.
FIRST_READER_SECONDS = 5.0


class OnDisconnect(StrEnum):
    """What a turn does when its last reader has left."""

    ABORT = "abort"
    CONTINUE = "continue"


@dataclass(frozen=True)
class TurnRequest:
    """Everything that was decided before a turn starts."""

    session_id: str
    message: str
    user: User
    project: ProjectRef
    mode: Mode
    config: LLMConfig
    token: str = field(repr=False)
    on_disconnect: OnDisconnect = OnDisconnect.ABORT


@dataclass
class Usage:
    """Tokens of a turn's model calls; `estimated` when the provider told none and they were counted here."""

    input_tokens: int = 0
    output_tokens: int = 0
    estimated: bool = False

    def add(self, input_tokens: int, output_tokens: int, *, estimated: bool) -> None:
        """Add one model call."""
        self.input_tokens += input_tokens
        self.output_tokens += output_tokens
        self.estimated = self.estimated or estimated

    def as_event_field(self) -> dict[str, Any]:
        """Give the figures as the `done` event carries them."""
        return {
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "total_tokens": self.input_tokens + self.output_tokens,
            "estimated": self.estimated,
        }


@dataclass
class Draft:
    """The part of the model's present message that has arrived: kept if the turn ends before the rest comes.

    `sent` is what the model was sent; the token figures are the provider's so far.
    """

    message_id: str
    sent: Sequence[BaseMessage]
    text: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    counted: bool = False


class Turn:
    """A running turn. `run` does the work and may be cancelled; `conclude` does the bookkeeping and is not."""

    def __init__(self, request: TurnRequest, question: HumanMessage, detached_seconds: float) -> None:
        self.request = request
        self.question = question
        self.events = EventLog(request.session_id)
        self.usage = Usage()
        #: taken when the turn starts and kept to its end, whatever is reloaded meanwhile
        self.knowledge = Knowledge()
        self.model_calls = 0
        self.draft: Draft | None = None
        #: what has come whole in this turn, in order; LangGraph stores it a moment later
        self.produced: list[AIMessage | ToolMessage] = []
        #: ids of the tool calls that are being carried out
        self.running_tools: set[str] = set()
        #: what its tools keep open between their calls
        self.scope = TurnScope()
        self.failure: CopilotError | None = None
        self.abort_reason: str | None = None
        #: optional request parameters that the provider has refused in this turn
        self.refused_parameters: set[str] = set()
        self._detached_seconds = detached_seconds
        self._readers = 0
        self._grace: asyncio.TimerHandle | None = None
        self._work: asyncio.Task[None] | None = None
        self._supervisor: asyncio.Task[None] | None = None

    def emit(self, kind: str, **fields: Any) -> None:
        """Add an event for the readers."""
        self.events.append(kind, **fields)

    def start(
        self,
        run: Callable[[Turn], Awaitable[None]],
        conclude: Callable[[Turn, BaseException | None], Awaitable[None]],
    ) -> None:
        """Run the turn in tasks of its own. `conclude` gets what ended `run`: None, an error, or CancelledError."""
        self._supervisor = asyncio.create_task(self._supervise(run, conclude))
        if self._readers == 0:
            self._grace = asyncio.get_running_loop().call_later(FIRST_READER_SECONDS, self._left_alone)

    async def _supervise(
        self,
        run: Callable[[Turn], Awaitable[None]],
        conclude: Callable[[Turn, BaseException | None], Awaitable[None]],
    ) -> None:
        async def work() -> None:
            await run(self)

        with hidden([self.request.token, *self.request.config.secret_values]):
            self._work = asyncio.create_task(work())
            if self.abort_reason is not None:  # aborted between the request and the first step
                self._work.cancel()
            await asyncio.wait({self._work})
            ending = asyncio.CancelledError() if self._work.cancelled() else self._work.exception()
            try:
                await conclude(self, ending)
            finally:
                if self._grace is not None:
                    self._grace.cancel()
                self.events.end()

    def abort(self, reason: str) -> None:
        """Stop the turn: the first reason counts, later calls and calls after the end do nothing."""
        if self.abort_reason is None and not self.events.ended:
            self.abort_reason = reason
            if self._work is not None:
                self._work.cancel()

    def fail_to_start(self, failure: CopilotError) -> None:
        """End a turn that was prepared and cannot start, for those who follow it already."""
        self.failure = failure
        self.emit("error", error=failure.message)
        self.events.end()

    async def wait(self) -> None:
        """Return when the turn is over and everything about it is stored, also if it could not start."""
        await self.events.wait_for_end()

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Count a reader for as long as it reads; when the last one leaves, `on_disconnect` decides."""
        self._readers += 1
        if self._grace is not None:
            self._grace.cancel()
            self._grace = None
        try:
            yield
        finally:
            self._readers -= 1
            if self._readers == 0 and not self.events.ended:
                self._left_alone()

    def _left_alone(self) -> None:
        if self.request.on_disconnect is OnDisconnect.ABORT:
            self.abort("The reader left.")
        else:
            self._grace = asyncio.get_running_loop().call_later(
                self._detached_seconds, self.abort, "Nobody read the answer any more."
            )
