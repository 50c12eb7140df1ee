"""`/inject`: the request of the web UI's fault dialog, which takes `done` for success."""

from __future__ import annotations

import uuid

import pytest

from tests.ground.chat import ask, configure_model, history, session
from tests.ground.event_rules import check_event_order
from tests.ground.model_script import call, text, tool_calls
from tests.ground.sse import kinds_of, text_of
from tests.ground.users import ok

INJECTION = "troubleshooting_injection"


@pytest.fixture
async def user(make_user, model_server):
    made = await make_user(role="User")
    await configure_model(made, model_server)
    return made


async def test_an_injection_after_which_nothing_was_changed_ends_with_an_error_that_the_history_keeps(
    user, project, model_server
):
    model_server.script(tool_calls(call("gns3_topology_reader")), text("There is nothing to break."))
    events = await ask(user, project, "Inject 1 network fault(s) for troubleshooting practice", path="/inject")
    check_event_order(events)
    assert kinds_of(events)[-1] == "error"
    assert "No fault was put in" in events[-1]["error"]
    session_id = events[0]["session_id"]
    messages = await history(user, project, session_id)
    assert [message["role"] for message in messages] == ["user", "assistant", "tool", "assistant"]
    assert messages[-1]["content"] == text_of(events)
    assert messages[-1]["metadata"]["error"] == events[-1]["error"]
    kept = await session(user, project, session_id)
    assert kept["metadata"]["copilot_mode"] == INJECTION
    assert kept["message_count"] == 4
    found = await ok(user.get(f"{project.chat}/sessions", params={"copilot_mode": INJECTION}))
    assert [one["thread_id"] for one in found] == [session_id]


@pytest.mark.parametrize("body", [None, {}, {"message": "  "}], ids=["no body", "empty", "blank"])
async def test_without_a_message_the_copilot_chooses_the_fault(user, project, model_server, body):
    model_server.script(text("I cannot."))
    answer = await user.post(f"{project.chat}/inject", json=body)
    assert answer.status_code == 200
    assert model_server.last_request.messages[-1]["content"].startswith("Inject one random")
    assert "gns3_topology_reader" in model_server.last_request.tool_names


async def test_a_conversation_stays_in_injection_whatever_stream_is_asked_for(user, project, model_server):
    model_server.script(text("I cannot."), text("Look at the links."), text("And now?"))
    session_id = (await ask(user, project, "", path="/inject"))[0]["session_id"]
    for fields in ({}, {"copilot_mode": "lab_automation_assistant"}):
        events = await ask(user, project, "A hint?", session_id=session_id, **fields)
        assert kinds_of(events)[-1] == "done"
        assert "manage_gns3_packet_filter" in model_server.last_request.tool_names


async def test_an_injection_into_another_conversation_makes_it_one(user, project, model_server):
    model_server.script(text("Hello."), text("I cannot."))
    session_id = (await ask(user, project, "hi"))[0]["session_id"]
    assert (await session(user, project, session_id))["metadata"]["copilot_mode"] == "teaching_assistant"
    await user.patch(f"{project.chat}/sessions/{session_id}", json={"title": "Mine"})
    await ask(user, project, "Now break it", path="/inject", session_id=session_id)
    kept = await session(user, project, session_id)
    assert (kept["metadata"]["copilot_mode"], kept["title"], kept["message_count"]) == (INJECTION, "Mine", 4)


async def test_another_mode_and_a_message_that_is_too_long_are_refused(user, project):
    answer = await user.post(f"{project.chat}/inject", json={"copilot_mode": "teaching_assistant"})
    assert (answer.status_code, answer.json()["message"].split(":")[0]) == (422, "copilot_mode")
    answer = await user.post(f"{project.chat}/inject", json={"message": "x" * 100_001})
    assert answer.status_code == 413


async def test_without_a_stream_the_failed_injection_is_an_error_answer(user, project, model_server):
    model_server.script(text("I cannot."))
    answer = await user.post(f"{project.chat}/inject", json={"stream": False})
    assert answer.status_code == 400
    assert "No fault was put in" in answer.json()["message"]


async def test_whoever_may_not_inject_can_neither_begin_nor_go_on(make_user, accounts, admin, project, model_server):
    group = f"students-{uuid.uuid4().hex[:6]}"
    student = await make_user(role="User", group=group)
    await configure_model(student, model_server)
    model_server.script(text("I cannot."))
    session_id = (await ask(student, project, "", path="/inject"))[0]["session_id"]
    url = f"/v3/access/groups/{await accounts.group(group)}/llm-policy"
    await ok(admin.put(url, json={"may_inject": False}))
    for path in ("/inject", "/stream"):
        answer = await student.post(f"{project.chat}{path}", json={"message": "go", "session_id": session_id})
        assert answer.status_code == 403
        assert group in answer.json()["message"]
    assert len(await history(student, project, session_id)) == 2
