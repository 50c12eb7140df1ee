"""Our tables come and go beside gns3-server's without touching them."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text
from sqlalchemy.exc import IntegrityError, OperationalError

from gns3server_copilot.errors import UnavailableError
from gns3server_copilot.llm import migrations
from gns3server_copilot.llm.migrations import VERSION_TABLE
from gns3server_copilot.llm.store import revisions, upgrade
from gns3server_copilot.llm.tables import metadata
from tests.unit.llm.host_database import Database

OLDEST_HOST_REVISION = "7ceeddd9c9a8"


async def run(database: Database, sql: str, **values: object) -> list[Any]:
    async with database.engine.begin() as connection:
        result = await connection.execute(text(sql), values)
        return list(result) if result.returns_rows else []


async def schema(database: Database) -> dict[str, str]:
    rows = await run(database, "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL")
    return {row.name: row.sql for row in rows}


def parts(sql: str) -> list[str]:
    """Give the columns and constraints of a CREATE statement, sorted: columns that were added later come last there."""
    head, _, body = sql.partition("(")
    return [head.strip(), *sorted(" ".join(part.split()) for part in re.split(r",(?![^()]*\))", body.rstrip()[:-1]))]


async def at_revision(database: Database, revision: str) -> None:
    """Bring our tables to an earlier revision than the present one."""

    def upgrade_to(connection: Connection) -> None:
        config = migrations._config()
        config.attributes["connection"] = connection
        command.upgrade(config, revision)

    async with database.engine.begin() as connection:
        await connection.run_sync(upgrade_to)


EARLIER = [revision.revision for revision in ScriptDirectory.from_config(migrations._config()).walk_revisions()][1:]


@pytest.mark.parametrize("revision", EARLIER)
async def test_every_earlier_revision_is_upgraded_and_keeps_what_it_holds(
    host_database: Database, revision: str
) -> None:
    await at_revision(host_database, revision)
    assert (await revisions(host_database.engine))[0] == revision
    user = (await host_database.add_user("alice")).id.replace("-", "")
    await run(host_database, INSERT, **row("1", user=user, default=True))
    await run(host_database, "UPDATE copilot_llm_configs SET encrypted_api_key = 'token', key_id = 'k'")
    before = (await run(host_database, "SELECT * FROM copilot_llm_configs"))[0]._asdict()
    await upgrade(host_database.engine)
    current, needed = await revisions(host_database.engine)
    assert current == needed
    after = (await run(host_database, "SELECT * FROM copilot_llm_configs"))[0]._asdict()
    assert {name: after[name] for name in before} == before
    assert all(after[name] is None for name in set(after) - set(before))
    with pytest.raises(IntegrityError):  # the partial index is still there
        await run(host_database, INSERT, **row("2", user=user, default=True))


async def test_a_database_of_the_host_gets_all_our_tables(host_database: Database) -> None:
    assert (await revisions(host_database.engine))[0] is None
    await upgrade(host_database.engine)
    current, needed = await revisions(host_database.engine)
    assert current == needed
    assert {*metadata.tables, VERSION_TABLE} <= set(await schema(host_database))


async def test_migrations_and_table_definitions_agree(database: Database) -> None:
    def differences(connection: Connection) -> list[Any]:
        options = {"include_name": lambda name, kind, parents: kind != "table" or name in metadata.tables}
        return compare_metadata(MigrationContext.configure(connection, opts=options), metadata)

    async with database.engine.connect() as connection:
        assert await connection.run_sync(differences) == []


async def test_the_created_tables_are_what_the_definitions_would_create(database: Database) -> None:
    migrated = {name: sql for name, sql in (await schema(database)).items() if "copilot" in name}
    del migrated[VERSION_TABLE]
    async with database.engine.begin() as connection:
        await connection.run_sync(metadata.drop_all)
        await connection.run_sync(metadata.create_all)
    created = {name: sql for name, sql in (await schema(database)).items() if "copilot" in name}
    del created[VERSION_TABLE]
    assert {name: parts(sql) for name, sql in created.items()} == {name: parts(sql) for name, sql in migrated.items()}


async def test_a_second_upgrade_changes_nothing(database: Database) -> None:
    before = await schema(database)
    await upgrade(database.engine)
    assert await schema(database) == before


async def test_the_hosts_tables_and_version_stay_as_they_are(host_database: Database) -> None:
    before = await schema(host_database)
    version = await run(host_database, "SELECT * FROM alembic_version")
    await upgrade(host_database.engine)
    after = await schema(host_database)
    assert {name: after[name] for name in before} == before
    assert all("copilot" in name for name in set(after) - set(before))
    assert await run(host_database, "SELECT * FROM alembic_version") == version


async def test_the_host_connects_and_migrates_later(database: Database) -> None:
    # gns3-server leaves the version table of a fresh database empty
    await run(database, "INSERT INTO alembic_version VALUES (:revision)", revision=OLDEST_HOST_REVISION)
    await run(database, "ALTER TABLE docker_templates DROP COLUMN mac_address")
    await database.disconnect()
    await database.connect()
    [(version,)] = await run(database, "SELECT version_num FROM alembic_version")
    assert version != OLDEST_HOST_REVISION
    assert "mac_address" in (await schema(database))["docker_templates"]
    current, needed = await revisions(database.engine)
    assert current == needed


async def test_the_stock_server_connects_to_our_database_and_again_with_us(database: Database) -> None:
    before = await schema(database)
    await database.disconnect()
    await database.connect()
    assert await schema(database) == before
    await upgrade(database.engine)
    assert await schema(database) == before


async def test_two_servers_may_upgrade_at_once(host_database: Database) -> None:
    await asyncio.gather(*(upgrade(host_database.engine) for _ in range(4)))
    current, needed = await revisions(host_database.engine)
    assert current == needed


async def test_a_failed_upgrade_leaves_nothing_behind(host_database: Database) -> None:
    await run(host_database, "CREATE TABLE copilot_usage (something_else INTEGER)")
    before = await schema(host_database)
    with pytest.raises(OperationalError):
        await upgrade(host_database.engine)
    assert await schema(host_database) == before
    await run(host_database, "DROP TABLE copilot_usage")
    await upgrade(host_database.engine)


async def test_a_database_of_a_newer_version_is_refused(database: Database) -> None:
    await run(database, f"UPDATE {VERSION_TABLE} SET version_num = '9999'")
    before = await schema(database)
    with pytest.raises(UnavailableError, match="newer version"):
        await upgrade(database.engine)
    assert await schema(database) == before


INSERT = (
    "INSERT INTO copilot_llm_configs (config_id, name, model_type, config, user_id, group_id, is_default, version,"
    " created_at, updated_at) VALUES (:id, :name, 'text', '{}', :user, :group, :default, 0, '2026-01-01', '2026-01-01')"
)


def row(id: str, *, user: str | None = None, group: str | None = None, default: bool = False) -> dict[str, object]:
    return {"id": id * 32, "name": id, "user": user, "group": group, "default": default}


async def test_a_configuration_has_exactly_one_owner(database: Database) -> None:
    user = (await database.add_user("alice")).id.replace("-", "")
    group = (await database.add_group("students")).id.replace("-", "")
    with pytest.raises(IntegrityError):
        await run(database, INSERT, **row("1"))
    with pytest.raises(IntegrityError):
        await run(database, INSERT, **row("1", user=user, group=group))
    await run(database, INSERT, **row("1", user=user))
    await run(database, INSERT, **row("2", group=group))


@pytest.mark.parametrize("owner", ["user", "group"])
async def test_an_owner_has_at_most_one_default(database: Database, owner: str) -> None:
    made = await (database.add_user("alice") if owner == "user" else database.add_group("students"))
    mine: Any = {owner: made.id.replace("-", "")}
    await run(database, INSERT, **row("1", **mine))
    await run(database, INSERT, **row("2", **mine))
    await run(database, INSERT, **row("3", **mine, default=True))
    with pytest.raises(IntegrityError):
        await run(database, INSERT, **row("4", **mine, default=True))


async def test_what_a_user_or_group_has_goes_with_it(database: Database) -> None:
    user = (await database.add_user("alice")).id.replace("-", "")
    group = (await database.add_group("students")).id.replace("-", "")
    await run(database, INSERT, **row("1", user=user))
    await run(database, INSERT, **row("2", group=group))
    await run(
        database,
        "INSERT INTO copilot_user_preferences VALUES (:user, :config, '{}', '2026-01-01')",
        user=user,
        config="2" * 32,
    )
    await run(database, "INSERT INTO copilot_group_policies VALUES (:group, NULL, 1, 1, '2026-01-01')", group=group)
    await run(
        database,
        "INSERT INTO copilot_usage VALUES (:user, :config, '2026-01-01', 1, 1, 1, 1)",
        user=user,
        config="1" * 32,
    )

    await run(database, "DELETE FROM user_groups WHERE user_group_id = :group", group=group)
    assert await run(database, "SELECT * FROM copilot_group_policies") == []
    assert await run(database, "SELECT name FROM copilot_llm_configs") == [("1",)]
    assert await run(database, "SELECT default_config_id FROM copilot_user_preferences") == [(None,)]
    await run(database, "DELETE FROM users WHERE user_id = :user", user=user)
    for table in metadata.tables:
        assert await run(database, f"SELECT * FROM {table}") == []
