"""Chats end in order when a project or the server does, and their file stays out of reach."""

from __future__ import annotations

import asyncio
import io
import os
import uuid
import zipfile

import pytest

from tests.ground.chat import ask, configure_model, history
from tests.ground.model_script import Gate, text
from tests.ground.sse import text_of


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
