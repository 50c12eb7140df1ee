"""An admin's own files: read when told to, never under a running turn, and harmless when they are wrong."""

from __future__ import annotations

import asyncio
import shutil
import time

import pytest

from tests.ground.chat import ask, configure_model, history
from tests.ground.model_script import Gate, call, text, tool_calls
from tests.ground.sse import kinds_of, text_of
from tests.ground.users import ok

RELOAD = "/v3/copilot/reload/skills"
PIRATE = "You are a pirate in {{project}}.\n\n{{tools}}\n\n{{topology_info}}\n"


@pytest.fixture
async def directory(gns3_server, admin):
    """The admin's directory of the shared server; afterwards it is gone, and the packaged files are loaded."""
    folder = gns3_server.config_path.parent / "copilot"
    (folder / "prompts").mkdir(parents=True)
    yield folder
    shutil.rmtree(folder)
    assert (await ok(admin.post(RELOAD)))["errors"] == []


@pytest.mark.parametrize("route", [("POST", RELOAD), ("GET", "/v3/copilot/knowledge")])
async def test_only_superadmins_reload_and_see_where_files_are(make_user, route):
    user = await make_user(role="User")
    answer = await user.request(*route)
    if route[0] == "POST":
        assert (answer.status_code, answer.json()) == (403, {"message": "Only a superadmin may do this."})
    else:
        assert answer.json()["kinds"]["prompts"]
        assert (answer.json()["directory"], answer.json()["errors"]) == (None, None)


async def test_a_reload_tells_what_is_loaded(admin, directory):
    packaged = await ok(admin.post(RELOAD))
    (directory / "prompts" / "teaching_assistant.md").write_text(PIRATE)
    (directory / "prompts" / "title.md").write_text("Title for {{nothing}}")
    started = time.monotonic()
    answer = await ok(admin.post(RELOAD))
    assert time.monotonic() - started < 1
    assert answer["success"] and answer["prompts"]
    assert answer["prompt_count"] == packaged["prompt_count"] == 4
    assert answer["version"] != packaged["version"]
    assert answer["errors"] == [
        {
            "file": "prompts/title.md",
            "line": 1,
            "message": "there is no placeholder nothing; there are project, tools, topology_info; "
            "the packaged file is used",
        }
    ]
    told = await ok(admin.get("/v3/copilot/knowledge"))
    assert (told["version"], told["errors"], told["directory"]) == (answer["version"], answer["errors"], str(directory))
    sources = {entry["key"]: entry["source"] for entry in told["kinds"]["prompts"]}
    assert (sources["teaching_assistant"], sources["title"]) == ("overridden", "packaged")
    status = await ok(admin.get("/v3/copilot/status"))
    assert status["knowledge"]["prompts"] == 4


async def test_a_reload_disturbs_no_running_turn(admin, make_user, project, model_server, directory):
    users = [await make_user(role="User") for _ in range(2)]
    for user in users:
        await configure_model(user, model_server)
    gate = Gate()
    model_server.when(
        lambda one: one.tool_names and not one.tool_results, tool_calls(call("get_gns3_templates")).held(gate)
    )
    model_server.always(text("Done."))
    async with asyncio.TaskGroup() as group:
        turns = [group.create_task(ask(user, project, f"question {n}")) for user in users for n in range(5)]
        await model_server.received(10, seconds=60)
        (directory / "prompts" / "teaching_assistant.md").write_text(PIRATE)
        (directory / "prompts" / "lab_automation_assistant.md").write_bytes(b"\xff")
        before, *_ = [one.system_prompt for one in model_server.requests]
        for _ in range(3):
            answer = await ok(admin.post(RELOAD))
        assert [one["file"] for one in answer["errors"]] == ["prompts/lab_automation_assistant.md"]
        gate.release()
    for turn in turns:
        assert kinds_of(turn.result())[-1] == "done"
        assert text_of(turn.result()) == "Done."
    assert len(model_server.requests) == 20
    assert {one.system_prompt for one in model_server.requests} == {before}

    await ask(users[0], project, "and now?")
    assert model_server.last_request.system_prompt.startswith(f"You are a pirate in {project.name}.")


async def test_broken_files_take_nothing_else_down(admin, make_user, project, model_server, directory):
    user = await make_user(role="User")
    await configure_model(user, model_server)
    for name, content in {
        "prompts/teaching_assistant.md": b"\x00\xff",
        "prompts/troubleshooting_injection.md": b"",
        "prompts/title.md": b"x" * 2_000_000,
        "families/cisco_ios.yaml": b"a: [",
        "nonsense/file.yaml": b"- 1",
    }.items():
        (directory / name).parent.mkdir(exist_ok=True)
        (directory / name).write_bytes(content)
    answer = await ok(admin.post(RELOAD))
    assert answer["success"] and answer["prompt_count"] == 4
    assert {"prompts/teaching_assistant.md", "prompts/title.md", "nonsense"} <= {
        one["file"] for one in answer["errors"]
    }
    model_server.script(text("Hello."))
    events = await ask(user, project, "hello")
    assert text_of(events) == "Hello."
    assert "teaching assistant" in model_server.last_request.system_prompt
    assert len(await history(user, project, events[0]["session_id"])) == 2
