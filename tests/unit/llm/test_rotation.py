"""Keys are rotated beside a running server, and whenever that is killed every row can still be read."""

from __future__ import annotations

import asyncio
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cryptography.fernet import Fernet
from pydantic import SecretStr
from sqlalchemy import text

from gns3server_copilot.errors import ConflictError, InvalidRequestError, UnavailableError
from gns3server_copilot.llm.config import Owner
from gns3server_copilot.llm.key_file import locked
from gns3server_copilot.llm.keys import ENVIRONMENT_VARIABLE, KEY_FILE, KeyRing
from gns3server_copilot.llm.rotation import ENCRYPTED_COLUMNS, Report, report, rotate
from gns3server_copilot.llm.store import ConfigStore
from gns3server_copilot.llm.tables import metadata
from gns3server_copilot.schemas.llm_config_changes import UpdateLLMConfig
from tests.unit.llm.host_database import Database
from tests.unit.llm.samples import new

AWS = {"aws_access_key_id": "AKIA0123456789", "aws_secret_access_key": "aws-secret-0123456789"}


@pytest.fixture
def secrets_dir(tmp_path: Path, keys: KeyRing) -> Path:
    return tmp_path / "secrets"


async def fill(store: ConfigStore, owner: Owner, count: int = 5) -> None:
    """Store configurations with keys, one with aws credentials, one without anything."""
    for number in range(count):
        await store.create_config(owner, new(f"c{number}", api_key=f"sk-key-of-c{number}"))
    await store.create_config(owner, new("aws", provider="aws", **AWS))
    await store.create_config(owner, new("none"))


async def readable_keys(store: ConfigStore, owner: Owner) -> dict[str, str | None]:
    """Give the key of each configuration."""
    found = {}
    for config in await store.list_configs(owner):
        assert not config.key_error
        used = await store.for_use(config)
        secrets = {name: secret.get_secret_value() for name, secret in used.secrets.items()}
        assert secrets == (AWS if config.name == "aws" else {})
        found[config.name] = used.api_key.get_secret_value() if used.api_key else None
    return found


async def test_everything_is_encrypted_with_a_new_key_and_the_old_one_is_gone(
    database: Database, store: ConfigStore, keys: KeyRing, alice: Owner, secrets_dir: Path
) -> None:
    await fill(store, alice)
    before = await readable_keys(store, alice)
    versions = [config.version for config in await store.list_configs(alice)]
    old = (secrets_dir / KEY_FILE).read_text().split()
    assert await rotate(database.engine, secrets_dir, keys) == Report(newest=6)
    [now] = (secrets_dir / KEY_FILE).read_text().split()
    assert now not in old
    assert stat.S_IMODE((secrets_dir / KEY_FILE).stat().st_mode) == 0o600
    assert os.listdir(secrets_dir) == [KEY_FILE]
    assert await readable_keys(store, alice) == before
    assert [config.version for config in await store.list_configs(alice)] == versions
    (secrets_dir / KEY_FILE).write_text(old[0])
    assert (await report(database.engine, keys)).newest == 0
    async with database.engine.connect() as connection:
        ids = (await connection.execute(text("SELECT DISTINCT key_id FROM copilot_llm_configs"))).scalars().all()
    assert len([one for one in ids if one]) == 1


async def test_another_server_on_the_same_files_follows(
    database: Database, store: ConfigStore, keys: KeyRing, alice: Owner, secrets_dir: Path
) -> None:
    await fill(store, alice)
    running = ConfigStore(database.engine, KeyRing(secrets_dir, environment={}))
    before = await readable_keys(running, alice)
    listed = await running.list_configs(alice)
    await rotate(database.engine, secrets_dir, keys)
    # what was read before the rotation, and is used after it
    assert (await running.for_use(listed[0])).api_key == SecretStr("sk-key-of-c0")
    assert await readable_keys(running, alice) == before
    await running.create_config(alice, new("later", api_key="sk-later"))
    assert await report(database.engine, keys) == Report(newest=7)


async def test_an_unreadable_row_stays_as_it_is_and_is_named(
    database: Database, store: ConfigStore, keys: KeyRing, alice: Owner, secrets_dir: Path
) -> None:
    lost = await store.create_config(alice, new("lost", api_key="sk-lost"))
    (secrets_dir / KEY_FILE).unlink()
    await store.create_config(alice, new("kept", api_key="sk-kept"))
    assert await report(database.engine, keys) == Report(1, 0, ("lost",))
    assert await rotate(database.engine, secrets_dir, keys) == Report(1, 0, ("lost",))
    states = {config.name: config for config in await store.list_configs(alice)}
    assert (states["lost"].key_error, states["kept"].key_error) == (True, False)
    assert states["lost"].encrypted_api_key == lost.encrypted_api_key


