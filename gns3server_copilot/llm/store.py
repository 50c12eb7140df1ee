"""Reads and writes the configurations in gns3-server's database."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from pydantic import SecretStr
from sqlalchemy import delete, insert, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from gns3server_copilot.errors import ConflictError, ForbiddenError, InvalidRequestError
from gns3server_copilot.llm import preferences
from gns3server_copilot.llm.config import KEYLESS_PROVIDERS, LLMConfig, Owner, StoredConfig
from gns3server_copilot.llm.inheritance import UserConfigs, read_shown, read_user_configs
from gns3server_copilot.llm.keys import KeyRing
from gns3server_copilot.llm.merge import merge
from gns3server_copilot.llm.migrations import revisions, upgrade
from gns3server_copilot.llm.rows import (
    change,
    check_version,
    fetch,
    fetch_all,
    fetch_of,
    is_of,
    lock_owner,
    mark_default,
    require_owner,
)
from gns3server_copilot.llm.tables import llm_configs
from gns3server_copilot.schemas.llm_config_changes import UpdateLLMConfig
from gns3server_copilot.schemas.llm_configs import SECRET_FIELDS, CreateLLMConfig
from gns3server_copilot.schemas.modes import Mode
from gns3server_copilot.utils.reading import read
from gns3server_copilot.utils.uncancelled import uncancelled

__all__ = ["ConfigStore", "revisions", "upgrade"]

#: How often a change without an expected version is tried anew because others came first. Each of them got through.
ATTEMPTS = 100


class ConfigStore:
    """The stored configurations of users and groups. Every method is one transaction; ids are UUID text with dashes.

    Secrets are encrypted after the transaction has begun to write. A rotation of the keys makes the new key known
    before it begins to write, so what is written before the rotation is re-encrypted by it, and what is written after
    it uses the new key.
    """

    def __init__(self, engine: AsyncEngine, keys: KeyRing) -> None:
        self._engine = engine
        self._keys = keys

    # -- reading

    @uncancelled
    async def list_configs(self, owner: Owner) -> list[StoredConfig]:
        """Give the owner's configurations, oldest first. Raises NotFoundError for an unknown owner."""
        async with self._engine.connect() as connection:
            found = await fetch_all(connection, is_of(owner))
            if not found:
                await require_owner(connection, owner)
        return await self._checked(found)

    async def user_configs(self, user_id: str) -> UserConfigs:
        """Give all that a user may use, own and inherited. Raises NotFoundError for an unknown user."""
        found = await self.usable_configs(user_id)
        checked = await self._checked(found)
        return replace(
            found,
            own=tuple(config for config in checked if config.owner.kind == "user"),
            inherited=tuple(config for config in checked if config.owner.kind == "group"),
        )

    async def usable_configs(self, user_id: str) -> UserConfigs:
        """Give the same as `user_configs`, without looking whether the keys can be decrypted: `for_use` finds out."""
        return await read(self._engine, lambda connection: read_user_configs(connection, user_id))

    @uncancelled
    async def get_config(self, owner: Owner, config_id: str) -> StoredConfig:
        """Give one. Raises NotFoundError for an unknown id, ForbiddenError when it is somebody else's."""
        async with self._engine.connect() as connection:
            found = await fetch_of(connection, owner, config_id)
        return (await self._checked([found]))[0]

    @uncancelled
    async def user_config(self, user_id: str, config_id: str) -> StoredConfig:
        """Give one that the user may use, own or inherited. Raises NotFoundError, ForbiddenError as `get_config`."""
        return await self.require(await self.user_configs(user_id), config_id)

    @uncancelled
    async def require(self, usable: UserConfigs, config_id: str) -> StoredConfig:
        """Give one of a user's. Raises NotFoundError when there is none of this id, ForbiddenError when it is not."""
        found = usable.get(config_id)
        if found is None:
            async with self._engine.connect() as connection:
                await fetch(connection, config_id)
            raise ForbiddenError("This configuration is neither this user's nor one of a group of theirs.")
        return found

    @uncancelled
    async def for_use(self, config: StoredConfig) -> LLMConfig:
        """Give a configuration with its secrets decrypted.

        Raises InvalidRequestError when the key must be entered again, UnavailableError when no key can be read.
        """
        try:
            return await self._decrypted(config)
        except InvalidRequestError:
            # a rotation may have re-encrypted it, and dropped the old key, since it was read
            async with self._engine.connect() as connection:
                now = await fetch(connection, config.config_id)
            if now.encrypted == config.encrypted:
                raise
            return await self._decrypted(
                replace(config, encrypted_api_key=now.encrypted_api_key, encrypted_secrets=now.encrypted_secrets)
            )

    # -- writing

    @uncancelled
    async def create_config(self, owner: Owner, new: CreateLLMConfig) -> StoredConfig:
        """Store a new configuration; as the default it takes the place of the earlier one.

        Raises NotFoundError for an unknown owner, ConflictError when the owner has one of this name.
        """
        config_id, now = str(uuid.uuid4()), datetime.now(UTC)
        row = {
            "config_id": config_id,
            "name": new.name,
            "model_type": new.model_type,
            "config": new.stored(),
            f"{owner.kind}_id": owner.id,
            "is_default": False,
            "version": 0,
            "created_at": now,
            "updated_at": now,
        }
        try:
            async with self._engine.begin() as connection:
                await lock_owner(connection, owner)
                await connection.execute(insert(llm_configs).values(row))
                made = await fetch(connection, config_id)
                await self._encrypt(connection, made, {"api_key": new.api_key, **new.secrets})
                if new.is_default:
                    await self._make_default(connection, made, now)
                return await fetch(connection, config_id)
        except IntegrityError:
            await self._explain_clash(owner, new.name)
            raise

    @uncancelled
    async def update_config(
        self, owner: Owner, config_id: str, given: UpdateLLMConfig, expected: int | None = None
    ) -> StoredConfig:
        """Change what the request carries. `expected` is the version that the client has seen.

        Raises InvalidFieldError, NotFoundError, ForbiddenError, and ConflictError when the version is another one or
        the owner has another configuration of the new name.
        """
        try:
            for _ in range(ATTEMPTS):
                async with self._engine.begin() as connection:
                    await lock_owner(connection, owner)
                    read = await fetch_of(connection, owner, config_id)
                    check_version(read, expected)
                    changed = await self._change(connection, read, given)
                if changed:
                    return (await self._checked([changed]))[0]
        except IntegrityError:
            await self._explain_clash(owner, str(given.given.get("name", "")), config_id)
            raise
        raise ConflictError("Too many others are changing this configuration at once. Try again in a moment.")

    @uncancelled
    async def delete_config(self, owner: Owner, config_id: str, expected: int | None = None) -> None:
        """Delete one. Raises NotFoundError, ForbiddenError, and ConflictError when the version is another one."""
        for _ in range(ATTEMPTS):
            async with self._engine.begin() as connection:
                await lock_owner(connection, owner)
                read = await fetch_of(connection, owner, config_id)
                check_version(read, expected)
                gone = await connection.execute(
                    delete(llm_configs).where(
                        llm_configs.c.config_id == config_id, llm_configs.c.version == read.version
                    )
                )
            if gone.rowcount:
                return
        raise ConflictError("Too many others are changing this configuration at once. Try again in a moment.")

    @uncancelled
    async def set_default(self, owner: Owner, config_id: str) -> StoredConfig:
        """Make a configuration its owner's default; the earlier one stays if that cannot be.

        Raises NotFoundError, ForbiddenError as `get_config` does, InvalidRequestError for models that cannot chat.
        """
        now = datetime.now(UTC)
        async with self._engine.begin() as connection:
            await lock_owner(connection, owner)
            read = await fetch_of(connection, owner, config_id)
            _require_chat(read)
            await mark_default(connection, read, now, counts=True)
            if owner.kind == "user":
                await preferences.choose_default(connection, owner.id, config_id, now)
            made = await fetch(connection, config_id)
        return (await self._checked([made]))[0]

    @uncancelled
    async def choose_inherited_default(self, user_id: str, config_id: str) -> None:
        """Make a group's configuration, which the user has been found to inherit, the user's default.

        Raises InvalidRequestError for models that cannot chat.
        """
        async with self._engine.begin() as connection:
            _require_chat(await fetch(connection, config_id))
            await preferences.choose_default(connection, user_id, config_id, datetime.now(UTC))

    @uncancelled
    async def forget_default(self, user_id: str) -> None:
        """Forget which configuration the user has chosen as the default; an own one is no longer marked either."""
        now = datetime.now(UTC)
        owner = Owner("user", user_id)
        async with self._engine.begin() as connection:
            await lock_owner(connection, owner)
            chosen = (await connection.run_sync(preferences.read_preferences, user_id)).default_config_id
            if chosen is None:
                return
            await preferences.choose_default(connection, user_id, None, now)
            await connection.execute(
                update(llm_configs)
                .where(is_of(owner), llm_configs.c.config_id == chosen, llm_configs.c.is_default)
                .values(is_default=False, version=llm_configs.c.version + 1, updated_at=now)
            )

    @uncancelled
    async def choose_mode(self, user_id: str, config_id: str, mode: Mode, expected: int | None = None) -> None:
        """Remember the user's own mode of a configuration that the user has been found to inherit.

        The group's configuration stays as it is. Raises ConflictError when its version is not the expected one.
        """
        async with self._engine.begin() as connection:
            check_version(await fetch(connection, config_id), expected)
            await preferences.choose_mode(connection, user_id, config_id, mode, datetime.now(UTC))

    # -- parts of transactions

    async def _change(
        self, connection: AsyncConnection, read: StoredConfig, given: UpdateLLMConfig
    ) -> StoredConfig | None:
        """Change a configuration if it is still what was read; None when it is not."""
        now = datetime.now(UTC)
        wanted = merge(read, await read_shown(connection, read), given)
        values: dict[str, Any] = {"name": wanted.name, "model_type": wanted.model_type, "config": wanted.config}
        if wanted.is_default is False:
            values["is_default"] = False
        if wanted.forget_secrets:
            values["encrypted_secrets"] = None
        if not await change(connection, read, values, now):
            return None
        await self._encrypt(connection, read, wanted.encrypted)
        if wanted.is_default:
            await self._make_default(connection, read, now)
        elif wanted.is_default is False and read.owner.kind == "user":
            await preferences.choose_default(connection, read.owner.id, None, now)
        return await fetch(connection, read.config_id)

    async def _make_default(self, connection: AsyncConnection, config: StoredConfig, now: datetime) -> None:
        await mark_default(connection, config, now, counts=False)
        if config.owner.kind == "user":
            await preferences.forget_other_default(connection, config.owner.id, config.config_id, now)

    async def _encrypt(
        self, connection: AsyncConnection, config: StoredConfig, secrets: Mapping[str, SecretStr | None]
    ) -> None:
        """Store what is given, encrypted; None removes it, and what is not named stays."""
        values: dict[str, str | None] = {}
        if "api_key" in secrets:
            values["encrypted_api_key"] = await self._token(values, secrets["api_key"])
        others = {name: secret for name, secret in secrets.items() if name != "api_key"}
        if others:
            # read under the lock: a rotation may have encrypted them anew, or this change has removed them
            kept = await self._kept_secrets(await fetch(connection, config.config_id), others) | others
            left = {name: secret.get_secret_value() for name, secret in kept.items() if secret is not None}
            values["encrypted_secrets"] = await self._token(values, SecretStr(json.dumps(left)) if left else None)
        if values:
            await connection.execute(
                update(llm_configs).where(llm_configs.c.config_id == config.config_id).values(**values)
            )

    async def _token(self, values: dict[str, str | None], secret: SecretStr | None) -> str | None:
        if secret is None:
            return None
        token, values["key_id"] = await self._keys.encrypt(secret.get_secret_value())
        return token

    # -- decrypting

    async def _decrypted(self, config: StoredConfig) -> LLMConfig:
        token, provider = config.encrypted_api_key, config.config.get("provider")
        key = None if token is None or provider in KEYLESS_PROVIDERS else SecretStr(await self._keys.decrypt(token))
        return LLMConfig.from_stored(config, key, await self._secrets(config))

    async def _secrets(self, config: StoredConfig) -> dict[str, SecretStr]:
        if config.encrypted_secrets is None:
            return {}
        stored = json.loads(await self._keys.decrypt(config.encrypted_secrets))
        return {name: SecretStr(secret) for name, secret in stored.items()}

    async def _kept_secrets(
        self, config: StoredConfig, given: Mapping[str, SecretStr | None]
    ) -> dict[str, SecretStr | None]:
        try:
            return dict(await self._secrets(config))
        except InvalidRequestError:
            if set(SECRET_FIELDS) <= given.keys():
                return {}
            raise InvalidRequestError(
                "The stored credentials cannot be decrypted any more. Enter all of them again."
            ) from None

    async def _checked(self, configs: Iterable[StoredConfig]) -> list[StoredConfig]:
        """Find out which keys cannot be decrypted any more."""
        checked = await self._with_key_errors(configs)
        if any(config.key_error for config in checked):
            # a rotation may have re-encrypted them, and dropped the old key, since they were read
            ids = [config.config_id for config in checked]
            query = select(llm_configs.c.config_id, llm_configs.c.encrypted_api_key, llm_configs.c.encrypted_secrets)
            async with self._engine.connect() as connection:
                rows = (await connection.execute(query.where(llm_configs.c.config_id.in_(ids)))).mappings()
                tokens = {row["config_id"]: row for row in rows}
            checked = await self._with_key_errors(replace(one, **tokens.get(one.config_id, {})) for one in checked)
        return checked

    async def _with_key_errors(self, configs: Iterable[StoredConfig]) -> list[StoredConfig]:
        listed = list(configs)
        readable = await self._keys.readable([token for config in listed for token in config.encrypted])
        return [replace(config, key_error=not readable.issuperset(config.encrypted)) for config in listed]

    async def _explain_clash(self, owner: Owner, name: str, config_id: str | None = None) -> None:
        """Raise ConflictError when another configuration has the name: the database's text would carry secrets."""
        if any(one.name == name and one.config_id != config_id for one in await self.list_configs(owner)):
            raise ConflictError("There is a configuration of this name already. Choose another name.") from None


def _require_chat(config: StoredConfig) -> None:
    if not config.can_chat:
        raise InvalidRequestError("Only text and multimodal models can be the default. Choose another one.")
