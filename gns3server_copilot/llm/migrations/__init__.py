"""Brings our tables in gns3-server's database up to date, with an Alembic history of their own."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from sqlalchemy import Connection
from sqlalchemy.ext.asyncio import AsyncEngine

from gns3server_copilot.errors import UnavailableError

if TYPE_CHECKING:
    from alembic.config import Config

log = logging.getLogger(__name__)

VERSION_TABLE = "copilot_alembic_version"


async def upgrade(engine: AsyncEngine) -> None:
    """Create or upgrade our tables; gns3-server's own, and its `alembic_version`, stay as they are.

    To be called after gns3-server has connected to its database and upgraded it: our tables refer to its.
    Raises UnavailableError when a newer version of this package has upgraded the database before.
    """
    async with engine.begin() as connection:
        await connection.run_sync(_upgrade)


async def revisions(engine: AsyncEngine) -> tuple[str | None, str]:
    """Give the database's revision, None when it has none of our tables, and the one that this version needs."""
    async with engine.connect() as connection:
        return await connection.run_sync(_revisions)


def _upgrade(connection: Connection) -> None:
    from alembic import command
    from alembic.util import CommandError

    if connection.dialect.name == "sqlite":
        # Python's sqlite3 starts no transaction for DDL by itself: a server killed here would leave half of our tables,
        # and two servers starting at once would both create them.
        connection.exec_driver_sql("BEGIN IMMEDIATE")
    current, needed = _revisions(connection)
    if current == needed:
        return
    config = _config()
    config.attributes["connection"] = connection
    try:
        command.upgrade(config, "head")
    except CommandError as error:
        raise UnavailableError(
            "The database was used by a newer version of gns3server-copilot. Install that version or a newer one."
        ) from error
    log.info("The copilot's database tables went from revision %s to %s", current, needed)


def _revisions(connection: Connection) -> tuple[str | None, str]:
    from alembic.runtime.migration import MigrationContext
    from alembic.script import ScriptDirectory

    context = MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE})
    needed = ScriptDirectory.from_config(_config()).get_current_head()
    assert needed is not None
    return context.get_current_revision(), needed


def _config() -> Config:
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", "gns3server_copilot.llm:migrations")
    return config
