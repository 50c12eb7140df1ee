"""Turns leave no tasks and no objects behind, however they end."""

from __future__ import annotations

import asyncio
import dataclasses
import gc
import uuid
import weakref

import pytest

from gns3server_copilot.agent.turn import TurnRequest
from gns3server_copilot.schemas.modes import Mode
from tests.unit.agent.conftest import ALICE
from tests.unit.llm.samples import CONFIG

pytestmark = pytest.mark.asyncio(loop_scope="session")

OFFLINE = dataclasses.replace(CONFIG, provider="offline", model="offline", base_url="", context_limit=32, api_key=None)


@pytest.fixture
def take(service, app_admin, app_project):
    """Take turns, every second of which is stopped at another moment; gives weak references to them."""

    async def turns(count):
        taken = []
        for number in range(count):
            request = TurnRequest(
                session_id=str(uuid.uuid4()),
                message="/templates",
                user=ALICE,
                project=app_project,
                mode=Mode.TEACHING,
                config=OFFLINE,
                token=app_admin.token,
            )
            turn = await service.start_turn(request)
            taken.append(weakref.ref(turn))
            with turn.reading():
                if number % 2:
                    for _ in range(number):
                        await asyncio.sleep(0)
                    turn.abort("The test says so.")
                async for _ in turn.events.follow(60):
                    pass
        return taken

    return turns


async def test_tasks_and_turns(take):
    await take(4)
    before = len(asyncio.all_tasks())
    taken = await take(20)
    for _ in range(20):
        await asyncio.sleep(0.01)
        if len(asyncio.all_tasks()) <= before:
            break
    assert len(asyncio.all_tasks()) <= before
    gc.collect()
    assert sum(one() is not None for one in taken) <= 3
