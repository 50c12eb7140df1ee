"""The agent of one open project: its conversations, its running turns and its one chat database."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Collection
from typing import Any

import anyio
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, RemoveMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from langsmith import tracing_context

from gns3server_copilot.agent.graph import ChatGraph
from gns3server_copilot.agent.messages import ended_early, new_message_id, question
from gns3server_copilot.agent.receive import add_usage
from gns3server_copilot.agent.repair import interrupted_result, repaired
from gns3server_copilot.agent.server import Server
from gns3server_copilot.agent.turn import Turn, TurnRequest
from gns3server_copilot.agent.turn_context import turn_context
from gns3server_copilot.errors import ConflictError, CopilotError, NotFoundError, UnavailableError
from gns3server_copilot.llm.factory import prepare_provider
from gns3server_copilot.schemas.identity import ProjectRef, User
from gns3server_copilot.storage.database import ProjectDatabase
from gns3server_copilot.storage.sessions import Session
from gns3server_copilot.utils.message_converters import history_to_openai

log = logging.getLogger(__name__)

TITLE_LENGTH = 40
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
        self._closed = False
        self.last_used = time.monotonic()

    @classmethod
    async def open(cls, project: ProjectRef, server: Server, user_ids: Collection[str]) -> AgentService:
        """Open the project's chat database and give its agent; chats of users other than these are removed.

        Raises StorageError when it cannot be opened.
        """
        database = await ProjectDatabase.open(project)
        try:
            await database.keep_sessions_of(user_ids)
        except BaseException:
            await database.close()
            raise
        return cls(database, server)

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

        Raises ConflictError when one is running in this session, NotFoundError when the session is somebody else's,
        and InvalidRequestError when the configuration's provider cannot be used.
        """
        if self._closed:
            raise UnavailableError("The project is being closed. Open it again, then ask again.")
        if _key(request) in self._turns:
            raise ConflictError("This conversation is still busy with the last question. Wait for it, or stop it.")
        # taken before anything is awaited, so that of two requests at once exactly one gets on
        turn = Turn(request, question(request.message), self._server.settings.detached_turn_seconds)
        self._turns[_key(request)] = turn
        try:
            await prepare_provider(request.config.provider)
            turn.knowledge = await self._server.knowledge.current()
            await self._database.sessions.create(
                request.session_id,
                request.user.user_id,
                title=title_from(request.message),
                metadata={"copilot_mode": str(request.mode)},
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
                {"messages": [turn.question], "llm_calls": 0},
                {**_thread(request.session_id), "recursion_limit": self._chat_graph.step_limit(request.mode)},
                durability="sync",  # what a tool has changed is on disk before the model is asked again
            )

    async def _conclude(self, turn: Turn, ending: BaseException | None) -> None:
        """Store what the turn did and end its events, however it ended."""
        failure = self._explain(ending)
        aborted = isinstance(ending, asyncio.CancelledError)
        if aborted:
            log.info("A turn of %s ended early: %s", turn.request.user.username, turn.abort_reason)
        _end_calls(turn)
        title = ""
        try:
            with anyio.CancelScope(shield=True):
                await turn.scope.close()
                if turn.draft is not None and turn.draft.text:
                    await add_usage(turn, turn.draft, turn.draft.text)
                await self._count(turn)
                title = await self._keep(turn, failure=failure, aborted=aborted)
        except CopilotError as error:
            failure = failure or error
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

    async def _count(self, turn: Turn) -> None:
        """Add the turn to its user's usage, also one that failed: what was sent to the provider is paid for."""
        request, used = turn.request, turn.usage
        try:
            await self._server.usage.add_turn(
                request.user.user_id,
                request.config.config_id,
                model_calls=turn.model_calls,
                input_tokens=used.input_tokens,
                output_tokens=used.output_tokens,
            )
        except Exception:  # whoever counts must not take the answer away
            log.exception("A turn could not be added to its user's usage")

    async def _keep(self, turn: Turn, *, failure: CopilotError | None, aborted: bool) -> str:
        session_id = turn.request.session_id
        stored = await self._messages(session_id)
        there = {message.id for message in stored}
        late = [message for message in (turn.question, *turn.produced) if message.id not in there]
        whole = repaired([*stored, *late])
        if failure or aborted:
            whole += _early_end(turn, whole[-1], failure)
        await self._store_if_changed(session_id, stored, whole)
        session = await self._database.sessions.record_turn(
            session_id,
            message_count=len(whole),
            llm_calls=turn.model_calls,
            input_tokens=turn.usage.input_tokens,
            output_tokens=turn.usage.output_tokens,
            estimated=turn.usage.estimated,
        )
        await self._database.prune(session_id)
        return session.title

    # -- conversations

    async def session(self, session_id: str, user: User) -> Session:
        """Give the user's session. Raises NotFoundError when there is none, or it is somebody else's."""
        session = await self._database.sessions.get(session_id)
        if session is None or session.user_id != user.user_id:
            raise _no_such_session()
        return session

    async def refuse_foreign(self, session_id: str, user: User) -> None:
        """Raise NotFoundError when the session is somebody else's; one that does not exist yet is fine."""
        session = await self._database.sessions.get(session_id)
        if session is not None and session.user_id != user.user_id:
            raise _no_such_session()

    async def sessions(self, user: User, **filters: Any) -> tuple[list[Session], int]:
        """Give the user's sessions, filtered and paged as `SessionStore.list` does, and their number before paging."""
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
        if [message.id for message in stored] == [message.id for message in wanted]:
            return
        replacement = [RemoveMessage(id=REMOVE_ALL_MESSAGES), *wanted]
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
        for turn in turns:
            await turn.wait()
        await self._database.close()


def title_from(message: str) -> str:
    """Give a session's first title: the beginning of the first message, at most 40 characters."""
    words = " ".join(message.split())
    return words if len(words) <= TITLE_LENGTH else words[: TITLE_LENGTH - 1].rstrip() + "…"


def _thread(session_id: str) -> RunnableConfig:
    return {"configurable": {"thread_id": session_id}}


def _no_such_session() -> NotFoundError:
    return NotFoundError("There is no such conversation in this project.")


def _key(request: TurnRequest) -> tuple[str, str]:
    return request.user.user_id, request.session_id


def _end_calls(turn: Turn) -> None:
    """Give every call of the last answer that has no result one that says so, and tell the readers of those begun."""
    ended = {message.tool_call_id for message in turn.produced if isinstance(message, ToolMessage)}
    asked = next((message for message in reversed(turn.produced) if isinstance(message, AIMessage)), None)
    for call in asked.tool_calls if asked else []:
        call_id, name = call["id"] or "", call["name"]
        if call_id in ended:
            continue
        begun = call_id in turn.running_tools
        result = interrupted_result(call_id, name, begun=begun)
        turn.produced.append(result)
        if begun:
            turn.emit("tool_end", tool_call_id=call_id, tool_name=name, tool_output=result.content)


def _early_end(turn: Turn, last: AnyMessage, failure: CopilotError | None) -> list[AIMessage]:
    notes: dict[str, Any] = {"error": failure.message} if failure else {"aborted": True}
    if turn.draft is not None:
        return [ended_early(turn.draft.text, turn.draft.message_id, **notes)]
    if isinstance(last, HumanMessage | ToolMessage):
        return [ended_early("", new_message_id(), **notes)]
    return []
