"""Conversations over HTTP: renamed, pinned, found, paged and deleted."""

from __future__ import annotations

import asyncio
import json
import re
import sqlite3
import uuid

import pytest

from tests.ground.chat import ask, configure_model, history, open_turn, session
from tests.ground.event_rules import check_event_order
from tests.ground.model_script import Gate, call, text, tool_calls, unauthorized
from tests.ground.sse import kinds_of, text_of

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00")


@pytest.fixture
async def user(make_user):
    made = await make_user(role="User")
    await configure_model(made)
    return made


async def begun(user, project, message="/help", **fields):
    """Ask one question in a new conversation and give the conversation's id."""
    return (await ask(user, project, message, **fields))[0]["session_id"]


async def titles(user, project, **query):
    answer = await user.get(f"{project.chat}/sessions", params=query)
    assert answer.status_code == 200
    return [one["title"] for one in answer.json()], int(answer.headers["x-total-count"])


async def test_a_conversation_is_renamed_and_the_whole_of_it_comes_back(user, project):
    session_id = await begun(user, project)
    before = await session(user, project, session_id)
    answer = await user.patch(f"{project.chat}/sessions/{session_id}", json={"title": "  My\n lab  "})
    assert answer.status_code == 200
    assert answer.json() == {
        **before,
        "title": "My lab",
        "metadata": {**before["metadata"], "title_by_person": True},
    }
    assert (await session(user, project, session_id)) == answer.json()


async def test_a_person_s_title_stays_and_comes_with_done(user, project):
    session_id = await begun(user, project)
    await user.patch(f"{project.chat}/sessions/{session_id}", json={"title": "Mine"})
    events = await ask(user, project, "/templates", session_id=session_id)
    assert events[-1]["title"] == "Mine"
    answer = await user.get(f"{project.chat}/sessions/{session_id}/history")
    assert answer.json()["title"] == "Mine"


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"title": None},
        {"title": ""},
        {"title": " \n\t"},
        {"title": "\u200b\u2066"},
        {"title": 5},
        {"title": "x" * 256},
        {"pinned": "yes"},
        {"pinned": 1},
        {"title": "good", "user_id": "11111111-1111-4111-8111-111111111111"},
        [],
        "title",
    ],
    ids=str,
)
async def test_a_change_that_is_none_is_refused_and_changes_nothing(user, project, change):
    session_id = await begun(user, project)
    before = await session(user, project, session_id)
    answer = await user.patch(f"{project.chat}/sessions/{session_id}", json=change)
    assert answer.status_code == 422
    assert set(answer.json()) == {"message", "detail"}
    assert await session(user, project, session_id) == before


async def test_a_title_may_be_as_long_as_the_web_ui_says_and_hold_any_character(user, project):
    session_id = await begun(user, project)
    title = "Netz-Übung 测试 🙂 100% 'quoted' \"twice\" </b> {x}" + "y" * 200
    answer = await user.patch(f"{project.chat}/sessions/{session_id}", json={"title": title[:255]})
    assert answer.json()["title"] == title[:255]
    broken = b'{"title": "half \\ud83d of it"}'
    headers = {"content-type": "application/json"}
    answer = await user.patch(f"{project.chat}/sessions/{session_id}", content=broken, headers=headers)
    assert (answer.status_code, answer.json()["message"].split(":")[0]) == (422, "title")


async def test_pinning_answers_with_the_whole_conversation_and_changes_the_order(user, project):
    first = await begun(user, project, "first")
    await begun(user, project, "second")
    assert await titles(user, project) == (["second", "first"], 2)
    for _ in range(2):
        answer = await user.put(f"{project.chat}/sessions/{first}/pin")
        assert answer.status_code == 200
        assert answer.json() == await session(user, project, first)
        assert answer.json()["pinned"] is True
    assert await titles(user, project) == (["first", "second"], 2)
    assert await titles(user, project, pinned="true") == (["first"], 1)
    for _ in range(2):
        answer = await user.delete(f"{project.chat}/sessions/{first}/pin")
        assert answer.status_code == 200
        assert answer.json()["pinned"] is False
    assert await titles(user, project) == (["second", "first"], 2)
    answer = await user.patch(f"{project.chat}/sessions/{first}", json={"pinned": True, "title": "both"})
    assert (answer.json()["pinned"], answer.json()["title"]) == (True, "both")


