"""The graph's own rules: loops are ended, stopped calls are answered."""

from __future__ import annotations

import asyncio
import json

import pytest

from gns3server_copilot.agent import ending
from gns3server_copilot.agent.closing import REPEATED_HINT
from tests.ground.event_rules import check_event_order
from tests.ground.sse import kinds_of, text_of, tool_outputs
from tests.unit.agent.conftest import ask, events_of
from tests.unit.agent.scripted_model import call, end, say

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_the_same_call_failing_three_times_ends_the_round_with_an_explanation(agent, request_of, model, probes):
    again = call("look", {"how": "fail"})
    model.script(again, again, again, say("It does not work because R1 is off."))
    events = await ask(agent, request_of())
    outputs = tool_outputs(events)
    hints = [output["metadata"].get("hint") for output in outputs]
    assert hints == [None, REPEATED_HINT, None]
    assert len(probes.ran) == 3
    sent, tools = model.requests[-1]
    assert tools == []
    assert "failed three times" in sent[0]["content"]
    assert text_of(events) == "It does not work because R1 is off."


async def test_other_arguments_are_another_call(agent, request_of, model, probes):
    model.script(*(call("look", {"how": "fail", "n": n}) for n in range(3)), say("I give up."))
    await ask(agent, request_of())
    assert len(probes.ran) == 3
    assert "budget" in model.requests[-1][0][0]["content"]


async def test_a_model_that_repeats_itself_even_then_gets_our_words(agent, request_of, model, probes):
    model.script(*[call("look", {"how": "fail"})] * 4)
    events = await ask(agent, request_of())
    assert len(probes.ran) == 3
    assert "failed three times" in text_of(events)
    after = await ask(agent, request_of(session_id=events[0]["session_id"]))
    assert text_of(after) == "Done."


async def test_a_batch_of_one_failing_call_is_not_carried_out_a_hundred_times(agent, request_of, model, probes):
    batch = [step for n in range(20) for step in call("change", {"how": "fail"}, id=f"c{n}", index=n)]
    model.script(batch, say("No."))
    events = await ask(agent, request_of())
    assert len(probes.ran) == 3
    assert len(tool_outputs(events)) == 20


async def test_calls_that_cannot_be_read_are_answered_and_end_the_round_in_the_end(agent, request_of, model, probes):
    broken = [[*call("look", '{"n": ' + str(n)), end()] for n in range(3)]
    model.script(*broken, say("I cannot."))
    events = await ask(agent, request_of())
    assert probes.ran == []
    assert ["not a JSON object" in output["error"] for output in tool_outputs(events)] == [True] * 3
    assert "could not be read" in model.requests[-1][0][0]["content"]
    assert text_of(events) == "I cannot."


@pytest.mark.parametrize("hides", [True, False])
async def test_answers_say_whether_their_model_was_kept_from_secrets(
    agent, request_of, model, probes, hides, monkeypatch
):
    monkeypatch.setattr("gns3server_copilot.agent.graph.hides_secrets", lambda config, settings: hides)
    model.script(call("look"), say("So."))
    events = await ask(agent, request_of())
    history = await agent.history(events[0]["session_id"])
    answers = [message for message in history if message["role"] == "assistant"]
    assert [message["metadata"].get("redacted", False) for message in answers] == [hides, hides]


# --- what is stopped -----------------------------------------------------------------------------------------------


async def stop_during(agent, request, probes, *, then=None):
    """Run a turn whose call begins a change, stop it there, and give its events and the interrupted result."""
    turn = await agent.start_turn(request)
    reading = asyncio.create_task(events_of(turn))
    async with asyncio.timeout(5):
        await probes.begun.wait()
    turn.abort("The test.")
    if then is not None:
        then()
    events = await reading
    check_event_order(events)
    history = await agent.history(request.session_id)
    [kept] = [json.loads(message["content"]) for message in history if message["role"] == "tool"]
    assert kept == tool_outputs(events)[0]
    return events, kept


async def test_what_came_of_a_change_that_had_begun_is_in_the_history(agent, request_of, model, probes):
    model.script(call("change", {"how": "finish"}))
    _, kept = await stop_during(agent, request_of(), probes, then=probes.changes.set)
    assert kept["success"] is False
    assert kept["metadata"]["interrupted"] is True
    [item] = kept["data"]
    assert (item["status"], item["name"], item["result"]) == ("success", "make finish", "R9 exists.")


async def test_a_change_that_fails_meanwhile_is_said_too(agent, request_of, model, probes):
    model.script(call("change", {"how": "break"}))
    _, kept = await stop_during(agent, request_of(), probes, then=probes.changes.set)
    [item] = kept["data"]
    assert item["error"] == "There is no room."


async def test_a_change_that_takes_longer_is_said_to_go_on(agent, request_of, model, probes, monkeypatch):
    monkeypatch.setattr(ending, "CHANGES_SECONDS", 0.05)
    model.script(call("change", {"how": "go on"}))
    _, kept = await stop_during(agent, request_of(), probes)
    [item] = kept["data"]
    assert "still going on" in item["error"]
    probes.changes.set()


async def test_the_state_says_that_the_turn_was_stopped_until_the_next_one(agent, request_of, model, probes):
    request = request_of()
    two = [*call("look", {"how": "slow"}, id="a", index=0), *call("stop_it", {"how": "abort"}, id="b", index=1)]
    model.script([*two, *call("change", id="c", index=2)])
    turn = await agent.start_turn(request)
    probes.abort = lambda: turn.abort("The test.")
    events = await events_of(turn)
    assert kinds_of(events)[-2:] == ["abort", "done"]
    state = (await agent._graph.aget_state({"configurable": {"thread_id": request.session_id}})).values
    assert state["abort"] is True
    assert [message.type for message in state["messages"]] == ["human", "ai", "tool", "tool", "tool", "ai"]
    outputs = [json.loads(message.content) for message in state["messages"] if message.type == "tool"]
    assert outputs[0]["success"]
    assert "partly carried out" in outputs[1]["error"]
    assert "Not carried out" in outputs[2]["error"]
    await ask(agent, request_of(session_id=request.session_id))
    state = (await agent._graph.aget_state({"configurable": {"thread_id": request.session_id}})).values
    assert state["abort"] is False
    assert set(state) <= {"messages", "llm_calls", "conversation_title", "session_id", "abort"}
