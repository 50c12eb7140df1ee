"""What is set for nodes, and that its secrets are encrypted and rotated as API keys are."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import text

from gns3server_copilot.consoles.credentials import StoredCredentials
from gns3server_copilot.consoles.device_settings import DeviceSetting, DeviceSettings
from gns3server_copilot.errors import InvalidRequestError
from gns3server_copilot.llm.key_file import locked
from gns3server_copilot.llm.keys import KEY_FILE, KeyRing
from gns3server_copilot.llm.rotation import Report, report, rotate
from gns3server_copilot.llm.store import ConfigStore
from tests.unit.llm.host_database import Database

PROJECT, NODE, OTHER = (f"{n}1111111-2222-3333-4444-555555555555" for n in "123")
SECRETS = {"username": "ann", "password": "s3cret-0123456789", "enable_password": ""}


@pytest.fixture
def settings(database: Database, store: ConfigStore, keys: KeyRing) -> DeviceSettings:
    return DeviceSettings(database.engine, keys)


async def test_what_is_left_out_stays_and_none_clears(settings: DeviceSettings) -> None:
    await settings.put(PROJECT, NODE, {"family": "frr", **SECRETS})
    assert await settings.of_project(PROJECT) == {NODE: DeviceSetting("frr", True)}
    assert await settings.credentials(PROJECT, NODE) == StoredCredentials(**SECRETS)
    await settings.put(PROJECT, NODE, {"password": None})
    assert await settings.credentials(PROJECT, NODE) == StoredCredentials("ann", None, "")
    await settings.put(PROJECT, NODE, dict.fromkeys(("family", *SECRETS)))
    assert await settings.of_project(PROJECT) == {NODE: DeviceSetting(None, False)}
    assert await settings.credentials(PROJECT, NODE) == StoredCredentials()


async def test_nothing_is_set_for_other_nodes(settings: DeviceSettings) -> None:
    await settings.put(PROJECT, NODE, SECRETS)
    assert await settings.of_project(OTHER) == {}
    assert await settings.credentials(PROJECT, OTHER) == StoredCredentials()


async def test_they_are_forgotten_one_by_one_and_with_what_they_were_for(settings: DeviceSettings) -> None:
    for node in (NODE, OTHER):
        await settings.put(PROJECT, node, {"family": "frr"})
        await settings.put(OTHER, node, {"family": "vyos"})
    assert await settings.delete(PROJECT, NODE) is True
    assert await settings.delete(PROJECT, NODE) is False
    await settings.forget_others(PROJECT, [NODE])
    assert await settings.of_project(PROJECT) == {}
    assert set(await settings.of_project(OTHER)) == {NODE, OTHER}
    await settings.forget_others(OTHER, ())
    assert await settings.of_project(OTHER) == {}


async def test_no_secret_is_in_the_database(settings: DeviceSettings, database: Database) -> None:
    await settings.put(PROJECT, NODE, SECRETS)
    async with database.engine.connect() as connection:
        [row] = (await connection.execute(text("SELECT * FROM copilot_device_settings"))).mappings().all()
    assert "s3cret" not in str(dict(row)) and "ann" not in str(dict(row))
    assert row["key_id"]


async def test_secrets_are_rotated_with_the_keys(
    settings: DeviceSettings, database: Database, keys: KeyRing, tmp_path: Path
) -> None:
    await settings.put(PROJECT, NODE, SECRETS)
    secrets_dir = tmp_path / "secrets"
    before = (secrets_dir / KEY_FILE).read_text()
    assert await rotate(database.engine, secrets_dir, keys) == Report(newest=1)
    assert (secrets_dir / KEY_FILE).read_text() != before
    assert await settings.credentials(PROJECT, NODE) == StoredCredentials(**SECRETS)
    with locked(secrets_dir):
        (secrets_dir / KEY_FILE).write_text(before)
    assert await report(database.engine, keys) == Report(unreadable=(NODE,))
    with pytest.raises(InvalidRequestError, match="Set them again"):
        await settings.credentials(PROJECT, NODE)
    with pytest.raises(InvalidRequestError, match="Enter all of them again"):
        await settings.put(PROJECT, NODE, {"password": "new"})
    await settings.put(PROJECT, NODE, {**SECRETS, "password": "new"})
    assert (await settings.credentials(PROJECT, NODE)).password == "new"