async def test_the_last_used_conversation_comes_first_and_a_new_title_does_not_make_it_used(user, project):
    first, second = await begun(user, project, "first"), await begun(user, project, "second")
    await user.patch(f"{project.chat}/sessions/{first}", json={"title": "renamed"})
    assert (await titles(user, project))[0] == ["second", "renamed"]
    await ask(user, project, "again", session_id=first)
    assert (await titles(user, project))[0] == ["renamed", "second"]
    assert (await session(user, project, second))["updated_at"] < (await session(user, project, first))["updated_at"]


async def test_a_list_is_searched_and_paged_and_tells_the_whole_number(user, project):
    for title in ("OSPF 100% broken", "BGP_peers", "Straße und Ärger", "ospf area"):
        await begun(user, project, title)
    assert await titles(user, project, q="ospf") == (["ospf area", "OSPF 100% broken"], 2)
    assert await titles(user, project, q="ärger") == (["Straße und Ärger"], 1)
    assert (await titles(user, project, q="STRASSE"))[1] == 1
    assert await titles(user, project, q="100%") == (["OSPF 100% broken"], 1)
    assert await titles(user, project, q="p_p") == (["BGP_peers"], 1)
    assert await titles(user, project, q="%") == (["OSPF 100% broken"], 1)
    assert await titles(user, project, q="nothing like it") == ([], 0)
    assert await titles(user, project, limit=2) == (["ospf area", "Straße und Ärger"], 4)
    assert await titles(user, project, limit=2, offset=2) == (["BGP_peers", "OSPF 100% broken"], 4)
    assert await titles(user, project, offset=9) == ([], 4)
    assert await titles(user, project, copilot_mode="troubleshooting_injection") == ([], 0)
    assert (await titles(user, project, copilot_mode="teaching_assistant"))[1] == 4


async def test_every_time_can_be_read_by_the_web_ui(user, project):
    session_id = await begun(user, project)
    kept = await session(user, project, session_id)
    whole = (await user.get(f"{project.chat}/sessions/{session_id}/history")).json()
    times = [kept[name] for name in ("created_at", "updated_at", "last_message_at")]
    times += [whole["created_at"], whole["updated_at"], *(message["created_at"] for message in whole["messages"])]
    assert all(TIME.fullmatch(time) for time in times), times
    assert '"Z' not in json.dumps(whole)


async def test_a_history_is_read_in_parts_from_its_end(user, project):
    session_id = await begun(user, project, "/templates")
    await ask(user, project, "/help", session_id=session_id)
    whole = await history(user, project, session_id)
    ids = [message["id"] for message in whole]
    assert len(set(ids)) == len(ids) == (await session(user, project, session_id))["message_count"]

    async def part(**query):
        answer = await user.get(f"{project.chat}/sessions/{session_id}/history", params=query)
        assert answer.status_code == 200
        return [message["id"] for message in answer.json()["messages"]]

    assert await part(limit=2) == ids[-2:]
    assert await part(limit=2, before=ids[-2]) == ids[-4:-2]
    assert await part(before=ids[0]) == []
    assert await part(limit=1000) == ids
    answer = await user.get(f"{project.chat}/sessions/{session_id}/history", params={"before": "never"})
    assert answer.status_code == 404
    answer = await user.get(f"{project.chat}/sessions/{session_id}/history", params={"limit": 0})
    assert answer.status_code == 422


async def test_a_deleted_conversation_leaves_nothing_and_its_id_begins_an_empty_one(user, project):
    session_id = await begun(user, project, "what-was-deleted")
    answer = await user.delete(f"{project.chat}/sessions/{session_id}")
    assert (answer.status_code, answer.content) == (204, b"")
    for method, rest in [("GET", ""), ("GET", "/history"), ("DELETE", ""), ("PUT", "/pin"), ("GET", "/events")]:
        answer = await user.request(method, f"{project.chat}/sessions/{session_id}{rest}")
        assert answer.status_code == 404, f"{method} {rest}"
    assert await titles(user, project) == ([], 0)
    with sqlite3.connect(f"file:{project.chat_database}?mode=ro", uri=True) as connection:
        rows = [connection.execute(f"SELECT * FROM {table}").fetchall() for table in ("checkpoints", "writes")]
    connection.close()
    assert rows == [[], []]
    await ask(user, project, "/help", session_id=session_id)
    messages = await history(user, project, session_id)
    assert [message["content"] for message in messages if message["role"] == "user"] == ["/help"]
    assert (await session(user, project, session_id))["message_count"] == len(messages)


