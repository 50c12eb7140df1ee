"""The subcommand `keys`, and what the doctor says of stored keys."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

import pytest
from cryptography.fernet import Fernet

from gns3server_copilot.commands.doctor import data
from gns3server_copilot.commands.doctor.findings import Mark
from gns3server_copilot.commands.doctor.host_files import DATABASE_FILE, find_host_files
from gns3server_copilot.llm.keys import KEY_FILE, KeyRing
from gns3server_copilot.llm.store import ConfigStore, upgrade
from tests.unit.commands.fake_copilot import run_command
from tests.unit.llm.host_database import Database
from tests.unit.llm.samples import new


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home's configuration folder with a database of gns3-server in it."""
    made = tmp_path / ".config" / "GNS3" / "3.0"
    made.mkdir(parents=True)
    (made / "gns3_server.conf").touch()
    monkeypatch.setenv("GNS3_DATABASE_URI", f"sqlite+aiosqlite:///{made / DATABASE_FILE}")

    async def connect() -> None:
        database = Database(made / DATABASE_FILE)
        await database.connect()
        await upgrade(database.engine)
        await database.disconnect()

    asyncio.run(connect())
    return made


def store_keys(folder: Path, *names: str) -> None:
    """Store configurations with keys."""

    async def store() -> None:
        database = Database(folder / DATABASE_FILE)
        await database.connect()
        group = await database.add_group(names[0])
        for name in names:
            new_config = new(name, api_key="sk-0123456789")
            await ConfigStore(database.engine, KeyRing(folder, {})).create_config(group, new_config)
        await database.disconnect()

    asyncio.run(store())


def found_by_doctor(home: Path) -> list[tuple[Mark, str]]:
    files = find_host_files({}, home=home, directory=home, version="3.0.6")
    return [(one.mark, one.text) for one in data.check_stored_keys(files)]


def test_status_and_rotation(folder: Path, tmp_path: Path) -> None:
    store_keys(folder, "one", "two")
    key = (folder / KEY_FILE).read_text().strip()
    shown = run_command(tmp_path, "keys", "status")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert f"Keys: 1 in {folder / KEY_FILE}." in shown.stdout
    assert "2 encrypted with the newest key, 0 with an older one" in shown.stdout
    done = run_command(tmp_path, "keys", "rotate")
    assert (done.returncode, done.stderr) == (0, "")
    assert "2 are now encrypted with the newest key" in done.stdout
    now = (folder / KEY_FILE).read_text().strip()
    assert now != key
    assert not any(one in shown.stdout + done.stdout for one in (key, now))
    assert found_by_doctor(tmp_path) == [(Mark.GOOD, "Stored API keys: 2, all can be decrypted.")]


def test_an_interrupted_rotation_is_said(folder: Path, tmp_path: Path) -> None:
    store_keys(folder, "one")
    file = folder / KEY_FILE
    file.write_text(f"{Fernet.generate_key().decode()}\n{file.read_text()}")
    shown = run_command(tmp_path, "keys", "status")
    assert shown.returncode == 0
    assert "0 encrypted with the newest key, 1 with an older one" in shown.stdout
    assert "Run: gns3server-copilot keys rotate" in shown.stdout
    assert found_by_doctor(tmp_path)[0][0] is Mark.NOTE


def test_what_cannot_be_decrypted_is_named(folder: Path, tmp_path: Path) -> None:
    store_keys(folder, "lost")
    (folder / KEY_FILE).unlink()
    store_keys(folder, "kept")
    for action in ("status", "rotate"):
        shown = run_command(tmp_path, "keys", action)
        assert shown.returncode == 1
        assert "in these configurations and nodes: lost." in shown.stdout
    [(mark, text)] = found_by_doctor(tmp_path)
    assert mark is Mark.WRONG
    assert "lost" in text and "kept" not in text


def test_a_damaged_key_file_is_said(folder: Path, tmp_path: Path) -> None:
    store_keys(folder, "one")
    (folder / KEY_FILE).write_text("damaged")
    shown = run_command(tmp_path, "keys", "status")
    assert (shown.returncode, "is damaged" in shown.stdout) == (1, True)
    assert run_command(tmp_path, "keys", "rotate").returncode == 1
    assert (folder / KEY_FILE).read_text() == "damaged"


def test_without_a_database_it_says_how_to_name_one(tmp_path: Path) -> None:
    for action in ("status", "rotate"):
        shown = run_command(tmp_path, "keys", action)
        assert shown.returncode == 1
        assert "GNS3_DATABASE_URI" in shown.stderr
    assert found_by_doctor(tmp_path) == []


def test_a_database_of_another_version_is_said(folder: Path, tmp_path: Path) -> None:
    with sqlite3.connect(folder / DATABASE_FILE) as database:
        database.execute("UPDATE copilot_alembic_version SET version_num = '0001'")
    for action in ("status", "rotate"):
        shown = run_command(tmp_path, "keys", action)
        assert (shown.returncode, "Start the server once" in shown.stderr) == (1, True)


def test_a_password_in_the_databases_address_is_not_shown(tmp_path: Path) -> None:
    address = "postgresql+nodriver://gns3:pass-word@127.0.0.1:1/x"
    shown = run_command(tmp_path, "keys", "status", GNS3_DATABASE_URI=address)
    assert shown.returncode == 1
    assert "pass-word" not in shown.stdout + shown.stderr
    assert "Traceback" not in shown.stderr


def test_an_action_is_needed(tmp_path: Path) -> None:
    assert run_command(tmp_path, "keys").returncode == 2
