"""Requests that are becoming turns: whoever stops one is heard before there is a turn to stop.

Between a question and its turn lie the configuration, the opening of the project's chats, and at the first chat the
import of LangChain, which takes seconds.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from gns3server_copilot.schemas.identity import ProjectRef, User

_Key = tuple[str, str, str]


@dataclass
class Start:
    """One request on its way."""

    aborted: bool = False


@dataclass
class Starts:
    """The requests on their way, by project, user and session."""

    _under_way: dict[_Key, list[Start]] = field(default_factory=dict)

    @contextmanager
    def under_way(self, project: ProjectRef, user: User, session_id: str) -> Iterator[Start]:
        """Have a request counted as on its way for as long as the block runs."""
        key = (project.project_id, user.user_id, session_id)
        start = Start()
        starts = self._under_way.setdefault(key, [])
        starts.append(start)
        try:
            yield start
        finally:
            starts.remove(start)
            if not starts:
                del self._under_way[key]

    def abort(self, project: ProjectRef, user: User, session_id: str) -> None:
        """Have the user's requests in this session end as soon as they are turns; often there are none."""
        for start in self._under_way.get((project.project_id, user.user_id, session_id), []):
            start.aborted = True
