"""The audit log: every tool call, appended to a table of gns3-server's database, a few at a time.

Whoever adds a call never waits for the database. Calls that are not written yet are kept in memory, up to a number.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections import deque
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from itertools import islice

from sqlalchemy import RowMapping, delete, insert, select
from sqlalchemy.ext.asyncio import AsyncEngine

from gns3server_copilot.llm.tables import audit
from gns3server_copilot.schemas.audit import AuditEntry, AuditFilter, ToolCall, Verdict
from gns3server_copilot.utils.uncancelled import uncancelled

log = logging.getLogger(__name__)

#: How long calls are gathered before they are written together, in seconds.
GATHER_SECONDS = 0.5
RETRY_SECONDS = 5.0
CLOSING_SECONDS = 2.0
BATCH = 500
MOST_WAITING = 10_000
PURGE_SECONDS = 6 * 3600.0


class AuditLog:
    """Writes and reads `copilot_audit`. Calls are added and read; nothing changes or removes one, but its age."""

    def __init__(self, engine: AsyncEngine, days: int) -> None:
        self._engine = engine
        self._days = days
        self._waiting: deque[ToolCall] = deque()
        self._wake = asyncio.Event()
        self._writing = asyncio.Lock()

    def add(self, call: ToolCall) -> None:
        """Have a call written. Returns at once."""
        if len(self._waiting) >= MOST_WAITING:
            log.error("The audit log cannot be written, and this call is kept here only: %s", _line(call))
            return
        self._waiting.append(call)
        self._wake.set()

    async def write(self) -> None:
        """Write what is added. Runs until cancelled."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            await asyncio.sleep(GATHER_SECONDS)
            if not await self.flush():
                await asyncio.sleep(RETRY_SECONDS)
                self._wake.set()

    async def flush(self) -> bool:
        """Write all that was added so far; tells whether that worked. What could not be written stays."""
        async with self._writing:
            try:
                while self._waiting:
                    batch = list(islice(self._waiting, BATCH))
                    await self._insert(batch)
                    for _ in batch:
                        self._waiting.popleft()
            except Exception:
                log.exception("The audit log could not be written; %d calls wait", len(self._waiting))
                return False
        return True

    @uncancelled
    async def _insert(self, calls: Sequence[ToolCall]) -> None:
        async with self._engine.begin() as connection:
            await connection.execute(insert(audit), [_row(call) for call in calls])

    async def close(self) -> None:
        """Write what is left, within two seconds; what cannot be written goes to the server's log."""
        try:
            async with asyncio.timeout(CLOSING_SECONDS):
                await self.flush()
        except TimeoutError:
            pass
        for call in self._waiting:
            log.error("Not in the audit log: %s", _line(call))
        self._waiting.clear()

    async def forget_old(self) -> None:
        """Remove calls that are older than they are kept, now and from time to time. Runs until cancelled."""
        while True:
            try:
                await self.purge(datetime.now(UTC) - timedelta(days=self._days))
            except Exception:
                log.exception("Old entries of the audit log could not be removed; tried again later")
            await asyncio.sleep(PURGE_SECONDS)

    @uncancelled
    async def purge(self, before: datetime) -> None:
        """Remove the calls from before a time."""
        async with self._engine.begin() as connection:
            await connection.execute(delete(audit).where(audit.c.time < before))

    @uncancelled
    async def read(self, wanted: AuditFilter, *, limit: int, before: int | None = None) -> Sequence[AuditEntry]:
        """Give the newest calls that fit, those added just now included; `before` leaves out ids from there on."""
        await self.flush()
        query = select(audit).order_by(audit.c.id.desc()).limit(limit)
        if before is not None:
            query = query.where(audit.c.id < before)
        for name in ("user_id", "project_id", "tool", "verdict"):
            if (value := getattr(wanted, name)) is not None:
                query = query.where(audit.c[name] == str(value))
        if wanted.target is not None:
            query = query.where(
                audit.c.targets.contains(json.dumps(wanted.target, ensure_ascii=False), autoescape=True)
            )
        if wanted.since is not None:
            query = query.where(audit.c.time >= wanted.since)
        if wanted.until is not None:
            query = query.where(audit.c.time < wanted.until)
        async with self._engine.connect() as connection:
            return [_entry(row) for row in (await connection.execute(query)).mappings()]


def _row(call: ToolCall) -> dict[str, object]:
    return {
        **asdict(call),
        "targets": json.dumps(list(call.targets), ensure_ascii=False),
        "verdict": str(call.verdict),
    }


def _entry(row: RowMapping) -> AuditEntry:
    return AuditEntry(
        **{
            **row,
            "time": row["time"].isoformat(timespec="milliseconds"),
            "targets": json.loads(row["targets"]),
            "verdict": Verdict(row["verdict"]),
        }
    )


def _line(call: ToolCall) -> str:
    return json.dumps({**asdict(call), "time": call.time.isoformat()}, ensure_ascii=False)
