"""Rotates the keys that encrypt API keys and devices' credentials, beside a running server.

A new key is added to the file, then everything is re-encrypted with it in one transaction, and only then are the older
keys dropped: whenever this is killed, every row can still be read. A running server reads the changed file at its next
use of it, and encrypts only while it holds the database's write lock (see `ConfigStore`), so nothing that it writes
with the old key can come after the re-encryption.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import ColumnElement, Table, and_, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from gns3server_copilot.errors import InvalidRequestError, UnavailableError
from gns3server_copilot.llm.key_file import add_key, keep_newest_key, locked
from gns3server_copilot.llm.keys import ENVIRONMENT_VARIABLE, KeyRing
from gns3server_copilot.llm.migrations import revisions
from gns3server_copilot.llm.tables import device_settings, llm_configs

#: Every column that holds something encrypted, by table. A new one must be named here.
ENCRYPTED_COLUMNS = {
    llm_configs: (llm_configs.c.encrypted_api_key, llm_configs.c.encrypted_secrets),
    device_settings: (device_settings.c.encrypted_secrets,),
}
#: What a row is called in a report: a configuration's name, a node's id.
NAMES: dict[Table, ColumnElement[Any]] = {llm_configs: llm_configs.c.name, device_settings: device_settings.c.node_id}
SHOWN_NAME = "shown_name"


@dataclass(frozen=True)
class Report:
    """How many rows are encrypted with the newest key and with older ones, and which cannot be read, by name."""

    newest: int = 0
    older: int = 0
    unreadable: tuple[str, ...] = ()


async def report(engine: AsyncEngine, keys: KeyRing) -> Report:
    """Look at everything stored that holds something encrypted, changing nothing."""
    newest = older = 0
    unreadable = []
    async with engine.connect() as connection:
        for table, columns in ENCRYPTED_COLUMNS.items():
            for row in await _encrypted_rows(connection, table):
                states = {keys.state(row[column.name]) for column in columns if row[column.name] is not None}
                if "unreadable" in states:
                    unreadable.append(str(row[SHOWN_NAME]))
                elif "older" in states:
                    older += 1
                else:
                    newest += 1
    return Report(newest, older, tuple(unreadable))


async def rotate(engine: AsyncEngine, secrets_dir: Path, keys: KeyRing) -> Report:
    """Encrypt everything with a new key and drop the older ones. What cannot be read stays as it is.

    With keys from the environment variable everything is re-encrypted with the first of them. Raises
    InvalidRequestError when there is nothing to rotate, ConflictError when another process rotates,
    UnavailableError when keys or database cannot be used.
    """
    await require_tables(engine)
    if keys.from_environment:
        return await _rotate_to_first_of_environment(engine, keys)
    with locked(secrets_dir):
        before = await report(engine, keys)
        if not before.newest + before.older:
            raise InvalidRequestError(
                "No stored API key can be read with the present keys, so there is none to rotate."
            )
        add_key(secrets_dir)
        await _re_encrypt(engine, keys)
        after = await report(engine, keys)
        if after.older:
            raise UnavailableError("Not everything could be re-encrypted, so the older keys were kept. Try again.")
        keep_newest_key(secrets_dir)
        return after


async def _rotate_to_first_of_environment(engine: AsyncEngine, keys: KeyRing) -> Report:
    if keys.status().keys < 2:
        raise InvalidRequestError(
            f"The key comes from {ENVIRONMENT_VARIABLE}, which only you can change: put a new key before the present "
            "one, with a comma between them, restart the server, then run this again."
        )
    await _re_encrypt(engine, keys)
    return await report(engine, keys)


async def _re_encrypt(engine: AsyncEngine, keys: KeyRing) -> None:
    async with engine.begin() as connection:
        if connection.dialect.name == "sqlite":
            await connection.exec_driver_sql("BEGIN IMMEDIATE")
        else:
            # waits for those who write, who have used the older key, and lets nobody begin to
            names = ", ".join(table.name for table in ENCRYPTED_COLUMNS)
            await connection.exec_driver_sql(f"LOCK TABLE {names} IN EXCLUSIVE MODE")
        for table, columns in ENCRYPTED_COLUMNS.items():
            for row in await _encrypted_rows(connection, table):
                values: dict[str, Any] = {}
                for column in columns:
                    token = row[column.name]
                    if token is not None and keys.state(token) != "unreadable":
                        values[column.name], values["key_id"] = keys.re_encrypted(token)
                if values:
                    this_row = and_(*(column == row[column.name] for column in table.primary_key))
                    await connection.execute(update(table).where(this_row).values(values))


async def _encrypted_rows(connection: AsyncConnection, table: Table) -> list[Any]:
    columns = ENCRYPTED_COLUMNS[table]
    shown = NAMES[table].label(SHOWN_NAME)
    query = select(*table.primary_key, *columns, shown).where(or_(*(column.is_not(None) for column in columns)))
    return list((await connection.execute(query.order_by(shown))).mappings())


async def require_tables(engine: AsyncEngine) -> None:
    """Raise UnavailableError unless the database has the tables of this version."""
    current, needed = await revisions(engine)
    if current != needed:
        raise UnavailableError(
            f"The copilot's tables in the database are of revision {current or 'none'}, not {needed}. "
            "Start the server once with this version of the copilot, then try again."
        )
