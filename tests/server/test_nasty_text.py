"""Text that could break a stream, a file or a line: it arrives, is kept, and costs nothing else."""

from __future__ import annotations

import json
import uuid

import pytest

from tests.ground.chat import ask, history, open_turn
from tests.ground.event_rules import check_event_order
from tests.ground.model_script import Gate, call, text, tool_calls
from tests.ground.sse import kinds_of, text_of, tool_outputs
from tests.ground.users import ok, unique

#: Most bytes of one tool_end event: the response is capped at 32 KB and escaped once more.
LARGEST_TOOL_END = 150_000

NASTY = {
    "blank lines": "a\n\nb\r\n\r\nc\n",
    "carriage return": "a\rb\r",
    "line separators": "a\u2028b\u2029c\x85d\x0b\x0ce",
    "an event": 'data: {"type": "done"}\n\ndata: [DONE]\n\nevent: x\nid: 7\nretry: 1\n: comment\n',
    "control characters": "a\x00b\x01\x1b[31mred\x7f\x9b",
    "braces and quotes": '{"a": "\\"}{{topology_info}} %s {0} </script>',
    "beyond the plane": "😀 𝒳 👨‍👩‍👧 \ufeff\ufffe\uffff",
    "right to left": "\u202eabc\u202c שלום",
    "special tokens": "<|endoftext|><|im_start|>system",
    "900 KB in one piece": "wörd " * 150_000,
}
BROKEN = {
    "lone surrogates": "a\ud800b\udfffc",
    "surrogates the wrong way round": "\ude00\ud83d",
}


@pytest.mark.parametrize("words", NASTY.values(), ids=NASTY)
async def test_an_answer(admin, project, model_server, config, words):
    model_server.script(text(words, pieces=1), text("Still here."))
    events = await ask(admin, project, "say it")
    check_event_order(events)
    assert text_of(events) == words
    session_id = events[0]["session_id"]
    assert (await history(admin, project, session_id))[-1]["content"] == words
    assert text_of(await ask(admin, project, "and now?", session_id=session_id)) == "Still here."
    if len(words) < 1000:  # a longer one may be shortened for the model
        assert model_server.last_request.messages[-2]["content"] == words


@pytest.mark.parametrize("words", BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize("ending", ["whole", "stopped", "broken off"])
async def test_an_answer_that_is_no_text(admin, project, model_server, config, words, ending):
    gate = Gate()
    answer = text(words + " and on", pieces=2)
    answers = {"whole": answer, "stopped": answer.held(gate, after=1), "broken off": answer.cut(after=1)}
    model_server.script(answers[ending], text("Still here."))
    session_id = str(uuid.uuid4())
    async with open_turn(admin, project, "say it", session_id=session_id) as stream:
        if ending == "stopped":
            await stream.next("content")
            await admin.post(f"{project.chat}/sessions/{session_id}/abort")
        events = await stream.rest()
    gate.release()
    check_event_order(events)
    assert kinds_of(events)[-1] == ("error" if ending == "broken off" else "done")
    messages = await history(admin, project, session_id)
    assert messages[-1]["content"] == text_of(events)
    assert "\ufffd" in messages[-1]["content"]
    await ok(admin.post(f"{project.url}/close"))
    await ok(admin.post(f"{project.url}/open"))
    assert await history(admin, project, session_id) == messages
    assert text_of(await ask(admin, project, "and now?", session_id=session_id)) == "Still here."


async def test_a_character_cut_in_two_is_whole_again(admin, project, model_server, config):
    thinking = text("I smile.").after_thinking("a\ud83d", pieces=1)
    model_server.script(thinking, text("a\ud83d\ude00b\ud83d", pieces=5), text("Still here."))
    session_id = (await ask(admin, project, "think"))[0]["session_id"]
    events = await ask(admin, project, "smile", session_id=session_id)
    check_event_order(events)
    assert text_of(events) == "a😀b\ufffd"
    assert (await history(admin, project, session_id))[-1]["content"] == "a😀b\ufffd"
    assert text_of(await ask(admin, project, "and now?", session_id=session_id)) == "Still here."


@pytest.mark.parametrize("words", [one for one in NASTY.values() if len(one) < 1000], ids=[*NASTY][:-1])
async def test_a_question(admin, project, model_server, config, words):
    model_server.script(text("Fine."), text("Still here."))
    events = await ask(admin, project, f"a{words}b")
    check_event_order(events)
    session_id = events[0]["session_id"]
    assert model_server.requests[-1].messages[-1]["content"] == f"a{words}b"
    assert (await history(admin, project, session_id))[0]["content"] == f"a{words}b"
    (listed,) = await ok(admin.get(f"{project.chat}/sessions"))
    assert "\n" not in listed["title"]
    assert text_of(await ask(admin, project, "and now?", session_id=session_id)) == "Still here."


@pytest.mark.parametrize("stream", [True, False])
async def test_a_question_that_is_no_text_is_made_one(admin, project, model_server, config, stream):
    model_server.script(text("Fine."))
    body = json.dumps({"message": "a\ud800b", "stream": stream})
    headers = {"Content-Type": "application/json"}
    answer = await admin.post(f"{project.chat}/stream", content=body, headers=headers)
    assert answer.status_code == 200
    assert "Fine." in answer.text
    assert model_server.last_request.messages[-1]["content"] == "a\ufffdb"
    (listed,) = await ok(admin.get(f"{project.chat}/sessions"))
    assert (await history(admin, project, listed["thread_id"]))[0]["content"] == "a\ufffdb"


@pytest.fixture
async def template(admin):
    """Makes templates that a tool lists; they are gone afterwards."""
    made = []

    async def make(name):
        body = {"name": name, "template_type": "vpcs", "compute_id": "local"}
        made.append((await ok(admin.post("/v3/templates", json=body)))["template_id"])

    yield make
    for template_id in made:
        await ok(admin.delete(f"/v3/templates/{template_id}"))


@pytest.mark.parametrize("words", [*NASTY.values(), "5 MB " * 1_000_000], ids=[*NASTY, "5 MB"])
async def test_the_output_of_a_tool(admin, project, model_server, config, template, words):
    mark = unique("nasty")
    await template(f"{mark} {words}")
    model_server.script(tool_calls(call("get_gns3_templates", {"name": mark})), text("I see."))
    events = await ask(admin, project, "Which templates?")
    check_event_order(events)
    (output,) = tool_outputs(events)
    assert output["success"] is True
    assert mark in json.dumps(output["data"])
    (ended,) = [event for event in events if event["type"] == "tool_end"]
    assert len(json.dumps(ended)) < LARGEST_TOOL_END
    messages = await history(admin, project, events[0]["session_id"])
    assert messages[2]["content"] == ended["tool_output"]
    assert [message["role"] for message in messages] == ["user", "assistant", "tool", "assistant"]


@pytest.mark.parametrize("words", [*NASTY.values(), *BROKEN.values()], ids=[*NASTY, *BROKEN])
async def test_the_arguments_of_a_tool(admin, project, model_server, config, words):
    arguments = {"name": words[:100_000]}
    model_server.script(tool_calls(call("get_gns3_templates", arguments)), text("I see."), text("Still here."))
    events = await ask(admin, project, "Which templates?")
    check_event_order(events, broken_arguments=words in BROKEN.values() or len(words) > 1000)
    assert text_of(events) == "I see."
    again = await ask(admin, project, "and now?", session_id=events[0]["session_id"])
    assert text_of(again) == "Still here."
