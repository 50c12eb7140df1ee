"""A controller database, made and opened by gns3-server's own code."""

from __future__ import annotations

import uuid
from pathlib import Path

from fastapi import FastAPI
from gns3server.db.models import User, UserGroup
from gns3server.db.tasks import connect_to_db, disconnect_from_db
from sqlalchemy import insert
from sqlalchemy.ext.asyncio import AsyncEngine

from gns3server_copilot.llm.config import Owner


class Database:
    """A database that gns3-server has connected to, and may connect to again."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._app = FastAPI()

    @property
    def engine(self) -> AsyncEngine:
        """The engine that gns3-server has made."""
        engine = self._app.state._db_engine
        assert isinstance(engine, AsyncEngine)
        return engine

    async def connect(self) -> None:
        """Let gns3-server create or upgrade its tables, as at its start."""
        await connect_to_db(self._app)

    async def disconnect(self) -> None:
        """Let gns3-server go."""
        await disconnect_from_db(self._app)

    async def add_user(self, name: str) -> Owner:
        """Make a user."""
        user_id = str(uuid.uuid4())
        async with self.engine.begin() as connection:
            await connection.execute(insert(User).values(user_id=user_id, username=name))
        return Owner("user", user_id)

    async def add_group(self, name: str) -> Owner:
        """Make a group."""
        group_id = str(uuid.uuid4())
        async with self.engine.begin() as connection:
            await connection.execute(insert(UserGroup).values(user_group_id=group_id, name=name))
        return Owner("group", group_id)
