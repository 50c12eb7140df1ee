"""SIGTERM ends the server within five seconds, whatever the copilot is doing, and what it was doing is kept."""

from __future__ import annotations

import asyncio
import sqlite3
import statistics
import uuid
from contextlib import AsyncExitStack, aclosing

import pytest

from tests.ground.chat import ask, configure_model, open_turn
from tests.ground.event_rules import check_event_order
from tests.ground.held_compute import held_compute
from tests.ground.model_script import Gate, call, text, tool_calls
from tests.ground.projects import Projects
from tests.ground.sse import kinds_of, open_stream
from tests.ground.users import log_in_admin

#: gns3-server's own streams ask every five seconds whether the server ends; the copilot wakes them.
STOP_SECONDS = 5.0
#: Streams and turns end so soon after the signal.
TURN_SECONDS = 2.0


async def test_everything_at_once(start_gns3_server, model_server):
    server = await asyncio.to_thread(start_gns3_server)
    gate = Gate()
    streaming, waiting, detached, silent = (str(uuid.uuid4()) for _ in range(4))
    async with AsyncExitStack() as stack:
        admin = await stack.enter_async_context(aclosing(await log_in_admin(server)))
        held = await stack.enter_async_context(held_compute(admin))
        project = await Projects(admin).make(auto_close=False)
        await configure_model(admin, model_server)
        model_server.script(text("Finished."))
        await ask(admin, project, "before", session_id=streaming)

        async def begin(session_id, answer, **fields):
            model_server.script(answer)
            received = len(model_server.requests) + 1
            stream = await stack.enter_async_context(open_turn(admin, project, "go", session_id=session_id, **fields))
            await model_server.received(received)
            return stream

        node = {"template": "VPCS", "compute_id": held.compute_id}
        streams = [
            await begin(streaming, text("one two three", pieces=3).held(gate, after=2)),
            await begin(waiting, tool_calls(call("create_gns3_node", {"nodes": [node]}))),
            await begin(silent, text("never").held(gate)),
        ]
        await held.reached()
        lost = await begin(detached, text("one two", pieces=2).held(gate, after=1), on_disconnect="continue")
        await lost.next("content")
        await lost.drop()
        follower = open_stream(admin, "GET", f"{project.chat}/sessions/{detached}/events")
        streams.append(await stack.enter_async_context(follower))
        # what a GNS3 client has open
        for path in ("/v3/notifications", f"{project.url}/notifications"):
            notifications = await stack.enter_async_context(admin.stream("GET", path))
            await anext(notifications.aiter_bytes())
        await streams[0].next("content")

        stopping = asyncio.create_task(asyncio.to_thread(server.stop))
        async with asyncio.timeout(TURN_SECONDS):
            endings = await asyncio.gather(*(stream.rest() for stream in streams))
        for events in endings:
            check_event_order(events)
            assert kinds_of(events)[-2:] == ["abort", "done"]
        assert await stopping < STOP_SECONDS
        gate.release()
        held.release()
    assert server.leftovers == []
    with sqlite3.connect(project.chat_database) as database:
        counts = dict(database.execute("SELECT thread_id, message_count FROM chat_sessions"))
        assert database.execute("SELECT count(*) FROM chat_sessions WHERE unfinished").fetchone() == (0,)
    assert counts == {streaming: 4, waiting: 4, detached: 2, silent: 2}


@pytest.mark.slow
async def test_it_takes_no_longer_than_a_stock_server(start_gns3_server, model_server):
    server = await asyncio.to_thread(start_gns3_server)
    seconds = {}
    for copilot in (False, True):
        server.copilot = copilot
        seconds[copilot] = []
        for number in range(3):
            if server.process is None:
                await asyncio.to_thread(server.start)
            if copilot:
                async with aclosing(await log_in_admin(server)) as admin:
                    await configure_model(admin)
                    await ask(admin, await Projects(admin).make(), "/help")
            await asyncio.sleep(number * 1.6)  # at different moments between two pings
            seconds[copilot].append(await asyncio.to_thread(server.stop))
    print({copilot: [f"{one:.1f}" for one in measured] for copilot, measured in seconds.items()})
    assert max(seconds[True]) < STOP_SECONDS
    assert statistics.mean(seconds[True]) < statistics.mean(seconds[False])
