"""The rows of `copilot_llm_configs`: how they are read, locked and changed within a transaction.

Changes of one configuration go through one conditional UPDATE on its version, so that of two writers exactly one wins.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, RowMapping, Table, bindparam, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection

from gns3server_copilot.errors import ConflictError, ForbiddenError, NotFoundError
from gns3server_copilot.llm.config import Owner, StoredConfig
from gns3server_copilot.llm.tables import groups, llm_configs, memberships, users


def is_of(owner: Owner) -> ColumnElement[bool]:
    """Give the condition for the owner's rows."""
    return llm_configs.c[f"{owner.kind}_id"] == owner.id


def owner_query(owner: Owner) -> Any:
    """Give the query that finds the owner."""
    if owner.kind == "user":
        return select(users.c.user_id).where(users.c.user_id == owner.id)
    return select(groups.c.user_group_id).where(groups.c.user_group_id == owner.id)


async def require_owner(connection: AsyncConnection, owner: Owner, query: Any = None) -> None:
    """Raise NotFoundError for a user or group that does not exist."""
    if (await connection.execute(owner_query(owner) if query is None else query)).first() is None:
        raise no_such(owner)


def no_such(owner: Owner) -> NotFoundError:
    """Give the error for a user or group that does not exist."""
    return NotFoundError(f"There is no {owner.kind} with the id {owner.id}.")


async def lock_owner(connection: AsyncConnection, owner: Owner) -> None:
    """Let changes of one owner's configurations happen one after the other: there is one default among them.

    SQLite has one writer at a time anyway and gets no FOR UPDATE.
    """
    await require_owner(connection, owner, owner_query(owner).with_for_update(key_share=True))


async def fetch_all(connection: AsyncConnection, condition: ColumnElement[bool]) -> list[StoredConfig]:
    """Give the configurations that fit, oldest first."""
    query = select(llm_configs).where(condition).order_by(llm_configs.c.created_at, llm_configs.c.config_id)
    return [from_row(row) for row in (await connection.execute(query)).mappings()]


_OF_USER_AND_GROUPS = (
    select(llm_configs)
    .outerjoin(
        memberships,
        (memberships.c.user_group_id == llm_configs.c.group_id) & (memberships.c.user_id == bindparam("user")),
    )
    .where((llm_configs.c.user_id == bindparam("user")) | memberships.c.user_id.is_not(None))
    .order_by(llm_configs.c.created_at, llm_configs.c.config_id)
)


def fetch_usable(connection: Connection, user_id: str) -> list[StoredConfig]:
    """Give the configurations of one user and of all their groups, oldest first."""
    return [from_row(row) for row in connection.execute(_OF_USER_AND_GROUPS, {"user": user_id}).mappings()]


async def fetch(connection: AsyncConnection, config_id: str) -> StoredConfig:
    """Give one configuration, whoever owns it. Raises NotFoundError."""
    row = (await connection.execute(select(llm_configs).where(llm_configs.c.config_id == config_id))).mappings().first()
    if row is None:
        raise NotFoundError("This configuration does not exist, or has been deleted. Reload the list.")
    return from_row(row)


async def fetch_of(connection: AsyncConnection, owner: Owner, config_id: str) -> StoredConfig:
    """Give one of the owner's. Raises NotFoundError for an unknown id, ForbiddenError when it is somebody else's."""
    config = await fetch(connection, config_id)
    if config.owner != owner:
        raise ForbiddenError(f"This configuration is not one of this {owner.kind}'s.")
    return config


async def change(connection: AsyncConnection, read: StoredConfig, values: Mapping[str, Any], now: datetime) -> bool:
    """Change a configuration if nobody has since it was read, and count its version up. False: somebody has."""
    changed = await connection.execute(
        update(llm_configs)
        .where(llm_configs.c.config_id == read.config_id, llm_configs.c.version == read.version)
        .values(**values, version=read.version + 1, updated_at=now)
    )
    return bool(changed.rowcount)


async def mark_default(connection: AsyncConnection, config: StoredConfig, now: datetime, *, counts: bool) -> None:
    """Mark a configuration in place of its owner's earlier default.

    `counts` says whether its version grows; it does not as a part of a change that has counted already.
    """
    others = update(llm_configs).where(is_of(config.owner), llm_configs.c.config_id != config.config_id)
    one = update(llm_configs).where(llm_configs.c.config_id == config.config_id)
    next_version = {"version": llm_configs.c.version + 1, "updated_at": now}
    await connection.execute(others.where(llm_configs.c.is_default).values(is_default=False, **next_version))
    await connection.execute(
        one.where(llm_configs.c.is_default.is_(False)).values(is_default=True, **(next_version if counts else {}))
    )


def check_version(config: StoredConfig, expected: int | None) -> None:
    """Raise ConflictError, with the present version, when the client has seen another one."""
    if expected is not None and expected != config.version:
        raise ConflictError(
            f"Somebody else has changed this configuration meanwhile: its version is {config.version}, not {expected}. "
            "Reload it, then repeat your change."
        )


async def insert_if_absent(connection: AsyncConnection, table: Table, values: Mapping[str, Any]) -> None:
    """Insert a row unless there is one of this primary key. Either way the transaction is the one that writes now."""
    statement = _insert(connection, table, values)
    await connection.execute(statement.on_conflict_do_nothing(index_elements=list(table.primary_key)))


async def add_to(connection: AsyncConnection, table: Table, key: Mapping[str, Any], figures: Mapping[str, int]) -> None:
    """Add figures to those of the row of this primary key, or insert it."""
    statement = _insert(connection, table, {**key, **figures})
    added = {name: table.c[name] + statement.excluded[name] for name in figures}
    await connection.execute(statement.on_conflict_do_update(index_elements=list(table.primary_key), set_=added))


def _insert(connection: AsyncConnection, table: Table, values: Mapping[str, Any]) -> Any:
    dialect: Any = postgresql if connection.dialect.name == "postgresql" else sqlite
    return dialect.insert(table).values(**values)


def from_row(row: RowMapping) -> StoredConfig:
    """Give a row as a configuration."""
    owner = Owner("user", row["user_id"]) if row["user_id"] else Owner("group", row["group_id"])
    return StoredConfig(
        config_id=row["config_id"],
        name=row["name"],
        model_type=row["model_type"],
        config=row["config"],
        owner=owner,
        is_default=row["is_default"],
        version=row["version"],
        created_at=row["created_at"],
        updated_at=row["updated_at"],
        encrypted_api_key=row["encrypted_api_key"],
        encrypted_secrets=row["encrypted_secrets"],
    )
