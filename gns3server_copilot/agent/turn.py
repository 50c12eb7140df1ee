"""One running turn: its task, its events, and what it has received but not yet stored.

The turn is owned by the server. HTTP responses only read its events, so an abort, a reader that leaves, a project
that closes and a server that stops all end it the same way: `abort()`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from gns3server_copilot.agent.closing import Closing, FailedCalls
from gns3server_copilot.agent.events import EventLog
from gns3server_copilot.errors import CopilotError
from gns3server_copilot.gns3.changes import BegunChanges
from gns3server_copilot.knowledge.loader import packaged_knowledge
from gns3server_copilot.knowledge.snapshot import Knowledge
from gns3server_copilot.llm.config import LLMConfig
from gns3server_copilot.llm.scrubbing import hidden
from gns3server_copilot.schemas.identity import ProjectRef, User
from gns3server_copilot.schemas.modes import Mode
from gns3server_copilot.tools.scope import TurnScope

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

log = logging.getLogger(__name__)

#: How long a stopped turn waits for what runs in it, in seconds; the rest of a second is for storing what there is.
STOPPING_SECONDS = 0.4
LAST_SECONDS = 0.1
#: How long a new turn waits for its first reader: a client can be gone before the answer has begun.
FIRST_READER_SECONDS = 5.0


class OnDisconnect(StrEnum):
    """What a turn does when its last reader has left."""

    ABORT = "abort"
    CONTINUE = "continue"


@dataclass(frozen=True)
class TurnRequest:
    """Everything that was decided before a turn starts. `injects`: it is there to put a fault in, or it has failed."""

    session_id: str
    message: str
    user: User
    project: ProjectRef
    mode: Mode
    config: LLMConfig
    token: str = field(repr=False)
    on_disconnect: OnDisconnect = OnDisconnect.ABORT
    injects: bool = False


@dataclass
class Usage:
    """Tokens of a turn's model calls; `estimated` when the provider told none and they were counted here.

    `context_tokens` is what of the context window (`context_limit`) the last call and its answer have filled.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    estimated: bool = False
    context_tokens: int = 0
    context_limit: int = 0

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
            "context_tokens": self.context_tokens,
            "context_limit": self.context_limit,
        }


@dataclass
class Draft:
    """The part of the model's present message that has arrived: kept if the turn ends before the rest comes.

    `sent_tokens` is what the model was sent, as counted here; the other figures are the provider's so far.
    """

    message_id: str
    sent_tokens: int
    text: str = ""
    #: ids of tool calls that readers have seen
    announced_calls: set[str] = field(default_factory=set)
    input_tokens: int = 0
    output_tokens: int = 0
    counted: bool = False

    @property
    def shown(self) -> bool:
        """Whether readers have seen something of it."""
        return bool(self.text or self.announced_calls)


class Turn:
    """A running turn. `run` does the work and may be cancelled; `conclude` does the bookkeeping and is not."""

    def __init__(
        self,
        request: TurnRequest,
        question: HumanMessage,
        detached_seconds: float,
        knowledge: Knowledge | None = None,
    ) -> None:
        """`knowledge` is the packaged files' unless it is given, which may read them."""
        self.request = request
        self.question = question
        self.events = EventLog(request.session_id)
        self.usage = Usage(context_limit=request.config.context_limit * 1000)
        #: taken when the turn starts and kept to its end, whatever is reloaded meanwhile
        self.knowledge = knowledge or packaged_knowledge()
        self.model_calls = 0
        #: calls and tokens that are paid for, and are no part of the answer
        self.hidden_calls = 0
        self.hidden_usage = Usage()
        #: the title that the model has given the conversation in this turn
        self.title: str | None = None
        self.draft: Draft | None = None
        #: what has come whole in this turn, in order; LangGraph stores it a moment later
        self.produced: list[AIMessage | ToolMessage] = []
        #: the tool calls that are being carried out, by id, with the changes that each has begun
        self.running_tools: dict[str, BegunChanges] = {}
        self.failed_calls = FailedCalls()
        #: answers in a row of which no call could be read
        self.unreadable_answers = 0
        #: whether a tool has put something into the lab, as an injection is to
        self.applied = False
        #: why the model gets no tools any more in this turn
        self.closing: Closing | None = None
        #: what its tools keep open between their calls
        self.scope = TurnScope()
        self.failure: CopilotError | None = None
        self.abort_reason: str | None = None
        #: optional request parameters that the provider has refused in this turn
        self.refused_parameters: set[str] = set()
        #: what a request may hold, once the provider has said that one was too long
        self.token_cap: int | None = None
        self._detached_seconds = detached_seconds
        self._readers = 0
        self._grace: asyncio.TimerHandle | None = None
        self._work: asyncio.Task[None] | None = None
        self._supervisor: asyncio.Task[None] | None = None
        self._stopping = asyncio.Event()
        self._left_behind = False

    def emit(self, kind: str, **fields: Any) -> None:
        """Add an event for the readers. What was left behind by a stopped turn is not heard any more."""
        if not self._left_behind or asyncio.current_task() is self._supervisor:
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
            ending = await self._end_of(self._work)
            try:
                await conclude(self, ending)
            finally:
                if self._grace is not None:
                    self._grace.cancel()
                self.events.end()

    async def _end_of(self, work: asyncio.Task[None]) -> BaseException | None:
        """Give what ended the work: None, an error, or CancelledError, also when it does not stop in time."""
        stopping = asyncio.create_task(self._stopping.wait())
        try:
            await asyncio.wait({work, stopping}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopping.cancel()
        if not work.done():
            await asyncio.wait({work}, timeout=STOPPING_SECONDS)
        if not work.done():
            work.cancel()  # who puts something right in a task of its own waits for it no longer
            await asyncio.wait({work}, timeout=LAST_SECONDS)
        if not work.done():
            # a tool that swallows its cancellation must not keep the conversation busy for ever
            log.error("A turn was stopped and what ran in it goes on; tool calls: %s", sorted(self.running_tools))
            self._left_behind = True
            work.add_done_callback(_drop_ending)
            return asyncio.CancelledError()
        return asyncio.CancelledError() if work.cancelled() else work.exception()

    def abort(self, reason: str) -> None:
        """Stop the turn: the first reason counts, later calls and calls after the end do nothing."""
        if self.abort_reason is None and not self.events.ended:
            self.abort_reason = reason
            self._stopping.set()
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


def _drop_ending(work: asyncio.Task[None]) -> None:
    if not work.cancelled():
        work.exception()  # asyncio would complain that nobody has asked for it
