"""Every chat route under both prefixes: what it answers when all is well, and what `/docs` says of it."""

from __future__ import annotations

import re
import uuid
from pathlib import Path

import pytest

from tests.ground.chat import ask, configure_model
from tests.ground.event_rules import check_event_order
from tests.ground.model_script import Gate, text
from tests.ground.sse import EventParser, kinds_of

PREFIXES = ["/v3/projects", "/v3/copilot/projects"]
DOCUMENTATION = Path(__file__).parents[2] / "docs" / "developer"

SESSION = {
    "id": int,
    "thread_id": str,
    "user_id": str,
    "project_id": str,
    "title": str,
    "message_count": int,
    "llm_calls_count": int,
    "input_tokens": int,
    "output_tokens": int,
    "total_tokens": int,
    "last_message_at": str,
    "created_at": str,
    "updated_at": str,
    "metadata": dict,
    "stats": dict,
    "pinned": bool,
    "running": bool,
}
HISTORY = {"thread_id": str, "title": str, "messages": list, "created_at": str, "updated_at": str, "llm_calls": int}
WHOLE = {"session_id": str, "message": str, "tool_calls": list, "usage": dict}
ABORTED = {"status": str, "session_id": str}

#: Method, path, body, status and what comes back: the fields of an object, a list of such, a stream, or nothing.
ROUTES = [
    ("POST", "/stream", {"message": "/help"}, 200, "stream"),
    ("POST", "/stream", {"message": "/help", "stream": False}, 200, WHOLE),
    ("POST", "/inject", {"message": "Inject 2 network fault(s)"}, 200, "stream"),
    ("GET", "/sessions", None, 200, [SESSION]),
    ("GET", "/sessions/{session_id}", None, 200, SESSION),
    ("GET", "/sessions/{session_id}/history", None, 200, HISTORY),
    ("PATCH", "/sessions/{session_id}", {"title": "new"}, 200, SESSION),
    ("PATCH", "/sessions/{session_id}", {"pinned": True}, 200, SESSION),
    ("PUT", "/sessions/{session_id}/pin", None, 200, SESSION),
    ("DELETE", "/sessions/{session_id}/pin", None, 200, SESSION),
    ("POST", "/sessions/{session_id}/abort", None, 200, ABORTED),
    ("DELETE", "/sessions/{session_id}", None, 204, None),
]


@pytest.fixture
async def user(make_user):
    made = await make_user(role="User")
    await configure_model(made)
    return made


def kinds(value):
    return {name: type(one) for name, one in value.items()}


@pytest.mark.parametrize("prefix", PREFIXES)
@pytest.mark.parametrize(
    ("method", "path", "body", "status", "shape"),
    ROUTES,
    ids=[f"{method} {path} {'' if body is None else list(body)[-1]}" for method, path, body, *_ in ROUTES],
)
async def test_a_route_answers_as_documented(user, project, prefix, method, path, body, status, shape):
    session_id = (await ask(user, project, "/templates"))[0]["session_id"]
    url = f"{prefix}/{project.project_id}/chat{path.format(session_id=session_id)}"
    answer = await user.request(method, url, json=body)
    assert answer.status_code == status
    match shape:
        case None:
            assert answer.content == b""
        case "stream":
            assert answer.headers["content-type"] == "text/event-stream; charset=utf-8"
            assert answer.headers["cache-control"] == "no-cache, no-transform"
            assert answer.headers["x-accel-buffering"] == "no"
            check_event_order(EventParser().feed(answer.content))
        case [one]:
            assert [kinds(each) for each in answer.json()] == [one]
            assert answer.headers["x-total-count"] == "1"
        case fields:
            assert answer.headers["content-type"] == "application/json"
            assert kinds(answer.json()) == fields


@pytest.mark.parametrize("prefix", PREFIXES)
async def test_the_events_of_a_running_turn_are_there_under_both_prefixes(make_user, project, model_server, prefix):
    user = await make_user(role="User")
    await configure_model(user, model_server)
    gate, session_id = Gate(), str(uuid.uuid4())
    model_server.script(text("one two", pieces=2).held(gate, after=1))
    url = f"{prefix}/{project.project_id}/chat"
    assert (await user.get(f"{url}/sessions/{session_id}/events")).status_code == 404
    async with user.stream("POST", f"{url}/stream", json={"message": "hi", "session_id": session_id}) as first:
        await gate.reached()
        async with user.stream("GET", f"{url}/sessions/{session_id}/events") as second:
            assert second.headers["content-type"] == "text/event-stream; charset=utf-8"
            gate.release()
            answers = [await first.aread(), await second.aread()]
    streams = [EventParser().feed(answer) for answer in answers]
    assert streams[0] == streams[1]
    assert kinds_of(streams[0])[-1] == "done"


async def test_every_chat_route_is_in_the_docs_under_both_prefixes_with_its_errors(admin):
    paths = (await admin.get("/openapi.json")).json()["paths"]
    ours, twins = ({}, {})
    for path, operations in paths.items():
        for prefix, found in zip(PREFIXES, (ours, twins), strict=True):
            rest = path.removeprefix(f"{prefix}/{{project_id}}/chat")
            if rest != path:
                found[rest] = operations
    tried = {(method, path) for method, path, *_ in ROUTES} | {("GET", "/sessions/{session_id}/events")}
    assert tried <= {(method.upper(), path) for path, operations in ours.items() for method in operations}
    pages = "\n".join(page.read_text(encoding="utf-8") for page in DOCUMENTATION.glob("*.md"))
    for path, operations in ours.items():
        assert operations.keys() == twins[path].keys()
        for method, operation in operations.items():
            assert operation["tags"] == ["Copilot chat"]
            assert operation["description"]
            written = re.sub(r"\{\w+_id\}", "{id}", path)
            assert re.search(rf"`[^`\n|]*{re.escape(written)}`", pages), f"{method.upper()} {written} is on no page"
            assert {"401", "403", "404", "422", "503"} <= operation["responses"].keys()
            for status, answer in operation["responses"].items():
                if int(status) >= 400:
                    assert answer["content"]["application/json"]["schema"]["required"] == ["message"]
