"""How much each user has used each configuration on each day: numbers alone, nothing of what was said."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import UTC, date, datetime

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncEngine

from gns3server_copilot.llm.rows import add_to
from gns3server_copilot.llm.tables import llm_configs, usage, users
from gns3server_copilot.utils.uncancelled import uncancelled


@dataclass(frozen=True)
class DayOfUse:
    """What one user has used of one configuration on one day (UTC). `config_name` is None when it is deleted."""

    user_id: str
    username: str
    config_id: str
    config_name: str | None
    day: date
    turns: int
    model_calls: int
    input_tokens: int
    output_tokens: int


class UsageStore:
    """Reads and writes `copilot_usage`."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine
        #: turns that end together are written one after the other, and whoever reads comes after them
        self._lock = asyncio.Lock()

    @uncancelled
    async def add_turn(
        self, user_id: str, config_id: str, *, model_calls: int, input_tokens: int, output_tokens: int
    ) -> None:
        """Add one turn to today's figures. The turn of a user who has been deleted meanwhile is not counted."""
        key = {"user_id": user_id, "config_id": config_id, "day": datetime.now(UTC).date()}
        more = {"turns": 1, "model_calls": model_calls, "input_tokens": input_tokens, "output_tokens": output_tokens}
        try:
            async with self._lock, self._engine.begin() as connection:
                await add_to(connection, usage, key, more)
        except IntegrityError:
            async with self._engine.connect() as connection:
                if (await connection.execute(select(users.c.user_id).where(users.c.user_id == user_id))).first():
                    raise

    @uncancelled
    async def read(
        self, user_id: str | None = None, *, since: date | None = None, until: date | None = None
    ) -> list[DayOfUse]:
        """Give the figures of one user, or of all when none is named; the latest days first, both ends included."""
        query = (
            select(usage, users.c.username, llm_configs.c.name.label("config_name"))
            .join(users, users.c.user_id == usage.c.user_id)
            .outerjoin(llm_configs, llm_configs.c.config_id == usage.c.config_id)
            .order_by(usage.c.day.desc(), users.c.username, usage.c.config_id)
        )
        if user_id is not None:
            query = query.where(usage.c.user_id == user_id)
        if since is not None:
            query = query.where(usage.c.day >= since)
        if until is not None:
            query = query.where(usage.c.day <= until)
        async with self._lock, self._engine.connect() as connection:
            return [DayOfUse(**row) for row in (await connection.execute(query)).mappings()]
