"""The agent of one open project: its conversations, its running turns and its one chat database."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Collection
from typing import Any

import anyio
from langchain_core.messages import AnyMessage, RemoveMessage
from langchain_core.runnables import RunnableConfig
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from langsmith import tracing_context

from gns3server_copilot.agent import injection
from gns3server_copilot.agent.ending import early_end, let_go
from gns3server_copilot.agent.graph import ChatGraph, TurnInput
from gns3server_copilot.agent.messages import notes_of, question
from gns3server_copilot.agent.receive import add_usage
from gns3server_copilot.agent.recovery import recover
from gns3server_copilot.agent.repair import repaired
from gns3server_copilot.agent.server import Server
from gns3server_copilot.agent.turn import Turn, TurnRequest
from gns3server_copilot.agent.turn_context import turn_context
from gns3server_copilot.agent.unstored import Ending, UnstoredEndings
from gns3server_copilot.errors import (
    ConflictError,
    CopilotError,
    InvalidRequestError,
    NoSuchSessionError,
    NotFoundError,
    StorageError,
    UnavailableError,
)
from gns3server_copilot.llm.factory import prepare_provider
from gns3server_copilot.schemas.identity import ProjectRef, User
from gns3server_copilot.schemas.titles import title_from
from gns3server_copilot.storage.database import ProjectDatabase
from gns3server_copilot.storage.sessions import Session, TurnFigures
from gns3server_copilot.utils.message_converters import history_to_openai

log = logging.getLogger(__name__)

#: How long a deletion waits for the turn that it has stopped, in seconds.
DELETION_SECONDS = 10.0
UNEXPECTED = "The copilot failed unexpectedly. The server's log has the details."


class AgentService:
    """Made at a project's first use and closed with it. Not made directly: use `AgentService.open`."""

    def __init__(self, database: ProjectDatabase, server: Server) -> None:
        self._database = database
        self._server = server
        self._chat_graph = ChatGraph(server)
        self._graph = self._chat_graph.graph(database.saver)
        #: by user and session: nobody is told that somebody else's session is busy
        self._turns: dict[tuple[str, str], Turn] = {}
        self._deleting: set[tuple[str, str]] = set()
        self._unstored = UnstoredEndings(self._keep)
        self._counting: set[asyncio.Task[None]] = set()
        self._closed = False
        self.last_used = time.monotonic()

    @staticmethod
    async def get_ready() -> None:
        """Load the client of most configurations, before a question waits for it."""
        with contextlib.suppress(InvalidRequestError):
            await prepare_provider("openai")

    @classmethod
    async def open(cls, project: ProjectRef, server: Server, user_ids: Collection[str]) -> AgentService:
        """Open the project's chat database and give its agent; chats of users other than these are removed.

        Turns that were running when the server was killed are brought to an end. Raises StorageError when the database
        cannot be opened.
        """
        database = await ProjectDatabase.open(project)
        try:
            await database.keep_sessions_of(user_ids)
            service = cls(database, server)
            for session in await database.sessions.unfinished():
                await service._recover(session)
        except BaseException:
            await database.close()
            raise
        return service

    async def _recover(self, session: Session) -> None:
        session_id = session.thread_id
        try:
            lost = recover(await self._messages(session_id), session.message_count)
            if not lost.messages:  # its first question had not been stored yet
                await self._database.delete_session(session_id)
                return
            await self._store(session_id, lost.messages)
            figures = TurnFigures(
                message_count=len(lost.messages),
                llm_calls=lost.model_calls,
                input_tokens=lost.input_tokens,
                output_tokens=lost.output_tokens,
                estimated=False,
                time=lost.time,
            )
            await self._database.finish_turn(session_id, figures)
        except CopilotError as error:  # one conversation that cannot be read must not cost the others
            log.warning("A conversation that was interrupted could not be put right: %s", error)

    # -- turns

    @property
    def running_turns(self) -> list[Turn]:
        """The turns that have begun and whose end is not yet stored."""
        return list(self._turns.values())

    def running_turn(self, session_id: str, user: User) -> Turn | None:
        """Give the running turn of the user's session, if there is one."""
        return self._turns.get((user.user_id, session_id))

    async def start_turn(self, request: TurnRequest) -> Turn:
        """Start a turn; it runs on whatever becomes of the caller.

        Raises ConflictError when one is running in this session or the session is being deleted, NoSuchSessionError
        when it is somebody else's, and InvalidRequestError when the configuration's provider cannot be used.
        """
        knowledge = await self._server.knowledge.current()
        if self._closed:
            raise UnavailableError("The project is being closed. Open it again, then ask again.")
        if _key(request) in self._turns:
            raise ConflictError("This conversation is still busy with the last question. Wait for it, or stop it.")
        if _key(request) in self._deleting:
            raise ConflictError("This conversation is being deleted. Ask again in a moment.")
        # taken before anything else is awaited, so that of two requests at once exactly one gets on
        turn = Turn(request, question(request.message), self._server.settings.detached_turn_seconds, knowledge)
        self._turns[_key(request)] = turn
        try:
            await prepare_provider(request.config.provider)
            await self._unstored.store(_key(request))
            await self._database.sessions.create(
                request.session_id,
                request.user.user_id,
                title=title_from(request.message),
                metadata={"copilot_mode": str(request.mode)},
                copilot_mode=request.mode if request.injects else None,
            )
        except BaseException as error:
            del self._turns[_key(request)]
            turn.fail_to_start(error if isinstance(error, CopilotError) else CopilotError(UNEXPECTED))
            raise
        turn.start(self._run, self._conclude)
        return turn

    async def _run(self, turn: Turn) -> None:
        request = turn.request
        # LANGSMITH_TRACING, set on the server for something else, would send everybody's chats to a third party
        with turn_context(turn), tracing_context(enabled=False):
            history = await self._messages(request.session_id)
            await self._store_if_changed(request.session_id, history, repaired(history))
            await self._graph.ainvoke(
                TurnInput(messages=[turn.question], llm_calls=0, session_id=request.session_id, abort=False),
                {**_thread(request.session_id), "recursion_limit": self._chat_graph.step_limit(request.mode)},
                durability="sync",  # what a tool has changed is on disk before the model is asked again
            )

    async def _conclude(self, turn: Turn, ending: BaseException | None) -> None:
        """Store what the turn did and end its events, however it ended."""
        failure = self._explain(ending)
        if ending is None and turn.request.injects:
            failure = injection.failure(turn)
        aborted = isinstance(ending, asyncio.CancelledError)
        if aborted:
            log.info("A turn of %s ended early: %s", turn.request.user.username, turn.abort_reason)
        title = ""
        try:
            with anyio.CancelScope(shield=True):
                await let_go(turn)
                if turn.draft is not None and (turn.draft.shown or turn.draft.input_tokens):
                    await add_usage(turn, turn.draft, turn.draft.text)
                self._count_soon(turn)
                title = await self._keep(Ending(turn, failure, aborted))
        except CopilotError as error:
            failure = failure or error
            if isinstance(error, StorageError):
                self._unstored.add(_key(turn.request), Ending(turn, failure, aborted))
        except Exception:
            log.exception("A turn's end could not be stored")
            failure = failure or CopilotError(UNEXPECTED)
        finally:
            del self._turns[_key(turn.request)]
            self.last_used = time.monotonic()
        turn.failure = failure
        if failure:
            turn.emit("error", error=failure.message)
            return
        if aborted:
            turn.emit("abort")
        turn.emit("done", usage=turn.usage.as_event_field(), title=title)

    def _explain(self, ending: BaseException | None) -> CopilotError | None:
        if ending is None or isinstance(ending, asyncio.CancelledError):
            return None
        if isinstance(ending, CopilotError):
            return ending
        log.error("A turn failed unexpectedly", exc_info=ending)
        return CopilotError(UNEXPECTED)

    def _count_soon(self, turn: Turn) -> None:
        # nobody waits for it: a commit of gns3-server's database takes longer than all of a turn's own
        counting = asyncio.create_task(self._count(turn))
        self._counting.add(counting)
        counting.add_done_callback(self._counting.discard)

    async def _count(self, turn: Turn) -> None:
        """Add the turn to its user's usage, also one that failed: what was sent to the provider is paid for."""
        request, used = turn.request, turn.usage
        try:
            await self._server.usage.add_turn(
                request.user.user_id,
                request.config.config_id,
                model_calls=turn.model_calls + turn.hidden_calls,
                input_tokens=used.input_tokens + turn.hidden_usage.input_tokens,
                output_tokens=used.output_tokens + turn.hidden_usage.output_tokens,
            )
        except asyncio.CancelledError:  # the server's end, which waits no longer for a locked database
            log.error("A turn of %s was not added to the usage: the server has stopped", request.user.username)
            raise
        except Exception:  # whoever counts must not take the answer away
            log.exception("A turn could not be added to its user's usage")

    async def _keep(self, ending: Ending) -> str:
        turn, failure = ending.turn, ending.failure
        session_id = turn.request.session_id
        if ending.aborted:
            await self._handle_abort(turn)
        stored = await self._messages(session_id)
        whole = repaired([*stored, *_late(turn, stored)])
        if failure or ending.aborted:
            whole = early_end(turn, whole, failure)
        await self._store_if_changed(session_id, stored, whole)
        figures = TurnFigures(
            message_count=len(whole),
            llm_calls=turn.model_calls,
            input_tokens=turn.usage.input_tokens,
            output_tokens=turn.usage.output_tokens,
            estimated=turn.usage.estimated,
            stats={"context_tokens": turn.usage.context_tokens, "context_limit": turn.usage.context_limit},
            title=turn.title,
        )
        session = await self._database.finish_turn(session_id, figures)
        return session.title

    async def _handle_abort(self, turn: Turn) -> None:
        """Say in the state that the turn was stopped, and let the graph go on from there."""
        thread = _thread(turn.request.session_id)
        stored = await self._messages(turn.request.session_id)
        came = [message for message in _late(turn, stored) if not notes_of(message).get("aborted")]
        # whatever ran is over, so it is as if the model had answered just now
        await self._graph.aupdate_state(thread, {"messages": came, "abort": True}, as_node="llm_call")
        if (await self._graph.aget_state(thread)).next:
            with turn_context(turn), tracing_context(enabled=False):
                await self._graph.ainvoke(None, thread, durability="sync")

    # -- conversations

    async def session(self, session_id: str, user: User) -> Session:
        """Give the user's session. Raises NoSuchSessionError when there is none, or it is somebody else's."""
        await self._unstored.try_to_store(user.user_id)
        return await self._database.sessions.get_own(session_id, user.user_id)

    async def known_session(self, session_id: str, user: User) -> Session | None:
        """Give the user's session; None for an id that is still free. Raises NoSuchSessionError for a foreign one."""
        session = await self._database.sessions.get(session_id)
        if session is not None and session.user_id != user.user_id:
            raise NoSuchSessionError
        return session

    async def rename(self, session_id: str, user: User, title: str) -> Session:
        """Give the user's session a title that no automatic one replaces. Raises NoSuchSessionError."""
        await self.session(session_id, user)
        return await self._database.sessions.rename(session_id, title)

    async def set_pinned(self, session_id: str, user: User, pinned: bool) -> Session:
        """Pin the user's session, or unpin it. Raises NoSuchSessionError."""
        await self.session(session_id, user)
        return await self._database.sessions.set_pinned(session_id, pinned)

    async def delete(self, session_id: str, user: User) -> None:
        """Stop the turn that runs in the user's session, wait until it is stored, and remove the session.

        Raises NoSuchSessionError, and ConflictError when the turn does not end in time.
        """
        key = (user.user_id, session_id)
        await self.session(session_id, user)
        if key in self._deleting:
            raise NoSuchSessionError
        self._deleting.add(key)  # until it is gone no turn may begin in it
        try:
            turn = self._turns.get(key)
            if turn is not None:
                turn.abort("The conversation was deleted.")
                try:
                    async with asyncio.timeout(DELETION_SECONDS):
                        await turn.wait()
                except TimeoutError:
                    raise ConflictError("What runs in this conversation is still being stopped. Try again.") from None
            await self._unstored.forget(key)
            await self._database.delete_session(session_id)
        finally:
            self._deleting.discard(key)

    async def sessions(self, user: User, **filters: Any) -> tuple[list[Session], int]:
        """Give the user's sessions, filtered and paged as `SessionStore.list` does, and their number before paging."""
        await self._unstored.try_to_store(user.user_id)
        return await self._database.sessions.list(user.user_id, **filters)

    async def history(
        self, session_id: str, *, limit: int | None = None, before: str | None = None
    ) -> list[dict[str, Any]]:
        """Give a session's messages in the OpenAI shape, the oldest first: the last `limit` of those before an id.

        Raises NotFoundError when no message has that id.
        """
        messages = await self._messages(session_id)
        if before is not None:
            ids = [message.id for message in messages]
            if before not in ids:
                raise NotFoundError("There is no message with the id given as before in this conversation.")
            messages = messages[: ids.index(before)]
        if limit is not None:
            messages = messages[-limit:]
        return await asyncio.to_thread(history_to_openai, messages)

    async def _messages(self, session_id: str) -> list[AnyMessage]:
        snapshot = await self._graph.aget_state(_thread(session_id))
        return list(snapshot.values.get("messages", []))

    async def _store_if_changed(self, session_id: str, stored: list[AnyMessage], wanted: list[AnyMessage]) -> None:
        if len(stored) == len(wanted) and all(one is other for one, other in zip(stored, wanted, strict=True)):
            return
        await self._store(session_id, wanted)

    async def _store(self, session_id: str, messages: list[AnyMessage]) -> None:
        replacement = [RemoveMessage(id=REMOVE_ALL_MESSAGES), *messages]
        await self._graph.aupdate_state(_thread(session_id), {"messages": replacement}, as_node="tool_node")

    # -- end

    def idle_for(self, seconds: float) -> bool:
        """Tell whether nothing runs and nobody has asked for anything for so long."""
        return not self._turns and time.monotonic() - self.last_used > seconds

    async def close(self, reason: str) -> None:
        """Stop the running turns, wait until they are stored, and close the file."""
        self._closed = True
        turns = self.running_turns
        for turn in turns:
            turn.abort(reason)
        try:
            for turn in turns:
                await turn.wait()
            await self._unstored.try_to_store()
        finally:
            await self._database.close()
            if self._counting:
                await asyncio.wait(self._counting)


def _thread(session_id: str) -> RunnableConfig:
    return {"configurable": {"thread_id": session_id}}


def _key(request: TurnRequest) -> tuple[str, str]:
    return request.user.user_id, request.session_id


def _late(turn: Turn, stored: list[AnyMessage]) -> list[AnyMessage]:
    """Give what came in the turn and is not stored yet, in order."""
    there = {message.id for message in stored}
    return [message for message in (turn.question, *turn.produced) if message.id not in there]
