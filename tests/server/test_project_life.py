"""Chats end in order when a project or the server does, and their file stays out of reach."""

from __future__ import annotations

import asyncio
import io
import os
import time
import uuid
import zipfile
from contextlib import aclosing

import pytest

from tests.ground.chat import ask, configure_model, history, open_turn
from tests.ground.model_script import Gate, call, text, tool_calls
from tests.ground.projects import Projects
from tests.ground.sse import kinds_of, text_of
from tests.ground.users import log_in_admin


@pytest.mark.parametrize("ending", ["close", "delete"])
async def test_a_running_turn_ends_before_its_project_is_closed_or_deleted(admin, project, model_server, ending):
    await configure_model(admin, model_server)
    gate = Gate()
    model_server.script(text("one two three", pieces=3).held(gate, after=2))
    async with open_turn(admin, project, "count", session_id=str(uuid.uuid4())) as stream:
        first = await stream.next("content")
        started = time.monotonic()
        if ending == "close":
            answer = await admin.post(f"{project.url}/close")
        else:
            answer = await admin.delete(project.url)
        assert answer.status_code == 204
        assert time.monotonic() - started < 2
        events = await stream.rest()
    gate.release()
    assert kinds_of(events)[-2:] == ["abort", "done"]
    if ending == "delete":
        assert not project.path.exists()
        return
    assert (await admin.post(f"{project.url}/open")).status_code == 201
    messages = await history(admin, project, first["session_id"])
    assert messages[-1]["metadata"]["aborted"] is True
    assert messages[-1]["content"]


async def test_chats_are_there_again_after_the_project_was_closed_and_opened(admin, project):
    await configure_model(admin)
    events = await ask(admin, project, "/help")
    await admin.post(f"{project.url}/close")
    await admin.post(f"{project.url}/open")
    messages = await history(admin, project, events[0]["session_id"])
    assert [message["role"] for message in messages] == ["user", "assistant"]
    assert messages[1]["content"] == text_of(events)


async def test_the_chats_of_a_deleted_user_are_gone_when_the_project_is_opened_again(admin, make_user, project):
    user = await make_user(role="User")
    for person in (user, admin):
        await configure_model(person)
        await ask(person, project, f"/help {person.user_id}")
    assert (await admin.delete(f"/v3/access/users/{user.user_id}")).status_code == 204
    await admin.post(f"{project.url}/close")
    await admin.post(f"{project.url}/open")
    assert len((await admin.get(f"{project.chat}/sessions")).json()) == 1
    content = project.chat_database.read_bytes()
    assert admin.user_id.encode() in content
    assert user.user_id.encode() not in content


async def test_the_chat_database_is_private_and_not_reachable_through_the_file_routes(admin, project):
    await configure_model(admin)
    await ask(admin, project, "/help")
    assert project.chat_database.stat().st_mode & 0o777 == 0o600
    node = (
        await admin.post(f"{project.url}/nodes", json={"name": "PC1", "node_type": "vpcs", "compute_id": "local"})
    ).json()
    (project.path / "innocent").symlink_to("gns3-copilot")
    name = "copilot_checkpoints.db"
    up = "..%252f" * 4
    paths = [
        f"{project.url}/files/gns3-copilot/{name}",
        f"{project.url}/files/x/../gns3-copilot/{name}",
        f"{project.url}/files/x%2f..%2fgns3-copilot/{name}",
        f"{project.url}/files/%2567ns3-copilot/{name}",
        f"{project.url}/files/innocent/{name}",
        f"{project.url}/files/gns3-copilot",
        f"{project.url}/nodes/{node['node_id']}/files/a%252f{up}gns3-copilot%252f{name}",
        f"/v3/computes/local/projects/{project.project_id}/files/gns3-copilot/{name}",
    ]
    before = project.chat_database.read_bytes()
    for path in paths:
        raw = admin.build_request("GET", "/").url.copy_with(raw_path=path.encode())
        for method in ("GET", "POST"):
            body = {"content": b"overwritten"} if "computes" not in path else {"json": {}}
            answer = await admin.request(method, raw, **(body if method == "POST" else {}))
            assert answer.status_code >= 400, f"{method} {path}: {answer.status_code}"
            assert b"SQLite" not in answer.content
    assert project.chat_database.read_bytes() == before
    fine = await admin.post(f"{project.url}/files/notes.txt", content=b"mine")
    assert fine.status_code == 204
    assert (await admin.get(f"{project.url}/files/notes.txt")).content == b"mine"


SECRET = "what nobody else may read"


async def test_chats_leave_with_no_export_duplicate_or_snapshot(admin, make_user, project):
    await configure_model(admin)
    await ask(admin, project, SECRET)
    await admin.post(f"{project.url}/files/notes.txt", content=b"these go along")
    auditor = await make_user(role="Auditor")
    for query in ("compression=none", "compression=none&include_snapshots=true"):
        archive = zipfile.ZipFile(io.BytesIO((await auditor.get(f"{project.url}/export?{query}")).content))
        assert "notes.txt" in archive.namelist()
        assert not [name for name in archive.namelist() if "copilot" in name]
        assert not [name for name in archive.namelist() if SECRET.encode() in archive.read(name)]
    await admin.post(f"{project.url}/snapshots", json={"name": "before"})
    (snapshot,) = (project.path / "snapshots").iterdir()
    assert not [name for name in zipfile.ZipFile(snapshot).namelist() if "copilot" in name]
    copy = (await admin.post(f"{project.url}/duplicate", json={"name": f"{project.name}-copy"})).json()
    folder = project.path.parent / copy["project_id"]
    assert (folder / "notes.txt").exists()
    assert not (folder / "gns3-copilot").exists()
    assert len((await admin.get(f"{project.chat}/sessions")).json()) == 1
    await admin.delete(f"/v3/projects/{copy['project_id']}")


