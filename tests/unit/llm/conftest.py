"""Databases as gns3-server makes them, and a store in them."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from gns3server_copilot.llm.config import Owner
from gns3server_copilot.llm.keys import KeyRing
from gns3server_copilot.llm.store import ConfigStore, upgrade
from tests.unit.llm.host_database import Database


@pytest.fixture(scope="session")
def made_by_host(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database file fresh from gns3-server; making one takes a while, because of the admin's password hash."""
    folder = tmp_path_factory.mktemp("host-database")
    database = Database(folder / "gns3_controller.db")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(folder))
        patch.setenv("GNS3_DATABASE_URI", f"sqlite+aiosqlite:///{database.path}")
        asyncio.run(_connect_once(database))
    return database.path


async def _connect_once(database: Database) -> None:
    await database.connect()
    await database.disconnect()


@pytest.fixture
async def host_database(made_by_host: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Database]:
    """A connected database with gns3-server's tables alone."""
    database = Database(tmp_path / "gns3_controller.db")
    shutil.copy(made_by_host, database.path)
    monkeypatch.setenv("GNS3_DATABASE_URI", f"sqlite+aiosqlite:///{database.path}")
    await database.connect()
    yield database
    await database.disconnect()


@pytest.fixture
async def database(host_database: Database) -> Database:
    """A connected database with our tables, too."""
    await upgrade(host_database.engine)
    return host_database


@pytest.fixture
def keys(tmp_path: Path) -> KeyRing:
    """A key ring in a folder of the test's own."""
    (tmp_path / "secrets").mkdir()
    return KeyRing(tmp_path / "secrets", environment={})


@pytest.fixture
def store(database: Database, keys: KeyRing) -> ConfigStore:
    """A store without configurations."""
    return ConfigStore(database.engine, keys)


@pytest.fixture
async def alice(database: Database) -> Owner:
    """A user."""
    return await database.add_user("alice")


@pytest.fixture
async def bob(database: Database) -> Owner:
    """Another user."""
    return await database.add_user("bob")
