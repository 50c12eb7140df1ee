"""Projects for tests: made through the API, deleted when the test is over."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from tests.ground.users import UserClient, ok, unique


@dataclass(frozen=True)
class Project:
    """An opened project. `path` is its folder, readable by the test since the server runs on the same machine."""

    project_id: str
    name: str
    path: Path

    @property
    def url(self) -> str:
        """The project's path in gns3-server's API."""
        return f"/v3/projects/{self.project_id}"

    @property
    def chat(self) -> str:
        """The prefix of the chat routes, as documented; the other one is `/v3/copilot` + the rest."""
        return f"{self.url}/chat"

    @property
    def chat_database(self) -> Path:
        """Where the project's chats are kept."""
        return self.path / "gns3-copilot" / "copilot_checkpoints.db"


class Projects:
    """Makes projects and deletes those that are left at the end."""

    def __init__(self, admin: UserClient) -> None:
        self._admin = admin
        self._made: list[Project] = []

    async def make(self, owner: UserClient | None = None, **fields: Any) -> Project:
        """Give a new opened project, made by `owner` (the admin by default) with these fields of POST /v3/projects."""
        body = {"name": unique("project"), **fields}
        answer = await ok((owner or self._admin).post("/v3/projects", json=body))
        project = Project(answer["project_id"], answer["name"], Path(answer["path"]))
        self._made.append(project)
        return project

    async def delete_all(self) -> None:
        """Delete the projects made here, whether opened, closed or already deleted by the test."""
        for project in self._made:
            try:
                answer = await self._admin.delete(project.url)
            except httpx.TransportError:  # the test has stopped the server
                return
            assert answer.status_code in (204, 404), f"deleting {project.name}: {answer.status_code} {answer.text}"
