"""What was set for nodes: the family of the device and its credentials, kept in gns3-server's database."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, delete, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from gns3server_copilot.consoles.credentials import StoredCredentials
from gns3server_copilot.errors import InvalidRequestError
from gns3server_copilot.llm.keys import KeyRing
from gns3server_copilot.llm.tables import device_settings
from gns3server_copilot.utils.uncancelled import uncancelled

SECRETS = ("username", "password", "enable_password")


@dataclass(frozen=True)
class DeviceSetting:
    """What is stored for one node. The secrets themselves are read for a session only."""

    family: str | None = None
    has_credentials: bool = False


class DeviceSettings:
    """The stored settings. Every method is one transaction; ids are UUID text with dashes.

    As with API keys, secrets are encrypted after the transaction has begun to write (see `llm.rotation`).
    """

    def __init__(self, engine: AsyncEngine, keys: KeyRing) -> None:
        self._engine = engine
        self._keys = keys

    @uncancelled
    async def of_project(self, project_id: str) -> dict[str, DeviceSetting]:
        """Give what is set for a project's nodes, by node id."""
        async with self._engine.connect() as connection:
            rows = await connection.execute(select(device_settings).where(device_settings.c.project_id == project_id))
            return {
                row["node_id"]: DeviceSetting(row["family"], row["encrypted_secrets"] is not None)
                for row in rows.mappings()
            }

    @uncancelled
    async def credentials(self, project_id: str, node_id: str) -> StoredCredentials:
        """Give what to log in with. Raises InvalidRequestError when it must be entered again, UnavailableError."""
        token = await self._token(project_id, node_id)
        if token is None:
            return StoredCredentials()
        try:
            text = await self._keys.decrypt(token)
        except InvalidRequestError:
            # a rotation may have re-encrypted it, and dropped the old key, since it was read
            now = await self._token(project_id, node_id)
            if now is None or now == token:
                raise InvalidRequestError(
                    "The stored credentials of this device cannot be decrypted any more, because the server's "
                    "encryption key has changed. Set them again in the copilot's device settings."
                ) from None
            text = await self._keys.decrypt(now)
        return StoredCredentials(**json.loads(text))

    @uncancelled
    async def put(self, project_id: str, node_id: str, changes: Mapping[str, str | None]) -> None:
        """Set `family` and secrets; what `changes` does not name stays, and None clears.

        Raises InvalidRequestError when some secrets are to stay that cannot be decrypted any more.
        """
        async with self._engine.begin() as connection:
            await _lock(connection)
            query = select(device_settings).where(_is(project_id, node_id))
            row = (await connection.execute(query)).mappings().one_or_none()
            values: dict[str, Any] = {"updated_at": datetime.now(UTC)}
            if "family" in changes:
                values["family"] = changes["family"]
            given = {name: changes[name] for name in SECRETS if name in changes}
            if given:
                kept = await self._kept(row, given)
                values |= await self._encrypted({**kept, **given})
            if row is None:
                new = {"project_id": project_id, "node_id": node_id, **values}
                await connection.execute(insert(device_settings).values(new))
            else:
                await connection.execute(update(device_settings).where(_is(project_id, node_id)).values(values))

    @uncancelled
    async def delete(self, project_id: str, node_id: str) -> bool:
        """Forget a node's settings; tell whether there were any."""
        async with self._engine.begin() as connection:
            done = await connection.execute(delete(device_settings).where(_is(project_id, node_id)))
        return bool(done.rowcount)

    @uncancelled
    async def forget_others(self, project_id: str, node_ids: Collection[str]) -> None:
        """Forget the settings of all nodes that the project does not have any more; with none given, of all."""
        gone = device_settings.c.node_id.not_in(list(node_ids))
        async with self._engine.begin() as connection:
            await connection.execute(delete(device_settings).where((device_settings.c.project_id == project_id) & gone))

    async def _token(self, project_id: str, node_id: str) -> str | None:
        query = select(device_settings.c.encrypted_secrets).where(_is(project_id, node_id))
        async with self._engine.connect() as connection:
            return (await connection.execute(query)).scalar_one_or_none()

    async def _kept(self, row: Any, given: Mapping[str, str | None]) -> dict[str, str | None]:
        if row is None or row["encrypted_secrets"] is None or set(SECRETS) <= given.keys():
            return {}
        try:
            return asdict(StoredCredentials(**json.loads(await self._keys.decrypt(row["encrypted_secrets"]))))
        except InvalidRequestError:
            raise InvalidRequestError(
                "The stored credentials cannot be decrypted any more. Enter all of them again."
            ) from None

    async def _encrypted(self, secrets: Mapping[str, str | None]) -> dict[str, str | None]:
        set_ones = {name: secret for name, secret in secrets.items() if secret is not None}
        if not set_ones:
            return {"encrypted_secrets": None, "key_id": None}
        token, key_id = await self._keys.encrypt(json.dumps(set_ones))
        return {"encrypted_secrets": token, "key_id": key_id}


def _is(project_id: str, node_id: str) -> ColumnElement[bool]:
    return (device_settings.c.project_id == project_id) & (device_settings.c.node_id == node_id)


async def _lock(connection: AsyncConnection) -> None:
    """Begin to write before anything is encrypted."""
    if connection.dialect.name == "sqlite":
        await connection.exec_driver_sql("BEGIN IMMEDIATE")
    else:
        await connection.exec_driver_sql(f"LOCK TABLE {device_settings.name} IN ROW EXCLUSIVE MODE")