async def test_deleting_a_conversation_stops_what_runs_in_it(make_user, project, model_server):
    user = await make_user(role="User")
    await configure_model(user, model_server)
    gate, session_id = Gate(), str(uuid.uuid4())
    model_server.script(text("one two three four", pieces=4).held(gate, after=2), text("Anew."))
    async with open_turn(user, project, "count", session_id=session_id) as stream:
        await stream.next("content")
        async with asyncio.timeout(2):
            answers = await asyncio.gather(*(user.delete(f"{project.chat}/sessions/{session_id}") for _ in range(2)))
            assert sorted(answer.status_code for answer in answers) == [204, 404]
            rest = await stream.rest()
    gate.release()
    assert kinds_of(rest)[-2:] == ["abort", "done"]
    assert (await user.get(f"{project.chat}/sessions/{session_id}")).status_code == 404
    events = await ask(user, project, "again", session_id=session_id)
    check_event_order(events)
    assert text_of(events) == "Anew."
    assert len(await history(user, project, session_id)) == 2


async def test_a_session_id_of_another_project_begins_an_empty_conversation_here(user, project, make_project):
    other = await make_project()
    session_id = await begun(user, project, "only here")
    assert await titles(user, other) == ([], 0)
    for method, rest in [("GET", ""), ("GET", "/history"), ("PATCH", ""), ("DELETE", ""), ("PUT", "/pin")]:
        body = {"title": "x"} if method == "PATCH" else None
        answer = await user.request(method, f"{other.chat}/sessions/{session_id}{rest}", json=body)
        assert answer.status_code == 404, f"{method} {rest}"
    events = await ask(user, other, "there too", session_id=session_id)
    check_event_order(events)
    assert [one["content"] for one in await history(user, other, session_id) if one["role"] == "user"] == ["there too"]
    await user.delete(f"{other.chat}/sessions/{session_id}")
    assert [one["content"] for one in await history(user, project, session_id) if one["role"] == "user"] == [
        "only here"
    ]


async def test_the_counters_are_those_of_every_turn_however_it_ended(make_user, project, model_server):
    user = await make_user(role="User")
    await configure_model(user, model_server)
    gate = Gate()
    model_server.script(
        tool_calls(call("get_gns3_templates"), call("get_gns3_templates")).with_usage(input_tokens=50, output_tokens=5),
        text("Two looks.").with_usage("every", input_tokens=70, output_tokens=7),
        tool_calls(call("get_gns3_templates")),
        unauthorized(),
        text("one two three four", pieces=4).held(gate, after=2),
        text("Untold.").with_usage("never"),
    )
    session_id = str(uuid.uuid4())

    async def figures():
        kept = await session(user, project, session_id)
        assert kept["message_count"] == len(await history(user, project, session_id))
        assert kept["total_tokens"] == kept["input_tokens"] + kept["output_tokens"]
        return kept["message_count"], kept["llm_calls_count"], kept["input_tokens"], kept["output_tokens"]

    events = await ask(user, project, "look twice", session_id=session_id)
    assert await figures() == (5, 2, 120, 12)
    told = {"input_tokens": 120, "output_tokens": 12, "total_tokens": 132, "estimated": False}
    assert events[-1]["usage"] == told | {"context_tokens": 77, "context_limit": 128_000}
    await ask(user, project, "fail after a look", session_id=session_id)
    messages, calls, *tokens = await figures()
    assert (messages, calls) == (9, 4)
    assert tokens[0] >= 220
    async with open_turn(user, project, "be stopped", session_id=session_id) as stream:
        await stream.next("content")
        await user.post(f"{project.chat}/sessions/{session_id}/abort")
        await stream.rest()
    gate.release()
    assert (await figures())[:2] == (11, 5)
    await ask(user, project, "count yourself", session_id=session_id)
    assert (await figures())[:2] == (13, 6)
    stats = (await session(user, project, session_id))["stats"]
    assert stats["tokens_estimated"] is True
    assert stats["context_limit"] == 128_000
