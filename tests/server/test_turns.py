"""A question over HTTP, answered by a model through the real graph, tools and storage."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import uuid
from contextlib import aclosing

import pytest

from gns3server_copilot.schemas.modes import Mode
from gns3server_copilot.settings import Settings
from gns3server_copilot.tools.registry import tools_for
from tests.ground.chat import ask, configure_model, history, open_turn, session
from tests.ground.event_rules import check_event_order
from tests.ground.model_script import (
    Gate,
    call,
    context_too_long,
    empty,
    html_page,
    text,
    too_many_requests,
    tool_calls,
    unauthorized,
)
from tests.ground.projects import Projects
from tests.ground.sse import kinds_of, open_stream, text_of, tool_outputs
from tests.ground.users import log_in_admin


@pytest.fixture
async def config(admin, model_server):
    return await configure_model(admin, model_server)


@pytest.mark.parametrize("prefix", ["/v3/projects", "/v3/copilot/projects"])
async def test_an_answer_is_streamed_under_both_prefixes(admin, project, model_server, config, prefix):
    model_server.script(text("There are no nodes yet.", pieces=5))
    answer = await admin.post(f"{prefix}/{project.project_id}/chat/stream", json={"message": "What is in my lab?"})
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert answer.headers["x-accel-buffering"] == "no"
    assert "no-transform" in answer.headers["cache-control"]
    events = [json.loads(line.removeprefix("data: ")) for line in answer.text.splitlines() if line]
    check_event_order(events)
    assert text_of(events) == "There are no nodes yet."


async def test_a_turn_with_two_tool_calls_streams_in_order_looks_at_the_real_project_and_is_kept(
    admin, project, model_server, config
):
    created = call("create_gns3_node", {"nodes": [{"template": "VPCS", "name": "Client"}]})
    model_server.script(
        tool_calls(call("get_gns3_templates", {"template_type": "vpcs"}), created, text="I make one."),
        text("Client is there now."),
    )
    events = await ask(admin, project, "Add a PC named Client")
    check_event_order(events)
    kinds = [kind for kind in kinds_of(events) if kind != "content"]
    assert kinds.index("tool_start") == 1 + max(i for i, kind in enumerate(kinds) if kind == "tool_call")
    assert kinds[-5:] == ["tool_start", "tool_end", "tool_start", "tool_end", "done"]
    templates, nodes = tool_outputs(events)
    assert "VPCS" in [item["name"] for item in templates["data"]]
    assert nodes["data"][0]["name"] == "Client"
    assert [node["name"] for node in (await admin.get(f"{project.url}/nodes")).json()] == ["Client"]
    session_id = events[0]["session_id"]
    roles = [message["role"] for message in await history(admin, project, session_id)]
    assert roles == ["user", "assistant", "tool", "tool", "assistant"]
    kept = await session(admin, project, session_id)
    assert (kept["message_count"], kept["llm_calls_count"]) == (5, 2)
    assert (kept["input_tokens"], kept["output_tokens"], kept["total_tokens"]) == (200, 20, 220)
    assert kept["title"] == events[-1]["title"] == "Scripted title"
    assert kept["stats"] == {"context_tokens": 110, "context_limit": 128_000}
    assert kept["updated_at"].endswith("+00:00")


async def test_the_model_sees_the_topology_as_it_is_now_and_the_tools_of_the_mode(admin, project, model_server, config):
    await admin.post(f"{project.url}/nodes", json={"name": "Oddly-Named", "node_type": "vpcs", "compute_id": "local"})
    model_server.script(text("ok"))
    await ask(admin, project, "hello")
    request = model_server.last_request
    assert "Oddly-Named" in request.system_prompt
    assert request.tool_names == [tool.name for tool in tools_for(Mode.TEACHING, Settings())]


async def test_a_second_turn_sees_the_first(admin, project, model_server, config):
    model_server.script(text("I am well."), text("You asked how I am."))
    first = await ask(admin, project, "How are you?")
    second = await ask(admin, project, "What did I ask?", session_id=first[0]["session_id"])
    check_event_order(second, earlier=first)
    assert [message["content"] for message in model_server.last_request.messages[1:]] == [
        "How are you?",
        "I am well.",
        "What did I ask?",
    ]


async def test_the_client_may_choose_the_session_s_id(admin, project, model_server, config):
    model_server.script(text("hello"))
    chosen = str(uuid.uuid4())
    events = await ask(admin, project, "hi", session_id=chosen)
    assert {event["session_id"] for event in events} == {chosen}
    assert (await session(admin, project, chosen))["thread_id"] == chosen


async def test_without_streaming_the_answer_is_one_json_object(admin, project, model_server, config):
    model_server.script(tool_calls(call("get_gns3_templates")), text("Many."))
    answer = await admin.post(f"{project.chat}/stream", json={"message": "templates?", "stream": False})
    body = answer.json()
    assert answer.status_code == 200
    assert body["message"] == "Many."
    assert body["tool_calls"][0]["result"]["success"] is True
    assert body["usage"]["total_tokens"] == 220


async def test_a_client_that_waits_for_the_whole_answer_and_leaves_ends_the_turn(admin, project, model_server, config):
    gate = Gate()
    model_server.script(text("one two three four", pieces=4).held(gate, after=2))
    body = {"message": "count", "stream": False}
    waiting = asyncio.create_task(admin.post(f"{project.chat}/stream", json=body))
    await gate.reached()
    waiting.cancel()
    request = await model_server.received(1)
    assert await request.outcome() == "left"
    gate.release()


async def test_a_tool_outside_the_mode_and_one_that_does_not_exist_fail_and_the_turn_goes_on(
    admin, project, model_server, config
):
    model_server.script(
        tool_calls(call("gns3_topology_reader"), call("show_me_everything")), text("Neither is possible.")
    )
    events = await ask(admin, project, "Read it all")
    check_event_order(events)
    for output in tool_outputs(events):
        assert output["success"] is False
        assert "get_gns3_templates" in output["error"]
    assert text_of(events) == "Neither is possible."


async def test_a_call_that_was_cut_off_is_not_carried_out(admin, project, model_server, config):
    cut = call("create_gns3_node", '{"nodes": [{"template": "VPCS"}')
    model_server.script(tool_calls(cut, finish_reason="length"), text("I try smaller."))
    events = await ask(admin, project, "Add nodes")
    check_event_order(events, broken_arguments=True)
    assert "cut off" in tool_outputs(events)[0]["error"]
    assert (await admin.get(f"{project.url}/nodes")).json() == []


async def test_the_tool_budget_ends_with_words_not_with_silence(start_gns3_server, model_server):
    server = start_gns3_server(copilot={"tool_rounds": 2})
    async with aclosing(await log_in_admin(server)) as admin:
        project = await Projects(admin).make()
        await configure_model(admin, model_server)
        again = tool_calls(call("get_gns3_templates"))
        model_server.script(again, again, text("I have looked twice and stop here."))
        events = await ask(admin, project, "Look for ever")
        check_event_order(events)
        assert text_of(events) == "I have looked twice and stop here."
        assert model_server.last_request.tool_names == []


@pytest.mark.parametrize(
    ("answer", "tries", "words"),
    [
        (unauthorized(), 1, "API key"),
        (too_many_requests(retry_after=0), 3, "limit"),
        (context_too_long(), 1, "too long"),
        (html_page(), 1, "Check the base URL"),
        (empty(), 2, "empty answer"),
    ],
)
async def test_a_model_that_fails_is_explained_and_the_question_is_kept(
    admin, project, model_server, config, answer, tries, words
):
    model_server.script(*[answer] * tries, text("Now it works."))
    events = await ask(admin, project, "hello")
    check_event_order(events)
    assert kinds_of(events) == ["error"]
    assert words in events[-1]["error"]
    session_id = events[0]["session_id"]
    messages = await history(admin, project, session_id)
    assert [message["role"] for message in messages] == ["user", "assistant"]
    assert messages[1]["metadata"]["error"] == events[-1]["error"]
    again = await ask(admin, project, "again", session_id=session_id)
    assert text_of(again) == "Now it works."


async def test_a_model_server_that_is_not_there_is_explained(admin, project, model_server):
    await configure_model(admin, model_server, base_url="http://127.0.0.1:9/v1")
    events = await ask(admin, project, "hello")
    assert "cannot be reached" in events[-1]["error"]


async def test_a_connection_that_breaks_in_the_middle_keeps_what_had_come(admin, project, model_server, config):
    model_server.script(text("one two three four", pieces=4).cut(after=2))
    events = await ask(admin, project, "count")
    assert kinds_of(events)[-1] == "error"
    messages = await history(admin, project, events[0]["session_id"])
    assert messages[-1]["content"] == text_of(events)
    assert messages[-1]["metadata"]["error"]


@pytest.mark.parametrize("after", [None, 2], ids=["before the first token", "while it streams"])
async def test_an_abort_ends_the_turn_at_once_and_keeps_what_had_come(admin, project, model_server, config, after):
    gate = Gate()
    model_server.script(text("one two three four", pieces=4).held(gate, after), text("Here I am."))
    async with open_turn(admin, project, "count", session_id=str(uuid.uuid4())) as stream:
        await gate.reached()
        if after:
            session_id = (await stream.next("content"))["session_id"]
        else:
            sessions = (await admin.get(f"{project.chat}/sessions")).json()
            session_id = sessions[0]["thread_id"]
            assert sessions[0]["running"] is True
        async with asyncio.timeout(1):
            for _ in range(2):
                answer = await admin.post(f"{project.chat}/sessions/{session_id}/abort")
                assert answer.json() == {"status": "ok", "session_id": session_id}
            rest = await stream.rest()
    gate.release()
    assert kinds_of(rest)[-2:] == ["abort", "done"]
    messages = await history(admin, project, session_id)
    assert messages[-1]["metadata"]["aborted"] is True
    assert messages[-1]["content"] == text_of(rest)
    again = await ask(admin, project, "still there?", session_id=session_id)
    assert text_of(again) == "Here I am."


async def test_a_reader_that_leaves_ends_the_turn(admin, project, model_server, config):
    gate = Gate()
    session_id = str(uuid.uuid4())
    model_server.script(text("one two three four", pieces=4).held(gate, after=2))
    async with open_turn(admin, project, "count", session_id=session_id) as stream:
        await stream.next("content")
        await stream.drop()
    request = await model_server.received(1)
    assert await request.outcome() == "left"
    gate.release()
    async with asyncio.timeout(5):
        while (await session(admin, project, session_id))["running"]:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    messages = await history(admin, project, session_id)
    assert messages[-1]["metadata"]["aborted"] is True


async def test_with_continue_the_turn_goes_on_and_another_reader_gets_all_of_it(admin, project, model_server, config):
    gate = Gate()
    session_id = str(uuid.uuid4())
    model_server.script(text("one two three four", pieces=4).held(gate, after=2))
    async with open_turn(admin, project, "count", session_id=session_id, on_disconnect="continue") as stream:
        await stream.next("content")
        await stream.drop()
    async with open_stream(admin, "GET", f"{project.chat}/sessions/{session_id}/events") as stream:
        await stream.next("content")
        gate.release()
        events = await stream.rest()
    assert kinds_of(events)[-1] == "done"
    messages = await history(admin, project, session_id)
    assert messages[-1]["content"] == "one two three four"
    gone = await admin.get(f"{project.chat}/sessions/{session_id}/events")
    assert gone.status_code == 404


async def test_one_turn_runs_in_a_session_at_a_time_and_the_second_writes_nothing(admin, project, model_server, config):
    gate = Gate()
    session_id = str(uuid.uuid4())
    model_server.script(text("slow").held(gate))
    async with open_turn(admin, project, "first", session_id=session_id) as stream:
        await gate.reached()
        second = await admin.post(f"{project.chat}/stream", json={"message": "second", "session_id": session_id})
        assert second.status_code == 409
        assert "busy" in second.json()["message"]
        gate.release()
        await stream.rest()
    assert [message["content"] for message in await history(admin, project, session_id)] == ["first", "slow"]


async def test_a_user_s_turns_at_once_are_limited(admin, project, model_server, config):
    gate = Gate()
    model_server.always(text("slow").held(gate))
    async with asyncio.TaskGroup() as group:
        turns = [group.create_task(ask(admin, project, f"question {n}")) for n in range(5)]
        await model_server.received(5)
        sixth = await admin.post(f"{project.chat}/stream", json={"message": "one more"})
        assert sixth.status_code == 429
        gate.release()
    assert all(kinds_of(turn.result())[-1] == "done" for turn in turns)


async def test_tokens_are_counted_here_when_the_provider_tells_none(admin, project, model_server, config):
    model_server.script(text("Hello there.").with_usage("never"))
    events = await ask(admin, project, "hello")
    usage = events[-1]["usage"]
    assert usage["estimated"] is True
    assert usage["input_tokens"] > 100
    assert 2 <= usage["output_tokens"] <= 5
    kept = await session(admin, project, events[0]["session_id"])
    assert kept["stats"]["tokens_estimated"] is True


async def test_usage_that_a_server_repeats_in_every_chunk_counts_once(admin, project, model_server, config):
    model_server.script(text("Hello there you.", pieces=3).with_usage("every"))
    events = await ask(admin, project, "hello")
    assert events[-1]["usage"] == {
        "input_tokens": 100,
        "output_tokens": 10,
        "total_tokens": 110,
        "estimated": False,
        "context_tokens": 110,
        "context_limit": 128_000,
    }


async def test_an_absurd_usage_figure_costs_nobody_the_list_of_conversations(admin, project, model_server, config):
    model_server.always(text("Hello.").with_usage("asked", input_tokens=9 * 10**18, output_tokens=9 * 10**18))
    for _ in range(2):
        events = await ask(admin, project, "hello")
        assert events[-1]["usage"]["estimated"] is True
    assert len((await admin.get(f"{project.chat}/sessions")).json()) == 2
    await admin.post(f"{project.url}/close")
    await admin.post(f"{project.url}/open")
    assert len((await admin.get(f"{project.chat}/sessions")).json()) == 2


async def test_a_lone_surrogate_from_the_model_does_not_block_the_conversation(admin, project, model_server, config):
    broken = call("get_gns3_templates", '{"name": "\\ud800"}')
    model_server.script(tool_calls(broken), text("I try without."), text("Still here."))
    events = await ask(admin, project, "templates?")
    check_event_order(events, broken_arguments=True)
    assert text_of(events) == "I try without."
    again = await ask(admin, project, "and now?", session_id=events[0]["session_id"])
    assert text_of(again) == "Still here."


@pytest.mark.parametrize(
    "endless",
    [
        text("word " * 300_000, pieces=50),
        tool_calls(call("get_gns3_templates", '{"name": "' + "x" * 1_500_000 + '"}')),
    ],
    ids=["text", "arguments"],
)
async def test_an_answer_without_end_is_ended(admin, project, model_server, config, endless):
    model_server.script(endless, text("Short."))
    events = await ask(admin, project, "hello")
    assert "does not come to an end" in events[-1]["error"]
    again = await ask(admin, project, "shorter", session_id=events[0]["session_id"])
    assert text_of(again) == "Short."


async def test_neither_the_token_nor_the_key_is_in_any_file_log_or_event(
    gns3_server, admin, project, model_server, config
):
    gate = Gate()
    model_server.script(tool_calls(call("get_gns3_templates")), text("Done.").held(gate))
    secrets = [admin.token, config["api_key"]]

    def check_files():
        for path in [*project.chat_database.parent.iterdir(), gns3_server.database_path]:
            content = path.read_bytes()
            assert not any(secret.encode() in content for secret in secrets), path

    async with open_turn(admin, project, "templates?") as stream:
        await gate.reached()
        check_files()  # with the checkpoints of every step there, which are pruned at the turn's end
        gate.release()
        events = await stream.rest()
    check_files()
    for secret in secrets:
        assert secret not in json.dumps(events)
        assert secret not in gns3_server.log()
    with sqlite3.connect(project.chat_database) as database:
        assert database.execute("SELECT count(*) FROM checkpoints").fetchone() == (1,)


async def test_what_a_turn_overrides_holds_for_that_turn_alone(admin, project, model_server, config):
    model_server.script(text("a"), text("b"))
    await ask(admin, project, "hello", temperature=0.25, copilot_mode="troubleshooting_injection")
    assert model_server.last_request.body["temperature"] == 0.25
    assert "manage_gns3_packet_filter" in model_server.last_request.tool_names
    await ask(admin, project, "hello")
    assert "temperature" not in model_server.last_request.body
    assert "manage_gns3_packet_filter" not in model_server.last_request.tool_names


async def test_nothing_of_the_server_s_environment_gets_a_chat_or_a_key(start_gns3_server, model_server):
    asked = []

    async def tracer(reader, writer):
        asked.append(await reader.readline())
        writer.write(b"HTTP/1.1 202 Accepted\r\nContent-Length: 2\r\n\r\n{}")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(tracer, "127.0.0.1", 0) as listener:
        address = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}"
        tracing = {"LANGSMITH_TRACING": "true", "LANGSMITH_API_KEY": "lsv2-environment", "LANGSMITH_ENDPOINT": address}
        openai = {"OPENAI_API_KEY": "sk-environment", "OPENAI_BASE_URL": address}
        server = await asyncio.to_thread(start_gns3_server, env=tracing | openai)
        async with aclosing(await log_in_admin(server)) as admin:
            project = await Projects(admin).make()
            await configure_model(admin, model_server, api_key=None)
            model_server.script(text("Hello."))
            assert text_of(await ask(admin, project, "hello")) == "Hello."
        await asyncio.to_thread(server.stop)
    assert asked == []
    assert "authorization" not in {name.lower() for name in model_server.last_request.headers}