async def test_without_anything_to_rotate_nothing_changes(
    database: Database, store: ConfigStore, keys: KeyRing, alice: Owner, secrets_dir: Path
) -> None:
    with pytest.raises(InvalidRequestError, match="none to rotate"):
        await rotate(database.engine, secrets_dir, keys)
    assert os.listdir(secrets_dir) == []
    await store.create_config(alice, new(api_key="sk-0123456789"))
    kept = (secrets_dir / KEY_FILE).read_text()
    # the wrong database, as when the server's environment names another one
    await store.delete_config(alice, (await store.list_configs(alice))[0].config_id)
    with pytest.raises(InvalidRequestError, match="none to rotate"):
        await rotate(database.engine, secrets_dir, keys)
    assert (secrets_dir / KEY_FILE).read_text() == kept


async def test_a_database_of_another_revision_is_left_alone(
    host_database: Database, keys: KeyRing, secrets_dir: Path
) -> None:
    with pytest.raises(UnavailableError, match="Start the server once"):
        await rotate(host_database.engine, secrets_dir, keys)


async def test_of_two_rotations_at_once_one_is_refused(
    database: Database, store: ConfigStore, keys: KeyRing, alice: Owner, secrets_dir: Path
) -> None:
    await fill(store, alice)
    with locked(secrets_dir), pytest.raises(ConflictError, match="another process"):
        await rotate(database.engine, secrets_dir, keys)
    await rotate(database.engine, secrets_dir, keys)


async def test_keys_from_the_environment_are_rotated_by_whoever_sets_it(
    database: Database, alice: Owner, secrets_dir: Path
) -> None:
    old, now = Fernet.generate_key().decode(), Fernet.generate_key().decode()
    one, both, only = (KeyRing(secrets_dir, {ENVIRONMENT_VARIABLE: given}) for given in (old, f"{now},{old}", now))
    await fill(ConfigStore(database.engine, one), alice)
    with pytest.raises(InvalidRequestError, match=ENVIRONMENT_VARIABLE):
        await rotate(database.engine, secrets_dir, one)
    assert await report(database.engine, both) == Report(older=6)
    assert await rotate(database.engine, secrets_dir, both) == Report(newest=6)
    assert (await readable_keys(ConfigStore(database.engine, only), alice))["c0"] == "sk-key-of-c0"
    assert os.listdir(secrets_dir) == []


async def test_a_link_to_a_mounted_key_file_stays_a_link(
    database: Database, store: ConfigStore, keys: KeyRing, alice: Owner, secrets_dir: Path, tmp_path: Path
) -> None:
    await fill(store, alice)
    (tmp_path / "mounted").mkdir()
    (secrets_dir / KEY_FILE).rename(tmp_path / "mounted" / "key")
    (secrets_dir / KEY_FILE).symlink_to(tmp_path / "mounted" / "key")
    assert (await rotate(database.engine, secrets_dir, keys)).newest == 6
    assert (secrets_dir / KEY_FILE).is_symlink()
    assert len(await readable_keys(store, alice)) == 7


async def test_what_others_write_meanwhile_is_not_lost(
    database: Database, store: ConfigStore, keys: KeyRing, alice: Owner, bob: Owner, secrets_dir: Path
) -> None:
    await fill(store, alice, 20)
    done = asyncio.Event()
    wanted: dict[str, str | None] = {}

    async def write(number: int) -> None:
        config = await store.create_config(bob, new(f"w{number}", api_key="sk-first"))
        turn = 0
        while not done.is_set():
            turn += 1
            key = f"sk-{number}-{turn}"
            await store.update_config(bob, config.config_id, UpdateLLMConfig.model_validate({"api_key": key}))
            wanted[config.name] = key
            assert not any(one.key_error for one in await store.list_configs(alice))

    async def rotate_often() -> None:
        try:
            for _ in range(8):
                # a key ring of its own, as another process has
                assert not (await rotate(database.engine, secrets_dir, KeyRing(secrets_dir, {}))).unreadable
                await asyncio.sleep(0.05)
        finally:
            done.set()

    await asyncio.gather(rotate_often(), *(write(number) for number in range(4)))
    assert await readable_keys(store, bob) == wanted
    assert (await readable_keys(store, alice))["c19"] == "sk-key-of-c19"
    assert len((secrets_dir / KEY_FILE).read_text().split()) == 1


