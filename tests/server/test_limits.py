"""Several turns at once: in one session, of one user, of everybody; and silence is filled with heartbeats."""

from __future__ import annotations

import asyncio
import time
import uuid

import pytest

from tests.ground.chat import ask, configure_model, history, open_turn, session
from tests.ground.event_rules import check_event_order
from tests.ground.held_compute import held_compute
from tests.ground.model_script import Gate, call, text, tool_calls
from tests.ground.projects import Projects
from tests.ground.sse import kinds_of, open_stream, text_of
from tests.server.conftest import HEARTBEAT, MOST_TURNS

MOST_OF_ONE_USER = 5


@pytest.fixture(scope="module")
def shared_server(brisk_server):
    return brisk_server


@pytest.mark.parametrize("known", [False, True], ids=["new session", "known session"])
async def test_of_turns_at_once_in_one_session_one_runs_whole_and_the_others_write_nothing(
    admin, project, model_server, config, known
):
    session_id = str(uuid.uuid4())
    if known:
        model_server.script(text("Hello."))
        await ask(admin, project, "hello", session_id=session_id)
    gate = Gate()
    model_server.always(text("one two three").held(gate, after=1))
    paths = [f"{project.chat}/stream", f"/v3/copilot{project.chat.removeprefix('/v3')}/stream"] * 3
    asking = [
        asyncio.create_task(admin.post(path, json={"message": f"question {number}", "session_id": session_id}))
        for number, path in enumerate(paths)
    ]
    refused = set()
    async with asyncio.timeout(10):
        while len(refused) < len(asking) - 1:
            done, _ = await asyncio.wait(set(asking) - refused, return_when=asyncio.FIRST_COMPLETED)
            refused |= done
    assert {task.result().status_code for task in refused} == {409}
    assert all("busy" in task.result().json()["message"] for task in refused)
    gate.release()
    (winner,) = set(asking) - refused
    answer = await winner
    assert answer.status_code == 200
    messages = (await history(admin, project, session_id))[2 if known else 0 :]
    number = asking.index(winner)
    assert [message["content"] for message in messages] == [f"question {number}", "one two three"]
    assert (await session(admin, project, session_id))["llm_calls_count"] == 1 + known


async def test_the_limits_of_a_user_and_of_the_server_refuse_and_let_go(admin, make_user, project, model_server):
    users = [await make_user(role="User") for _ in range(2)]
    keys = [(await configure_model(user, model_server))["api_key"] for user in users]
    gates = [Gate() for _ in range(MOST_TURNS)]
    turns = []

    async def begin(user, key, gate):
        model_server.script_for(key, text("one two").held(gate, after=1))
        turns.append(asyncio.create_task(ask(user, project, f"question {len(turns)}")))
        await gate.reached()

    for gate in gates[:MOST_OF_ONE_USER]:
        await begin(users[0], keys[0], gate)
    refused = await users[0].post(f"{project.chat}/stream", json={"message": "one more"})
    assert refused.status_code == 429
    assert "You already have 5" in refused.json()["message"]
    for gate in gates[MOST_OF_ONE_USER:]:
        await begin(users[1], keys[1], gate)
    refused = await users[1].post(f"{project.chat}/stream", json={"message": "one more"})
    assert refused.status_code == 429
    assert "server is busy" in refused.json()["message"]
    assert len((await users[1].get(f"{project.chat}/sessions")).json()) == MOST_TURNS - MOST_OF_ONE_USER
    gates[0].release()
    await turns[0]
    for user, key in zip(users, keys, strict=True):  # there is room for one again, whoever takes it
        model_server.script_for(key, text("Here."))
        assert text_of(await ask(user, project, "one more")) == "Here."
    for gate in gates:
        gate.release()
    for events in await asyncio.gather(*turns):
        check_event_order(events)
        assert kinds_of(events)[-1] == "done"


async def beats(stream, seconds):
    """Give the times between two events while nothing happens."""
    until = time.monotonic() + seconds
    last, gaps = time.monotonic(), []
    while time.monotonic() < until:
        await stream.next("heartbeat")
        now = time.monotonic()
        gaps.append(now - last)
        last = now
    return gaps


async def test_a_silent_model_and_a_silent_tool_are_filled_with_heartbeats(admin, model_server, config):
    async with held_compute(admin) as held:
        projects = Projects(admin)
        project = await projects.make()
        gate = Gate()
        node = {"template": "VPCS", "compute_id": held.compute_id}
        slow = tool_calls(call("create_gns3_node", {"nodes": [node]}), text="I make one.").held(gate)
        model_server.script(slow, text("Done."))
        session_id = str(uuid.uuid4())
        async with open_turn(admin, project, "go", session_id=session_id) as stream:
            await gate.reached()
            silences = [await beats(stream, 4 * HEARTBEAT)]
            gate.release()
            await stream.next("tool_start")
            await held.reached()
            silences.append(await beats(stream, 4 * HEARTBEAT))
            async with open_stream(admin, "GET", f"{project.chat}/sessions/{session_id}/events") as follower:
                await follower.next("tool_start")
                silences.append(await beats(follower, 4 * HEARTBEAT))
            held.release()
            events = await stream.rest()
        await projects.delete_all()
    check_event_order(events)
    assert kinds_of(events)[-1] == "done"
    for gaps in silences:
        assert len(gaps) >= 2
        assert max(gaps) < 15
    # one after each such time of silence, and not more
    assert sorted(gap for gaps in silences for gap in gaps[1:])[0] > HEARTBEAT / 2
