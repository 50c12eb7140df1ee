"""Two hundred turns of every kind leave no more open files and threads than twenty, and little more memory."""

from __future__ import annotations

import asyncio
import functools
import itertools
import re
import uuid
from pathlib import Path

import pytest

from tests.ground.chat import ask, configure_model, open_turn
from tests.ground.event_rules import check_event_order
from tests.ground.model_script import Gate, call, http_error, text, tool_calls
from tests.ground.open_files import needs_proc, open_files, threads
from tests.ground.sse import kinds_of
from tests.ground.waiting import until

pytestmark = needs_proc

#: Megabytes: a leak of 100 KB a turn would be found, the noise of the allocator not.
MEMORY = 20
AT_ONCE = 2
#: Threads and files by which a pool may still grow.
SLACK = 3


@pytest.fixture(scope="module")
def shared_server(brisk_server):
    return brisk_server


async def plain(admin, project, script, **fields):
    script(text("one two three"))
    assert kinds_of(await ask(admin, project, "go", **fields))[-1] == "done"


async def with_tools(admin, project, script, **fields):
    script(tool_calls(call("get_gns3_templates", {"name": "VPCS"}), text="I look."), text("There."))
    events = await ask(admin, project, "go", **fields)
    check_event_order(events)
    assert kinds_of(events)[-1] == "done"


async def stopped(admin, project, script, **fields):
    gate, session_id = Gate(), str(uuid.uuid4())
    script(text("one two three", pieces=3).held(gate, after=1))
    async with open_turn(admin, project, "go", session_id=session_id, **fields) as stream:
        await stream.next("content")
        await admin.post(f"{project.chat}/sessions/{session_id}/abort")
        events = await stream.rest()
    gate.release()
    assert kinds_of(events)[-2:] == ["abort", "done"]


async def left(admin, project, script, **fields):
    gate = Gate()
    script(text("one two three", pieces=3).held(gate, after=1))
    async with open_turn(admin, project, "go", **fields) as stream:
        await stream.next("content")
        await stream.drop()
    gate.release()


async def left_and_read_on(admin, project, script, **fields):
    gate, session_id = Gate(), str(uuid.uuid4())
    script(text("one two three", pieces=3).held(gate, after=1))
    fields |= {"session_id": session_id, "on_disconnect": "continue"}
    async with open_turn(admin, project, "go", **fields) as stream:
        await stream.next("content")
        await stream.drop()
    gate.release()
    follow = await admin.get(f"{project.chat}/sessions/{session_id}/events")
    assert follow.status_code in (200, 404)


async def refused(admin, project, script, **fields):
    script(http_error(402, {"error": "no money"}))
    assert kinds_of(await ask(admin, project, "go", **fields))[-1] == "error"


async def broken_off(admin, project, script, **fields):
    script(text("one two three", pieces=3).cut(after=1))
    assert kinds_of(await ask(admin, project, "go", **fields))[-1] == "error"


async def without_stream(admin, project, script, **fields):
    script(text("one two three"))
    answer = await admin.post(f"{project.chat}/stream", json={"message": "go", "stream": False, **fields})
    assert answer.json()["message"] == "one two three"


KINDS = [plain, with_tools, stopped, left, left_and_read_on, refused, broken_off, without_stream]


async def test_open_files_threads_and_memory(gns3_server, admin, make_project, model_server):
    projects = [await make_project() for _ in range(AT_ONCE)]
    configs = [await configure_model(admin, model_server, is_default=False) for _ in projects]
    kinds = [itertools.cycle(KINDS[number:] + KINDS[:number]) for number in range(AT_ONCE)]

    async def run(turns):
        async def some(number):
            script = functools.partial(model_server.script_for, configs[number]["api_key"])
            for _ in range(turns // AT_ONCE):
                await next(kinds[number])(admin, projects[number], script, config_id=configs[number]["config_id"])

        await asyncio.gather(*(some(number) for number in range(AT_ONCE)))

    async def settled():
        """The figures once nothing runs any more."""

        async def quiet():
            sessions = [one for project in projects for one in (await admin.get(f"{project.chat}/sessions")).json()]
            return not any(one["running"] for one in sessions)

        await until(quiet)
        return len(open_files(gns3_server.pid)), threads(gns3_server.pid), memory(gns3_server.pid)

    await run(20)
    early = await settled()
    await run(180)

    async def no_more():
        files, some_threads, megabytes = late = await settled()
        print(early, late)
        return files <= early[0] + SLACK and some_threads <= early[1] + SLACK and megabytes <= early[2] + MEMORY

    await until(no_more, every=0.5)


def memory(pid):
    found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    return int(found[1]) / 1024
