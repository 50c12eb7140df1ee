"""Keeps the knowledge of a running server, and replaces it as a whole."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from pathlib import Path

from gns3server_copilot.knowledge.loader import admin_directory, load
from gns3server_copilot.knowledge.problems import Problem
from gns3server_copilot.knowledge.snapshot import Knowledge
from gns3server_copilot.settings import Settings

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Reload:
    """What came of a reload: what is loaded now, whether it replaced what was before, and everything that is wrong."""

    knowledge: Knowledge
    replaced: bool
    problems: tuple[Problem, ...]


class KnowledgeBase:
    """Gives the present snapshot. Whoever starts something long takes it once and keeps it to the end."""

    def __init__(self, config_dir: Path, settings: Settings) -> None:
        """`config_dir` is the server's configuration directory, where relative paths of the setting start."""
        self.directory = admin_directory(config_dir, settings)
        self._settings = settings
        self._knowledge: Knowledge | None = None
        self._lock = asyncio.Lock()

    async def current(self) -> Knowledge:
        """Give what is loaded, loading it at first use. Never raises: what is wrong is in its `problems`."""
        if self._knowledge is None:
            async with self._lock:
                if self._knowledge is None:
                    await self._load()
        assert self._knowledge is not None
        return self._knowledge

    async def reload(self) -> Reload:
        """Load everything anew; when that is impossible, what was loaded before stays."""
        async with self._lock:
            return await self._load()

    async def _load(self) -> Reload:
        try:
            knowledge = await asyncio.to_thread(load, self.directory, self._settings, self._knowledge)
        except OSError as error:
            problem = Problem(str(self.directory), 0, f"the directory cannot be read: {error.strerror or error}")
            log.error("Knowledge: %s", problem)
            if self._knowledge is None:
                packaged = await asyncio.to_thread(load, None, self._settings)
                self._knowledge = Knowledge(packaged.entries, (problem, *packaged.problems))
            return Reload(self._knowledge, replaced=False, problems=(problem,))
        for problem in knowledge.problems:
            log.warning("Knowledge: %s", problem)
        self._knowledge = knowledge
        return Reload(knowledge, replaced=True, problems=knowledge.problems)
