"""Titles: made by the model of the first turn, or the beginning of the question; never in the way."""

from __future__ import annotations

import asyncio
import dataclasses

import pytest
from langchain_core.messages import AIMessageChunk

from gns3server_copilot.agent import titles
from gns3server_copilot.agent.titles import title_of
from tests.ground.sse import kinds_of
from tests.unit.agent.conftest import ALICE, ask, events_of
from tests.unit.agent.scripted_model import ProviderError, call, end, say
from tests.unit.llm.samples import CONFIG

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_the_model_names_a_conversation_after_its_first_turn_only(agent, request_of, model, probes):
    model.script(call("look"), say("All is well."))
    model.titles.append(say('**Title:** "OSPF between R1 and R2."'))
    events = await ask(agent, request_of("Is all well with OSPF?"))
    assert events[-1]["title"] == "OSPF between R1 and R2"
    [sent] = model.title_requests
    assert "Is all well" in sent[1]["content"]
    assert "All is well." in sent[1]["content"]
    session_id = events[0]["session_id"]
    await ask(agent, request_of("And now?", session_id))
    assert len(model.title_requests) == 1
    assert (await agent.session(session_id, ALICE)).title == "OSPF between R1 and R2"


async def test_what_a_title_costs_is_paid_but_neither_shown_nor_counted(agent, request_of, model, counted):
    events = await ask(agent, request_of())
    assert kinds_of(events) == ["content", "done"]
    session = await agent.session(events[0]["session_id"], ALICE)
    assert session.llm_calls_count == 1
    assert session.message_count == 2
    assert session.stats["context_limit"] == 128_000
    assert session.stats["context_tokens"] == events[-1]["usage"]["context_tokens"] > 50
    [billed] = counted.turns
    assert billed["model_calls"] == 2
    assert billed["input_tokens"] > session.input_tokens
    assert billed["output_tokens"] > session.output_tokens


@pytest.mark.parametrize(
    "answer",
    [
        [ProviderError(401, "Wrong key.")],
        [],
        say("# Titles\n- One\n- Two\n- Three"),
        say("word " * 800),
        [*call("look"), end()],
        [lambda: asyncio.Event().wait()],
    ],
    ids=["refused", "empty", "a list", "4 KB", "a tool call", "silence"],
)
async def test_without_a_title_it_is_the_beginning_of_the_question(
    agent, request_of, model, probes, answer, monkeypatch
):
    monkeypatch.setattr(titles, "TITLE_SECONDS", 0.2)
    model.titles.append(answer)
    async with asyncio.timeout(5):
        events = await ask(agent, request_of("Why   is there no\nadjacency between R1 and R2, please?"))
    assert events[-1]["title"] == "Why is there no adjacency between R1 an…"
    assert probes.ran == []


async def test_a_person_s_title_stays(agent, request_of, model, probes):
    request = request_of()

    async def rename():
        await agent.rename(request.session_id, ALICE, "Mine")

    model.titles.append([*say("A better title"), rename])
    events = await ask(agent, request)
    assert events[-1]["title"] == "Mine"


async def test_thoughts_are_no_title(agent, request_of, model, probes):
    model.titles.append(
        [
            AIMessageChunk("", additional_kwargs={"reasoning_content": "Let me think"}),
            AIMessageChunk([{"type": "thinking", "thinking": "hmm", "index": 0}]),
            AIMessageChunk([{"type": "text", "text": "VLANs on SW1", "index": 1}]),
        ]
    )
    assert (await ask(agent, request_of()))[-1]["title"] == "VLANs on SW1"


async def test_a_turn_that_is_stopped_or_fails_asks_for_no_title(agent, request_of, model, probes):
    model.script([ProviderError(401, "Wrong key.")])
    events = await ask(agent, request_of("first"))
    assert kinds_of(events) == ["error"]
    turns = []
    model.script([*say("I begin"), lambda: turns[0].abort("The test."), lambda: asyncio.Event().wait()])
    turn = await agent.start_turn(request_of("second"))
    turns.append(turn)
    assert kinds_of(await events_of(turn))[-2:] == ["abort", "done"]
    assert model.title_requests == []


async def test_the_offline_model_is_not_asked_for_titles(agent, request_of, model, probes):
    offline = dataclasses.replace(CONFIG, provider="offline", model="offline")
    events = await ask(agent, request_of("Show me the topology", config=offline))
    assert events[-1]["title"] == "Show me the topology"
    assert model.title_requests == []


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("OSPF between R1 and R2", "OSPF between R1 and R2"),
        ('"Quoted"', "Quoted"),
        ("**Bold** and `code`.", "Bold and code"),
        ("Titel: Kein OSPF", "Kein OSPF"),
        ("标题\uff1a接口关闭", "接口关闭"),
        ("## VLAN_10 is down", "VLAN_10 is down"),
        ("「接口」", "接口"),
        ("x" * 60, "x" * 39 + "…"),
        ("", None),
        ("..", None),
        ("one\ntwo", None),
        ("word " * 200, None),
    ],
)
async def test_a_title_is_one_plain_line(answer, expected):
    assert title_of(answer) == expected