#: Where the process is killed: (what is replaced, code that runs instead of it).
KILL = "__import__('os').kill(__import__('os').getpid(), 9)"
STEPS = {
    "before the new key is in the file": ("key_file", "Path.replace", f"lambda self, target: {KILL}"),
    "after the new key is in the file": ("rotation", "_re_encrypt", f"lambda engine, keys: {KILL}"),
    "between two rows": (
        "rotation",
        "KeyRing.re_encrypted",
        f"lambda self, token, old=rotation.KeyRing.re_encrypted, done=[]: done.append(1) or (len(done) > 3 and {KILL})"
        " or old(self, token)",
    ),
    "after the rows are written": ("rotation", "keep_newest_key", f"lambda folder: {KILL}"),
    "before the old key is gone from the file": (
        "key_file",
        "Path.replace",
        f"lambda self, target, old=key_file.Path.replace, done=[]: done.append(1) or (len(done) > 1 and {KILL})"
        " or old(self, target)",
    ),
}
PROGRAM = """
import asyncio, sys
from sqlalchemy.ext.asyncio import create_async_engine
from gns3server_copilot.llm import key_file, rotation
{module}.{name} = {replacement}
engine, folder = create_async_engine("sqlite+aiosqlite:///" + sys.argv[1]), key_file.Path(sys.argv[2])
asyncio.run(rotation.rotate(engine, folder, rotation.KeyRing(folder, {{}})))
"""


@pytest.mark.parametrize("step", STEPS)
async def test_a_kill_at_any_step_leaves_every_row_readable_and_the_next_rotation_completes(
    database: Database, store: ConfigStore, keys: KeyRing, alice: Owner, secrets_dir: Path, step: str
) -> None:
    await fill(store, alice)
    before = await readable_keys(store, alice)
    module, name, replacement = STEPS[step]
    program = PROGRAM.format(module=module, name=name, replacement=replacement)
    killed = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-c", program, str(database.path), str(secrets_dir)],
        env=os.environ | {"GNS3_COPILOT": "0"},
        capture_output=True,
        check=False,
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert await readable_keys(store, alice) == before
    assert not (await report(database.engine, keys)).unreadable
    await store.create_config(alice, new("later", api_key="sk-later"))
    assert await rotate(database.engine, secrets_dir, keys) == Report(newest=7)
    assert os.listdir(secrets_dir) == [KEY_FILE]
    assert len((secrets_dir / KEY_FILE).read_text().split()) == 1
    assert await readable_keys(store, alice) == before | {"later": "sk-later"}


def test_no_encrypted_column_is_forgotten() -> None:
    named = {
        table: tuple(column for column in table.columns if column.name.startswith("encrypted_"))
        for table in metadata.tables.values()
    }
    assert {table: columns for table, columns in named.items() if columns} == ENCRYPTED_COLUMNS


async def test_a_change_of_one_credential_that_meets_a_rotation_keeps_the_other(
    database: Database,
    store: ConfigStore,
    keys: KeyRing,
    alice: Owner,
    secrets_dir: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = await store.create_config(alice, new("aws", provider="aws", **AWS))
    change = ConfigStore._change

    async def late(self: ConfigStore, connection: Any, read: Any, given: Any) -> Any:
        await rotate(database.engine, secrets_dir, keys)  # between what is read and what is written
        return await change(self, connection, read, given)

    monkeypatch.setattr(ConfigStore, "_change", late)
    await store.update_config(alice, made.config_id, UpdateLLMConfig(aws_access_key_id="AKIA9876543210"))
    used = await store.for_use(await store.get_config(alice, made.config_id))
    secrets = {name: secret.get_secret_value() for name, secret in used.secrets.items()}
    assert secrets == AWS | {"aws_access_key_id": "AKIA9876543210"}


async def test_credentials_do_not_outlive_a_change_of_provider(store: ConfigStore, alice: Owner) -> None:
    made = await store.create_config(alice, new("aws", provider="aws", base_url="https://good.example", **AWS))
    there = UpdateLLMConfig(provider="openai", aws_access_key_id=None)
    assert (await store.update_config(alice, made.config_id, there)).encrypted_secrets is None
    back = UpdateLLMConfig(provider="aws", base_url="https://evil.example", aws_access_key_id="AKIA9876543210")
    await store.update_config(alice, made.config_id, back)
    used = await store.for_use(await store.get_config(alice, made.config_id))
    assert set(used.secrets) == {"aws_access_key_id"}


async def test_one_credential_does_not_replace_two_that_cannot_be_read(
    store: ConfigStore, alice: Owner, secrets_dir: Path
) -> None:
    made = await store.create_config(alice, new("aws", provider="aws", **AWS))
    (secrets_dir / KEY_FILE).unlink()
    with pytest.raises(InvalidRequestError, match="Enter all of them again"):
        await store.update_config(alice, made.config_id, UpdateLLMConfig(aws_access_key_id="AKIA9876543210"))
    await store.update_config(alice, made.config_id, UpdateLLMConfig(**AWS))
    assert (await store.for_use(await store.get_config(alice, made.config_id))).secrets.keys() == AWS.keys()
