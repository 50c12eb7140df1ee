"""Rotates the keys that encrypt API keys, beside a running server.

A new key is added to the file, then everything is re-encrypted with it in one transaction, and only then are the older
keys dropped: whenever this is killed, every row can still be read. A running server reads the changed file at its next
use of it, and encrypts only while it holds the database's write lock (see `ConfigStore`), so nothing that it writes
with the old key can come after the re-encryption.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import ColumnElement, select, update
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from gns3server_copilot.errors import InvalidRequestError, UnavailableError
from gns3server_copilot.llm.key_file import add_key, keep_newest_key, locked
from gns3server_copilot.llm.keys import ENVIRONMENT_VARIABLE, KeyRing
from gns3server_copilot.llm.migrations import revisions
from gns3server_copilot.llm.tables import llm_configs

#: Every column that holds something encrypted. A new one must be named here.
ENCRYPTED_COLUMNS = (llm_configs.c.encrypted_api_key, llm_configs.c.encrypted_secrets)


@dataclass(frozen=True)
class Report:
    """How many configurations are encrypted with the newest key and with older ones, and which cannot be read."""

    newest: int = 0
    older: int = 0
    unreadable: tuple[str, ...] = ()


async def report(engine: AsyncEngine, keys: KeyRing) -> Report:
    """Look at every stored configuration that holds something encrypted, changing nothing."""
    newest = older = 0
    unreadable = []
    async with engine.connect() as connection:
        rows = await _encrypted_rows(connection)
    for row in rows:
        tokens = [row[column.name] for column in ENCRYPTED_COLUMNS if row[column.name] is not None]
        states = {keys.state(token) for token in tokens}
        if "unreadable" in states:
            unreadable.append(str(row["name"]))
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
            await connection.exec_driver_sql(f"LOCK TABLE {llm_configs.name} IN EXCLUSIVE MODE")
        for row in await _encrypted_rows(connection):
            values: dict[str, Any] = {}
            for column in ENCRYPTED_COLUMNS:
                token = row[column.name]
                if token is not None and keys.state(token) != "unreadable":
                    values[column.name], values["key_id"] = keys.re_encrypted(token)
            if values:
                await connection.execute(
                    update(llm_configs).where(llm_configs.c.config_id == row["config_id"]).values(values)
                )


async def _encrypted_rows(connection: AsyncConnection) -> list[Any]:
    holds: ColumnElement[bool] = ENCRYPTED_COLUMNS[0].is_not(None)
    for column in ENCRYPTED_COLUMNS[1:]:
        holds |= column.is_not(None)
    query = select(llm_configs.c.config_id, llm_configs.c.name, *ENCRYPTED_COLUMNS).where(holds)
    return list((await connection.execute(query.order_by(llm_configs.c.name))).mappings())


async def require_tables(engine: AsyncEngine) -> None:
    """Raise UnavailableError unless the database has the tables of this version."""
    current, needed = await revisions(engine)
    if current != needed:
        raise UnavailableError(
            f"The copilot's tables in the database are of revision {current or 'none'}, not {needed}. "
            "Start the server once with this version of the copilot, then try again."
        )
