"""The audit log: nothing is lost, nobody waits, and old entries go."""

from __future__ import annotations

import asyncio
import uuid
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import text

from gns3server_copilot.llm import audit as module
from gns3server_copilot.llm.audit import AuditLog
from gns3server_copilot.schemas.audit import AuditFilter, ToolCall, Verdict

ANN, BOB, LAB, OTHER = (str(uuid.UUID(int=number)) for number in range(1, 5))
CALL = ToolCall(
    time=datetime(2026, 5, 1, 12, tzinfo=UTC),
    user_id=ANN,
    username="ann",
    project_id=LAB,
    project_name="Lab",
    mode="teaching_assistant",
    tool="echo",
    targets=["R1", 'Zürich %_"1"'],
    verdict=Verdict.DONE,
    seconds=0.25,
)
CALLS = [
    CALL,
    replace(CALL, user_id=BOB, username="bob", verdict=Verdict.REFUSED, time=CALL.time + timedelta(days=1)),
    replace(CALL, project_id=OTHER, tool="build", targets=["R12"], time=CALL.time + timedelta(days=2)),
]


@pytest.fixture
def log(database):
    """The log in gns3-server's database."""
    return AuditLog(database.engine, days=90)


async def test_what_is_added_is_read_the_newest_first(log):
    for call in CALLS:
        log.add(call)
    found = await log.read(AuditFilter(), limit=10)
    assert [entry.id for entry in found] == [3, 2, 1]
    oldest = found[-1]
    assert (oldest.time, oldest.targets, oldest.verdict) == ("2026-05-01T12:00:00.000+00:00", CALL.targets, "done")
    assert (oldest.username, oldest.project_name, oldest.mode, oldest.seconds) == (
        "ann",
        "Lab",
        "teaching_assistant",
        0.25,
    )
    assert [entry.id for entry in await log.read(AuditFilter(), limit=1, before=3)] == [2]


@pytest.mark.parametrize(
    ("wanted", "ids"),
    [
        ({"user_id": ANN}, [3, 1]),
        ({"project_id": LAB}, [2, 1]),
        ({"tool": "build"}, [3]),
        ({"verdict": Verdict.REFUSED}, [2]),
        ({"target": "R1"}, [2, 1]),
        ({"target": CALL.targets[1]}, [2, 1]),
        ({"target": "%"}, []),
        ({"since": CALL.time + timedelta(days=1)}, [3, 2]),
        ({"until": CALL.time + timedelta(days=1)}, [1]),
        ({"user_id": BOB, "tool": "build"}, []),
    ],
    ids=str,
)
async def test_every_filter_narrows(log, wanted, ids):
    for call in CALLS:
        log.add(call)
    assert [entry.id for entry in await log.read(AuditFilter(**wanted), limit=10)] == ids


async def test_calls_are_written_together_and_by_themselves(log, database, monkeypatch):
    monkeypatch.setattr(module, "GATHER_SECONDS", 0.01)
    writing = asyncio.create_task(log.write())
    for number in range(1200):
        log.add(replace(CALL, targets=[str(number)]))
    async with asyncio.timeout(10):
        while log._waiting:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    writing.cancel()
    async with database.engine.connect() as connection:
        assert (await connection.execute(text("SELECT count(*) FROM copilot_audit"))).scalar() == 1200


async def test_while_the_database_cannot_be_written_calls_wait(log, database, monkeypatch, caplog):
    monkeypatch.setattr(module, "GATHER_SECONDS", 0.01)
    monkeypatch.setattr(module, "RETRY_SECONDS", 0.01)
    async with database.engine.begin() as connection:
        await connection.execute(text("ALTER TABLE copilot_audit RENAME TO gone"))
    writing = asyncio.create_task(log.write())
    log.add(CALL)
    async with asyncio.timeout(10):
        while "could not be written" not in caplog.text:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    async with database.engine.begin() as connection:
        await connection.execute(text("ALTER TABLE gone RENAME TO copilot_audit"))
    async with asyncio.timeout(10):
        while log._waiting:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    writing.cancel()
    with suppress(asyncio.CancelledError):
        await writing
    assert len(await log.read(AuditFilter(), limit=10)) == 1


async def test_what_cannot_be_written_at_the_end_or_is_too_much_goes_to_the_servers_log(
    log, database, monkeypatch, caplog
):
    monkeypatch.setattr(module, "MOST_WAITING", 1)
    async with database.engine.begin() as connection:
        await connection.execute(text("ALTER TABLE copilot_audit RENAME TO gone"))
    log.add(CALL)
    log.add(replace(CALL, tool="one too many"))
    assert "one too many" in caplog.text
    await log.close()
    assert "Not in the audit log: " in caplog.text


async def test_the_end_writes_what_is_left(log, database):
    log.add(CALL)
    await log.close()
    assert len(await AuditLog(database.engine, days=1).read(AuditFilter(), limit=10)) == 1


async def test_old_calls_are_forgotten(log):
    now = datetime.now(UTC)
    for days in (200, 91, 89, 0):
        log.add(replace(CALL, time=now - timedelta(days=days)))
    await log.flush()
    forgetting = asyncio.create_task(log.forget_old())
    async with asyncio.timeout(10):
        while len(await log.read(AuditFilter(), limit=10)) > 2:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    forgetting.cancel()
    assert [entry.id for entry in await log.read(AuditFilter(), limit=10)] == [4, 3]
