"""What a user has chosen: which configuration is the default, and the mode of inherited configurations.

A choice can be of an own or of an inherited configuration, and outlives the membership that it depends on: who joins
the group again finds it again. Every function runs in the caller's transaction.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from gns3server_copilot.llm.rows import insert_if_absent
from gns3server_copilot.llm.tables import llm_configs, user_preferences
from gns3server_copilot.schemas.modes import Mode


@dataclass(frozen=True)
class Preferences:
    """One user's choices. `copilot_modes` are by config_id."""

    default_config_id: str | None = None
    copilot_modes: Mapping[str, str] = field(default_factory=dict)


_OF_USER = select(user_preferences).where(user_preferences.c.user_id == bindparam("user"))


def read_preferences(connection: Connection, user_id: str) -> Preferences:
    """Give a user's choices."""
    return _read(connection, _OF_USER, user_id)


async def choose_default(connection: AsyncConnection, user_id: str, config_id: str | None, now: datetime) -> None:
    """Remember a configuration as the user's default; None forgets the choice."""
    await _lock(connection, user_id, now)
    await _write(connection, user_id, now, default_config_id=config_id)


async def forget_other_default(connection: AsyncConnection, user_id: str, config_id: str, now: datetime) -> None:
    """Forget the user's choice if it is of another configuration than this one, which is being made the default."""
    if (await _lock(connection, user_id, now)).default_config_id != config_id:
        await _write(connection, user_id, now, default_config_id=None)


async def choose_mode(connection: AsyncConnection, user_id: str, config_id: str, mode: Mode, now: datetime) -> None:
    """Remember the user's own mode of a configuration, and forget those of configurations that are gone."""
    modes = {**(await _lock(connection, user_id, now)).copilot_modes, config_id: str(mode)}
    found = await connection.execute(select(llm_configs.c.config_id).where(llm_configs.c.config_id.in_(modes)))
    existing = set(found.scalars())
    await _write(connection, user_id, now, copilot_modes={one: mode for one, mode in modes.items() if one in existing})


async def _lock(connection: AsyncConnection, user_id: str, now: datetime) -> Preferences:
    empty: dict[str, Any] = {"user_id": user_id, "default_config_id": None, "copilot_modes": {}, "updated_at": now}
    await insert_if_absent(connection, user_preferences, empty)
    return await connection.run_sync(_read, _OF_USER.with_for_update(), user_id)


def _read(connection: Connection, query: Any, user_id: str) -> Preferences:
    row = connection.execute(query, {"user": user_id}).mappings().first()
    return Preferences(row["default_config_id"], row["copilot_modes"]) if row else Preferences()


async def _write(connection: AsyncConnection, user_id: str, now: datetime, **values: Any) -> None:
    await connection.execute(
        update(user_preferences).where(user_preferences.c.user_id == user_id).values(**values, updated_at=now)
    )
