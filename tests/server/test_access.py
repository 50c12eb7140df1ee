"""Who may, and how every refusal and every wrong request is answered."""

from __future__ import annotations

import json
import uuid

import httpx
import pytest

from tests.ground.chat import ask, configure_model
from tests.ground.model_script import call, text, tool_calls
from tests.ground.sse import tool_outputs

PREFIXES = ["/v3/projects", "/v3/copilot/projects"]

NO_IDS = ["%2e%2e", "..%2f..%2fx", "%2e%2e%2Fx", "x" * 10_240, "s-z", "0"]


def chat_requests(prefix, project_id, session_id):
    chat = f"{prefix}/{project_id}/chat"
    return [
        ("POST", f"{chat}/stream", {"message": "hello"}),
        ("POST", f"{chat}/inject", None),
        ("GET", f"{chat}/sessions", None),
        ("GET", f"{chat}/sessions/{session_id}", None),
        ("GET", f"{chat}/sessions/{session_id}/history", None),
        ("GET", f"{chat}/sessions/{session_id}/events", None),
        ("POST", f"{chat}/sessions/{session_id}/abort", None),
        ("PATCH", f"{chat}/sessions/{session_id}", {"title": "new", "pinned": True}),
        ("PUT", f"{chat}/sessions/{session_id}/pin", None),
        ("DELETE", f"{chat}/sessions/{session_id}/pin", None),
        ("DELETE", f"{chat}/sessions/{session_id}", None),
    ]


async def statuses(client, requests):
    answers = [await client.request(method, path, json=body) for method, path, body in requests]
    for answer in answers:
        assert list(answer.json()) in (["message"], ["message", "detail"]), answer.text
        assert len(answer.json()["message"]) <= 300
    return {answer.status_code for answer in answers}


@pytest.mark.parametrize("prefix", PREFIXES)
async def test_without_a_valid_login_every_route_answers_401(gns3_server, project, prefix):
    requests = chat_requests(prefix, project.project_id, uuid.uuid4())
    async with httpx.AsyncClient(base_url=gns3_server.url) as nobody:
        assert await statuses(nobody, requests) == {401}
        nobody.headers["Authorization"] = "Bearer nonsense"
        assert await statuses(nobody, requests) == {401}


@pytest.mark.parametrize("prefix", PREFIXES)
async def test_a_user_without_the_privilege_is_refused_under_both_prefixes(make_user, project, prefix):
    user = await make_user()
    assert await statuses(user, chat_requests(prefix, project.project_id, uuid.uuid4())) == {403}


async def test_the_privilege_on_one_project_does_not_open_another(make_user, make_project):
    mine, other = await make_project(), await make_project()
    user = await make_user(privileges=["Project.Audit"], on=mine)
    assert (await user.get(f"{mine.chat}/sessions")).status_code == 200
    assert (await user.get(f"{other.chat}/sessions")).status_code == 403


async def test_a_token_in_the_query_is_as_good_as_one_in_the_header(gns3_server, admin, project):
    async with httpx.AsyncClient(base_url=gns3_server.url) as client:
        answer = await client.get(f"{project.chat}/sessions", params={"token": admin.token})
    assert answer.status_code == 200


@pytest.mark.parametrize("prefix", PREFIXES)
async def test_somebody_else_s_session_does_not_exist_not_even_for_a_superadmin(admin, make_user, project, prefix):
    owner = await make_user(role="User")
    others = [admin, await make_user(role="Auditor", on=project), await make_user(role="User")]
    for user in (owner, *others):
        await configure_model(user)
    session_id = (await ask(owner, project, "/help"))[0]["session_id"]
    before = [(await owner.get(f"{project.chat}/sessions/{session_id}{rest}")).json() for rest in ("", "/history")]
    requests = chat_requests(prefix, project.project_id, session_id)[3:]
    chat = f"{prefix}/{project.project_id}/chat"
    requests += [
        ("POST", f"{chat}/{path}", {"message": "hi", "session_id": session_id}) for path in ("stream", "inject")
    ]
    for user in others:
        assert await statuses(user, requests) == {404}
        assert (await user.get(f"{chat}/sessions")).json() == []
    after = [(await owner.get(f"{project.chat}/sessions/{session_id}{rest}")).json() for rest in ("", "/history")]
    assert after == before


@pytest.mark.parametrize("prefix", PREFIXES)
async def test_a_session_of_another_project_does_not_exist_here(admin, project, make_project, prefix):
    await configure_model(admin)
    other = await make_project()
    session_id = (await ask(admin, other, "/help"))[0]["session_id"]
    await ask(admin, project, "/help")
    requests = chat_requests(prefix, project.project_id, session_id)[3:]
    requests = [request for request in requests if not request[1].endswith("/abort")]  # it may be of a turn to come
    assert await statuses(admin, requests) == {404}
    assert len((await admin.get(f"{other.chat}/sessions/{session_id}/history")).json()["messages"]) == 2


@pytest.mark.parametrize("prefix", PREFIXES)
@pytest.mark.parametrize("session_id", NO_IDS, ids=lambda one: one[:12])
async def test_an_id_that_is_none_is_a_wrong_request_on_every_route(admin, project, prefix, session_id):
    assert await statuses(admin, chat_requests(prefix, project.project_id, session_id)[3:]) == {422}
    answer = await admin.post(f"{project.chat}/stream", json={"message": "hi", "session_id": session_id})
    assert (answer.status_code, answer.json()["message"].split(":")[0]) == (422, "session_id")


async def test_a_project_id_that_is_none_is_a_wrong_request(admin):
    for project_id in ("x" * 10_240, "%2e%2e", "0"):
        assert await statuses(admin, chat_requests("/v3/projects", project_id, uuid.uuid4())) == {422}