async def test_chats_outlive_the_restoring_of_a_snapshot(admin, project):
    await configure_model(admin)
    events = await ask(admin, project, "/help")
    snapshot = (await admin.post(f"{project.url}/snapshots", json={"name": "before"})).json()
    restored = await admin.post(f"{project.url}/snapshots/{snapshot['snapshot_id']}/restore")
    assert restored.status_code == 201
    messages = await history(admin, project, events[0]["session_id"])
    assert messages[1]["content"] == text_of(events)


async def test_chats_in_an_imported_archive_are_dropped(admin, project):
    exported = io.BytesIO((await admin.get(f"{project.url}/export?compression=none")).content)
    link = zipfile.ZipInfo("gns3-copilot")
    link.external_attr = 0o120777 << 16
    with zipfile.ZipFile(exported, "a") as archive:
        archive.writestr("notes.txt", "these come along")
        for name in ("gns3-copilot/copilot_checkpoints.db", "../gns3-copilot/a", "./gns3-copilot//b"):
            archive.writestr(name, "planted")
        archive.writestr(link, "/etc")
    project_id = str(uuid.uuid4())
    answer = await admin.post(f"/v3/projects/{project_id}/import?name=imported", content=exported.getvalue())
    assert answer.status_code == 201
    folder = project.path.parent / project_id
    assert (folder / "notes.txt").read_text() == "these come along"
    assert not os.path.lexists(folder / "gns3-copilot")
    await admin.delete(f"/v3/projects/{project_id}")


async def test_the_server_stops_in_seconds_with_a_chat_open_and_keeps_what_had_come(start_gns3_server, model_server):
    server = start_gns3_server()
    gate = Gate()
    async with aclosing(await log_in_admin(server)) as admin:
        project = await Projects(admin).make()
        await configure_model(admin, model_server)
        model_server.script(text("one two three", pieces=3).held(gate, after=2))
        async with open_turn(admin, project, "count") as stream:
            first = await stream.next("content")
            stopping = asyncio.create_task(asyncio.to_thread(server.stop))
            events = await stream.rest()
            assert kinds_of(events)[-2:] == ["abort", "done"]
            # gns3-server itself takes up to 5 s: its compute connection looks every 5 s whether to end
            assert await stopping < 8
    gate.release()
    server.start()
    async with aclosing(await log_in_admin(server)) as admin:
        await admin.post(f"{project.url}/open")
        messages = await history(admin, project, first["session_id"])
        assert messages[-1]["metadata"]["aborted"] is True


async def test_a_turn_that_the_server_s_death_cut_off_is_put_right_by_the_next_question(
    start_gns3_server, model_server
):
    server = start_gns3_server()
    gate = Gate()
    async with aclosing(await log_in_admin(server)) as admin:
        project = await Projects(admin).make()
        await configure_model(admin, model_server)
        session_id = str(uuid.uuid4())
        # killed while the second model call waits: the call and its result are stored, the answer is not
        model_server.script(tool_calls(call("get_gns3_templates")), text("never comes").held(gate))
        async with open_turn(admin, project, "first", session_id=session_id) as stream:
            await stream.next("tool_end")
            await gate.reached()
            await asyncio.to_thread(server.kill)
            await stream.drop()
    gate.release()
    await asyncio.to_thread(server.start)
    async with aclosing(await log_in_admin(server)) as admin:
        await admin.post(f"{project.url}/open")
        model_server.script(text("I am back."))
        events = await ask(admin, project, "second", session_id=session_id)
        assert text_of(events) == "I am back."
        roles = [message["role"] for message in await history(admin, project, session_id)]
    assert roles == ["user", "assistant", "tool", "assistant", "user", "assistant"]


@pytest.mark.skipif(not os.path.exists("/proc"), reason="needs /proc")
async def test_open_streams_hold_no_connection_to_the_server_s_database(gns3_server, admin, project, model_server):
    await configure_model(admin, model_server)
    model_server.script(text("warm"))
    await ask(admin, project, "warm up")

    def handles():
        folder = f"/proc/{gns3_server.pid}/fd"
        names = [os.readlink(f"{folder}/{entry}") for entry in os.listdir(folder)]
        return sum(name == str(gns3_server.database_path) for name in names)

    gate = Gate()
    model_server.always(text("slow").held(gate))
    counts = []
    async with asyncio.TaskGroup() as group:
        for number in range(5):
            group.create_task(ask(admin, project, f"question {number}"))
            await model_server.received(number + 2)  # so that the pool never needs two at once for two turns
            counts.append(handles())
        gate.release()
    assert counts[-1] <= counts[0] + 1, counts
