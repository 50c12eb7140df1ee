"""An abort ends a turn within a second whatever runs in it, keeps what had come, and the next turn works."""

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
from tests.ground.sse import kinds_of, text_of, tool_outputs

ABORT_SECONDS = 1.0


def abort(user, project, session_id):
    return user.post(f"{project.chat}/sessions/{session_id}/abort")


async def aborted(user, project, stream, session_id):
    """Abort the turn and give all its events, which must be there within a second."""
    started = time.monotonic()
    answer = await abort(user, project, session_id)
    assert answer.json() == {"status": "ok", "session_id": session_id}
    events = await stream.rest()
    assert time.monotonic() - started < ABORT_SECONDS
    check_event_order(events)
    assert kinds_of(events)[-2:] == ["abort", "done"]
    return events


async def goes_on(user, project, model_server, session_id):
    """Ask again; the model server itself checks the messages that it gets."""
    model_server.script(text("I am still here."))
    events = await ask(user, project, "And now?", session_id=session_id)
    check_event_order(events)
    assert text_of(events) == "I am still here."
    kept = await history(user, project, session_id)
    assert (await session(user, project, session_id))["message_count"] == len(kept)
    assert [message["content"] for message in kept[-2:]] == ["And now?", "I am still here."]
    return model_server.last_request


@pytest.mark.parametrize(
    "answer",
    [
        text("one two three four", pieces=4),
        text("one two three four", pieces=4).after_thinking("Let me count."),
        tool_calls(call("get_gns3_templates", {"name": "a" * 3000}, pieces=4), text="I look."),
    ],
    ids=["text", "thoughts", "tool arguments"],
)
@pytest.mark.parametrize("after", [None, 0, 1, 3], ids=["no answer", "no token", "one piece", "three pieces"])
async def test_while_the_model_answers(admin, project, model_server, config, answer, after):
    gate = Gate()
    model_server.script(answer.held(gate, after))
    session_id = str(uuid.uuid4())
    async with open_turn(admin, project, "go", session_id=session_id) as stream:
        await gate.reached()
        events = await aborted(admin, project, stream, session_id)
    assert await model_server.last_request.outcome() == "left"
    gate.release()
    messages = await history(admin, project, session_id)
    assert [message["role"] for message in messages] == ["user", "assistant"]
    assert messages[-1]["metadata"]["aborted"] is True
    assert messages[-1]["content"] == text_of(events)
    await goes_on(admin, project, model_server, session_id)


async def test_while_a_tool_waits_for_a_compute_that_does_not_answer(admin, model_server, config):
    async with held_compute(admin) as held:
        projects = Projects(admin)
        await stop_on_compute(admin, await projects.make(), model_server, held)
        await projects.delete_all()


async def stop_on_compute(admin, project, model_server, held):
    look = call("get_gns3_templates", {"name": "VPCS"})
    node = {"template": "VPCS", "name": "PC1", "compute_id": held.compute_id}
    create, never = call("create_gns3_node", {"nodes": [node]}), call("create_gns3_node", {"nodes": [node]})
    model_server.script(tool_calls(look, create, never, text="I make one."))
    session_id = str(uuid.uuid4())
    async with open_turn(admin, project, "go", session_id=session_id) as stream:
        await held.reached()
        events = await aborted(admin, project, stream, session_id)
    whole, interrupted = tool_outputs(events)
    assert whole["success"] is True
    assert interrupted["error"].startswith("Interrupted")
    messages = await history(admin, project, session_id)
    assert [message["role"] for message in messages] == ["user", "assistant", "tool", "tool", "tool", "assistant"]
    assert [bool(message["metadata"].get("aborted")) for message in messages[2:]] == [False, True, True, True]
    request = await goes_on(admin, project, model_server, session_id)
    results = request.tool_results
    assert "Interrupted" in results[create.id]
    assert "Not carried out" in results[never.id]
    # what has begun on the compute is not torn apart: it goes on, and the node is there when it is done
    held.release()
    async with asyncio.timeout(5):
        while not (nodes := (await admin.get(f"{project.url}/nodes")).json()):  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    assert [node["compute_id"] for node in nodes] == [held.compute_id]


async def test_between_a_tool_and_the_model_s_next_word(admin, project, model_server, config):
    gate = Gate()
    model_server.script(tool_calls(call("get_gns3_templates"), text="I look."), text("Many.").held(gate))
    session_id = str(uuid.uuid4())
    async with open_turn(admin, project, "go", session_id=session_id) as stream:
        await gate.reached()
        await aborted(admin, project, stream, session_id)
    roles = [message["role"] for message in await history(admin, project, session_id)]
    assert roles == ["user", "assistant", "tool", "assistant"]
    await goes_on(admin, project, model_server, session_id)


async def test_many_aborts_at_once_are_one(admin, project, model_server, config):
    gate = Gate()
    model_server.script(text("one two three", pieces=3).held(gate, after=1))
    session_id = str(uuid.uuid4())
    async with open_turn(admin, project, "go", session_id=session_id) as stream:
        await gate.reached()
        answers = await asyncio.gather(*(abort(admin, project, session_id) for _ in range(10)))
        events = await stream.rest()
    assert {answer.status_code for answer in answers} == {200}
    assert kinds_of(events).count("abort") == 1
    await goes_on(admin, project, model_server, session_id)


async def test_an_abort_after_the_end_changes_nothing(admin, project, model_server, config):
    model_server.script(text("Done."))
    session_id = str(uuid.uuid4())
    await ask(admin, project, "go", session_id=session_id)
    before = await history(admin, project, session_id)
    assert (await abort(admin, project, session_id)).status_code == 200
    assert await history(admin, project, session_id) == before
    await goes_on(admin, project, model_server, session_id)


async def test_an_abort_of_what_never_was_is_no_error_and_holds_up_nothing(admin, project, model_server, config):
    session_id = str(uuid.uuid4())
    assert (await abort(admin, project, session_id)).json() == {"status": "ok", "session_id": session_id}
    assert not project.chat_database.exists()
    await goes_on(admin, project, model_server, session_id)


async def test_nobody_else_s_turn_can_be_aborted(admin, make_user, project, model_server):
    owner = await make_user(role="User", on=project)
    other = await make_user(role="User", on=project)
    auditor = await make_user(role="Auditor", on=project)
    stranger = await make_user()
    await configure_model(owner, model_server)
    gate = Gate()
    model_server.script(text("one two three", pieces=3).held(gate, after=1))
    session_id = str(uuid.uuid4())
    async with open_turn(owner, project, "go", session_id=session_id) as stream:
        await gate.reached()
        for somebody, status in ((other, 404), (auditor, 404), (admin, 404), (stranger, 403)):
            for path in (project.chat, f"/v3/copilot{project.chat.removeprefix('/v3')}"):
                answer = await somebody.post(f"{path}/sessions/{session_id}/abort")
                assert answer.status_code == status
                follow = await somebody.get(f"{path}/sessions/{session_id}/events")
                assert follow.status_code == status
        gate.release()
        events = await stream.rest()
    assert kinds_of(events) == ["content", "done"]
