"""Reads and writes the configurations in gns3-server's database."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from typing import Any

from pydantic import SecretStr
from sqlalchemy import ColumnElement, RowMapping, insert, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from gns3server_copilot.errors import ConflictError, ForbiddenError, InvalidRequestError, NotFoundError
from gns3server_copilot.llm.config import KEYLESS_PROVIDERS, LLMConfig, Owner, StoredConfig
from gns3server_copilot.llm.keys import KeyRing
from gns3server_copilot.llm.migrations import revisions, upgrade
from gns3server_copilot.llm.tables import groups, llm_configs, users
from gns3server_copilot.schemas.llm_configs import CreateLLMConfig

__all__ = ["ConfigStore", "revisions", "upgrade"]


class ConfigStore:
    """The stored configurations of users. Every method is one transaction, and ids are UUID text with dashes."""

    def __init__(self, engine: AsyncEngine, keys: KeyRing) -> None:
        self._engine = engine
        self._keys = keys

    async def create_config(self, owner: Owner, new: CreateLLMConfig) -> StoredConfig:
        """Store a new configuration; as the default it takes the place of the earlier one.

        Raises NotFoundError for an unknown owner, ConflictError when the owner has one of this name.
        """
        token, key_id = await self._keys.encrypt(new.api_key.get_secret_value()) if new.api_key else (None, None)
        config_id, now = str(uuid.uuid4()), datetime.now(UTC)
        row = {
            "config_id": config_id,
            "name": new.name,
            "model_type": new.model_type,
            "config": new.stored(),
            "encrypted_api_key": token,
            "key_id": key_id,
            f"{owner.kind}_id": owner.id,
            "is_default": new.is_default,
            "version": 0,
            "created_at": now,
            "updated_at": now,
        }
        try:
            async with self._engine.begin() as connection:
                await _lock_owner(connection, owner)
                if new.is_default:
                    await _clear_default(connection, owner, now)
                await connection.execute(insert(llm_configs).values(row))
                return await _fetch(connection, config_id)
        except IntegrityError:
            if any(config.name == new.name for config in await self.list_configs(owner)):
                # the database's own message would carry the encrypted key
                raise ConflictError("There is a configuration of this name already. Choose another name.") from None
            raise

    async def list_configs(self, owner: Owner) -> list[StoredConfig]:
        """Give the owner's configurations, oldest first. Raises NotFoundError for an unknown owner."""
        query = select(llm_configs).where(_is_of(owner)).order_by(llm_configs.c.created_at, llm_configs.c.config_id)
        async with self._engine.connect() as connection:
            rows = (await connection.execute(query)).mappings().all()
            if not rows:
                await _require_owner(connection, owner)
        return [_from_row(row) for row in rows]

    async def get_config(self, owner: Owner, config_id: str) -> StoredConfig:
        """Give one. Raises NotFoundError for an unknown id, ForbiddenError when it is somebody else's."""
        async with self._engine.connect() as connection:
            return await _fetch_of(connection, owner, config_id)

    async def set_default(self, owner: Owner, config_id: str) -> StoredConfig:
        """Make a configuration its owner's default; the earlier one stays if that cannot be.

        Raises NotFoundError, ForbiddenError as `get_config` does, InvalidRequestError for models that cannot chat.
        """
        now = datetime.now(UTC)
        async with self._engine.begin() as connection:
            await _lock_owner(connection, owner)
            config = await _fetch_of(connection, owner, config_id)
            if not config.can_chat:
                raise InvalidRequestError("Only text and multimodal models can be the default. Choose another one.")
            if config.is_default:
                return config
            await _clear_default(connection, owner, now)
            await connection.execute(
                update(llm_configs)
                .where(llm_configs.c.config_id == config_id)
                .values(is_default=True, version=llm_configs.c.version + 1, updated_at=now)
            )
            return await _fetch(connection, config_id)

    async def for_use(self, config: StoredConfig) -> LLMConfig:
        """Give a configuration with its key decrypted.

        Raises InvalidRequestError when the key must be entered again, UnavailableError when no key can be read.
        """
        token = config.encrypted_api_key
        if token is None or config.config.get("provider") in KEYLESS_PROVIDERS:
            return LLMConfig.from_stored(config, None)
        return LLMConfig.from_stored(config, SecretStr(await self._keys.decrypt(token)))


def _is_of(owner: Owner) -> ColumnElement[bool]:
    return llm_configs.c[f"{owner.kind}_id"] == owner.id


def _owner_query(owner: Owner) -> Any:
    if owner.kind == "user":
        return select(users.c.user_id).where(users.c.user_id == owner.id)
    return select(groups.c.user_group_id).where(groups.c.user_group_id == owner.id)


async def _require_owner(connection: AsyncConnection, owner: Owner, query: Any = None) -> None:
    if (await connection.execute(_owner_query(owner) if query is None else query)).first() is None:
        raise NotFoundError(f"There is no {owner.kind} with the id {owner.id}.")


async def _lock_owner(connection: AsyncConnection, owner: Owner) -> None:
    """Let changes of one owner's configurations happen one after the other: there is one default among them.

    SQLite has one writer at a time anyway and gets no FOR UPDATE.
    """
    await _require_owner(connection, owner, _owner_query(owner).with_for_update(key_share=True))


async def _clear_default(connection: AsyncConnection, owner: Owner, now: datetime) -> None:
    await connection.execute(
        update(llm_configs)
        .where(_is_of(owner), llm_configs.c.is_default)
        .values(is_default=False, version=llm_configs.c.version + 1, updated_at=now)
    )


async def _fetch(connection: AsyncConnection, config_id: str) -> StoredConfig:
    row = (await connection.execute(select(llm_configs).where(llm_configs.c.config_id == config_id))).mappings().first()
    if row is None:
        raise NotFoundError("This configuration does not exist, or has been deleted. Reload the list.")
    return _from_row(row)


async def _fetch_of(connection: AsyncConnection, owner: Owner, config_id: str) -> StoredConfig:
    config = await _fetch(connection, config_id)
    if config.owner != owner:
        raise ForbiddenError(f"This configuration is not one of this {owner.kind}'s.")
    return config


def _from_row(row: RowMapping) -> StoredConfig:
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
    )