async def test_a_project_that_does_not_exist_or_is_closed_is_refused_plainly(admin, project):
    assert await statuses(admin, chat_requests("/v3/projects", uuid.uuid4(), uuid.uuid4())) == {404}
    await admin.post(f"{project.url}/close")
    answer = await admin.post(f"{project.chat}/stream", json={"message": "hello"})
    assert answer.status_code == 403
    assert "not opened" in answer.json()["message"]


async def test_without_a_configuration_the_answer_says_what_to_do(make_user, project):
    user = await make_user(role="User")
    answer = await user.post(f"{project.chat}/stream", json={"message": "hello"})
    assert answer.status_code == 400
    assert "AI profile" in answer.json()["message"]


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ({}, 422, "message: Field required"),
        ({"message": 5}, 422, "message: "),
        ({"message": "   \n"}, 400, "empty"),
        ({"message": "\u200b\ufeff \u2066\x00\x1b"}, 400, "empty"),
        ({"message": "x" * 100_001}, 413, "too long"),
        ({"message": "hi", "session_id": "not-a-uuid"}, 422, "session_id: "),
        ({"message": "hi", "temperature": 3}, 422, "temperature: "),
        ({"message": "hi", "copilot_mode": "root"}, 422, "copilot_mode: Input should be 'teaching_assistant', "),
        ({"message": "hi", "on_disconnect": "panic"}, 422, "on_disconnect: "),
        ({"message": "hi", "config_id": str(uuid.uuid4())}, 404, "configuration"),
    ],
)
async def test_a_wrong_request_is_answered_with_the_field_and_the_reason(admin, project, body, status, words):
    answer = await admin.post(f"{project.chat}/stream", json=body)
    assert answer.status_code == status
    assert words in answer.json()["message"]


async def test_a_body_that_is_not_json_is_answered_without_repeating_it(gns3_server, admin, project):
    answer = await admin.post(
        f"{project.chat}/stream", content=b'{"message": "sk-very-secret', headers={"content-type": "application/json"}
    )
    assert answer.status_code == 422
    assert "not valid JSON" in answer.json()["message"]
    assert "sk-very-secret" not in answer.text + gns3_server.log()


@pytest.mark.parametrize("kind", ["application/x-www-form-urlencoded", "text/plain", "application/json"])
async def test_a_body_that_is_no_json_object_is_answered_with_what_to_send(admin, project, kind):
    body = b"[]" if kind == "application/json" else b'{"message": "hi"}'
    answer = await admin.post(f"{project.chat}/stream", content=body, headers={"content-type": kind})
    assert answer.status_code == 422
    assert "JSON object, sent with the header Content-Type: application/json" in answer.json()["message"]


@pytest.mark.parametrize("body", [b"\xff\xfe", b"[" * 100_000, b'{"message": ' + b"9" * 5000 + b"}", b"", b"{"])
async def test_a_body_that_cannot_be_read_is_a_wrong_body(admin, project, body):
    headers = {"content-type": "application/json"}
    answer = await admin.post(f"{project.chat}/stream", content=body, headers=headers)
    assert answer.status_code == 422
    assert answer.json()["message"].startswith(("body: ", "message: "))


@pytest.mark.parametrize(
    "query", ["offset=99999999999999999999", "limit=0", "limit=501", "copilot_mode=root", "offset=-1"]
)
async def test_a_wrong_query_is_answered_with_its_name(admin, project, query):
    answer = await admin.get(f"{project.chat}/sessions?{query}")
    assert answer.status_code == 422
    assert answer.json()["message"].startswith(query.split("=")[0])


async def test_unknown_paths_and_methods_below_our_prefixes_answer_in_our_way(admin, project):
    for method, path, status in [
        ("GET", "/v3/copilot/nothing", 404),
        ("GET", f"{project.chat}/nothing", 404),
        ("PUT", f"{project.chat}/stream", 405),
        ("DELETE", "/v3/copilot/status", 405),
    ]:
        answer = await admin.request(method, path)
        assert answer.status_code == status
        assert list(answer.json()) == ["message"]
    stock = await admin.get("/v3/nothing")
    assert stock.json() == {"detail": "Not Found"}


async def test_every_route_is_documented_with_its_tag(admin):
    paths = (await admin.get("/openapi.json")).json()["paths"]
    ours = {path: methods for path, methods in paths.items() if "/chat" in path or "/copilot" in path or "llm" in path}
    assert len(ours) >= 14
    for methods in ours.values():
        for operation in methods.values():
            assert operation["tags"][0] in ("Copilot chat", "Copilot", "LLM model configs")


async def test_the_status_tells_what_is_there(make_user):
    user = await make_user()
    before = (await user.get("/v3/copilot/status")).json()
    assert before["llm_configured"] is False
    assert before["knowledge"]["prompts"] == 4
    assert {"openai", "offline"} <= set(before["providers"])
    await configure_model(user)
    assert (await user.get("/v3/copilot/status")).json()["llm_configured"] is True


async def test_what_a_tool_may_do_is_what_its_user_may_do(make_user, project, model_server):
    auditor = await make_user(role="Auditor")
    await configure_model(auditor, model_server)
    model_server.script(
        tool_calls(call("create_gns3_node", {"nodes": [{"template": "VPCS"}, {"template": "VPCS"}]})), text("Refused.")
    )
    events = await ask(auditor, project, "Add two PCs")
    (output,) = tool_outputs(events)
    assert output["success"] is False
    assert "Node.Allocate" in json.dumps(output)
    assert (await auditor.get(f"{project.url}/nodes")).json() == []
