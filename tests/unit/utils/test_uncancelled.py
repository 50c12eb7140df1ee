"""Work can be left, and goes on to its end."""

from __future__ import annotations

import asyncio
import logging

import pytest

from gns3server_copilot.utils.uncancelled import uncancelled


class Worker:
    def __init__(self) -> None:
        self.may_go_on = asyncio.Event()
        self.ended = asyncio.Event()

    @uncancelled
    async def work(self, result: str, *, fails: bool = False) -> str:
        try:
            await self.may_go_on.wait()
            if fails:
                raise OSError("disk full")
            return result
        finally:
            self.ended.set()


async def test_whoever_waits_gets_the_result_or_the_error() -> None:
    worker = Worker()
    worker.may_go_on.set()
    assert await worker.work("done") == "done"
    with pytest.raises(OSError, match="disk full"):
        await worker.work("done", fails=True)


async def test_whoever_leaves_does_not_stop_it(caplog: pytest.LogCaptureFixture) -> None:
    worker = Worker()
    for fails in (False, True):
        worker.may_go_on.clear()
        worker.ended.clear()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await worker.work("done", fails=fails)
        assert not worker.ended.is_set()
        worker.may_go_on.set()
        with caplog.at_level(logging.DEBUG):
            left = asyncio.all_tasks() - {asyncio.current_task()}
            await asyncio.gather(*left, return_exceptions=True)
        assert worker.ended.is_set()
    # a set: a record may come twice, where its logger has a handler of pytest's and passes it on as well
    assert {record.getMessage() for record in caplog.records if record.name == uncancelled.__module__} == {
        "Worker.work failed after nobody waited for it any more: disk full"
    }
