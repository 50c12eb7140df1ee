"""The agents of all open projects: opened at first use, closed before gns3-server touches a project's folder.

Light on purpose: LangGraph, LangChain and the rest are imported at the first use of a route, in a thread.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gns3server_copilot.agent.server import Server
from gns3server_copilot.agent.starts import Starts
from gns3server_copilot.errors import ConflictError, ForbiddenError, TooManyTurnsError, UnavailableError
from gns3server_copilot.gns3.host import has_own_folder, is_opened, user_ids
from gns3server_copilot.llm.importing import import_quickly
from gns3server_copilot.schemas.identity import ProjectRef
from gns3server_copilot.storage.location import may_have_chats
from gns3server_copilot.utils.uncancelled import begin

if TYPE_CHECKING:
    from gns3server_copilot.agent.service import AgentService
    from gns3server_copilot.agent.turn import Turn, TurnRequest

log = logging.getLogger(__name__)

#: How long a project operation of gns3-server waits for our turns to end, in seconds.
CLOSING_SECONDS = 2.0
IDLE_CHECK_SECONDS = 60.0
NO_PLACE = "This project's directory is another project's, too. Give it one of its own, then ask again."


class AgentManager:
    """Owns every `AgentService`."""

    def __init__(self, server: Server) -> None:
        self.starts = Starts()
        self._server = server
        self._settings = server.settings
        self._services: dict[str, AgentService] = {}
        #: one for each project with chats: it is opened and closed by one at a time
        self._locks: dict[str, asyncio.Lock] = {}
        self._closing: Counter[str] = Counter()
        self._stopping = False
        self._getting_ready: asyncio.Task[None] | None = None

    def get_ready(self) -> None:
        """Begin to load what the first turn needs. Cheap to call again, and what goes wrong is told by that turn."""
        if self._getting_ready is None:
            self._getting_ready = asyncio.create_task(self._get_ready())

    async def start_turn(self, request: TurnRequest) -> Turn:
        """Start a turn within the limits of the user and the server (TooManyTurnsError beyond them)."""
        service = await self.service(request.project)
        # loaded now, so that nothing is waited for between the counting and the turn's being counted
        await self._server.knowledge.current()
        running = [turn for one in self._services.values() for turn in one.running_turns]
        own = [turn for turn in running if turn.request.user.user_id == request.user.user_id]
        if len(own) >= self._settings.max_turns_per_user:
            raise TooManyTurnsError(f"You already have {len(own)} questions running. Wait for one, or stop one.")
        if len(running) >= self._settings.max_turns:
            raise TooManyTurnsError("The server is busy with too many questions. Try again in a moment.")
        return await service.start_turn(request)

    async def service(self, project: ProjectRef) -> AgentService:
        """Give the project's agent, opening it at first use."""
        async with self._locks.setdefault(project.project_id, asyncio.Lock()):
            if self._stopping:
                raise UnavailableError("The server is stopping.")
            if self._closing[project.project_id] or not is_opened(project.project_id):
                raise ForbiddenError("The project has been closed. Open it again, then ask again.")
            service = self._services.get(project.project_id)
            if service is None:
                # opened from a second project, a chat database would lose the chats of the first
                if not await asyncio.to_thread(has_own_folder, project.project_id):
                    raise ConflictError(NO_PLACE)
                agent_service = await self._load()
                service = await agent_service.open(project, self._server, await user_ids(self._server.app))
                self._services[project.project_id] = service
            service.last_used = time.monotonic()
            return service

    async def existing_service(self, project: ProjectRef) -> AgentService | None:
        """Give the project's agent if the project has ever had a chat; nothing is made or imported otherwise."""
        opened = project.project_id in self._services
        if not opened and not await asyncio.to_thread(may_have_chats, Path(project.path)):
            return None
        return await self.service(project)

    async def _get_ready(self) -> None:
        with suppress(UnavailableError):
            agent_service = await self._load()
            await agent_service.get_ready()
        await self._server.knowledge.current()

    async def _load(self) -> type[AgentService]:
        # the first import holds the loop for parts of a second even from a thread (the interpreter lock); never again
        try:
            module: Any = await asyncio.to_thread(import_quickly, "gns3server_copilot.agent.service")
        except Exception as error:  # an absent or broken package, a syntax error
            log.exception("The copilot's agent could not be loaded")
            raise UnavailableError(f"The copilot could not be loaded: {type(error).__name__}: {error}") from error
        loaded: type[AgentService] = module.AgentService
        return loaded

    @asynccontextmanager
    async def project_closing(self, project_id: str, reason: str) -> AsyncIterator[None]:
        """Close the project's agent, at most two seconds, and keep it closed for as long as the body runs."""
        self._closing[project_id] += 1
        try:
            await self._close(project_id, reason)
            yield
        finally:
            self._closing[project_id] -= 1
            if not self._closing[project_id]:
                del self._closing[project_id]

    async def project_deleted(self, project_id: str) -> None:
        """Forget what was set for the devices of a project that is gone."""
        if self._server.consoles is None:
            return
        try:
            await self._server.consoles.settings.forget_others(project_id, ())
        except Exception:
            log.exception("The device settings of project %s could not be forgotten", project_id)

    async def _close(self, project_id: str, reason: str, *, if_idle_for: float = 0.0) -> None:
        lock = self._locks.get(project_id)
        if lock is None:
            return

        async def close() -> None:
            async with lock:
                service = self._services.get(project_id)
                if service is None or (if_idle_for and not service.idle_for(if_idle_for)):
                    return
                del self._services[project_id]
                await service.close(reason)

        task = begin(close(), f"close the chats of project {project_id}")
        done, _ = await asyncio.wait({task}, timeout=CLOSING_SECONDS)
        if not done:
            log.warning("The chats of project %s took too long to end; gns3-server goes on", project_id)
        elif error := task.exception():
            log.error("The chats of project %s could not be closed in order", project_id, exc_info=error)

    async def close_idle_projects(self) -> None:
        """Close the agents that nobody has used for the time of the setting. Runs until cancelled."""
        while True:
            await asyncio.sleep(min(IDLE_CHECK_SECONDS, self._settings.idle_project_seconds))
            for project_id in list(self._services):
                await self._close(project_id, "Unused.", if_idle_for=self._settings.idle_project_seconds)

    def stop_turns(self, reason: str) -> None:
        """End every running turn and let none begin: the server is stopping."""
        self._stopping = True
        for service in self._services.values():
            for turn in service.running_turns:
                turn.abort(reason)

    async def close(self) -> None:
        """End every running turn and close every file."""
        self.stop_turns("The server is stopping.")
        await asyncio.gather(*(self._close(project_id, "The server is stopping.") for project_id in self._services))
