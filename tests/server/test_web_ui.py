"""The requests of the GNS3 web UI, as it sends them, and what it needs of each answer.

A recording of a real browser is replayed where COPILOT_TEST_DATA names one; the same requests in our own words run
everywhere.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.ground.chat import configure_model
from tests.ground.event_rules import check_event_order
from tests.ground.model_script import Gate, call, text, tool_calls
from tests.ground.sse import EventParser
from tests.ground.users import ok, unique

RECORDING = Path(os.environ.get("COPILOT_TEST_DATA", "../shared/data")) / "web-ui" / "requests.log"
LINE = re.compile(
    r"(?P<method>[A-Z]+) (?P<path>\S+) auth=(?P<auth>.*?) ct=(?P<type>\S+) accept=(?P<accept>.*?) body=(?P<body>.*)"
)
#: What the web UI calls that belongs to chats and their models; the rest is gns3-server's own.
OURS = re.compile(r"/v3/(copilot/projects/|access/users/[^/]+/llm-model-configs)")
#: How the list of sessions tells that a time has a zone; any other gets a `Z` at its end.
HAS_ZONE = re.compile(r"[+-]\d{2}:?\d{2}$")
ANGULAR = "application/json, text/plain, */*"

SESSION = {"thread_id": str, "title": str, "message_count": int, "updated_at": str, "pinned": bool, "metadata": dict}
CONFIG = {"config_id": str, "name": str, "model_type": str, "is_default": bool, "source": str, "config": dict}


@dataclass(frozen=True)
class Request:
    """One request of the web UI; `body` is None for one without content."""

    method: str
    path: str
    body: str | None = None
    accept: str = ANGULAR

    async def send(self, user) -> httpx.Response:
        headers = {"Accept": self.accept}
        if self.body is not None:
            headers["Content-Type"] = "application/json"
        return await user.request(self.method, self.path, content=self.body, headers=headers)


def recorded() -> list[Request]:
    # it begins with a session that was there before
    begin = '{"message": "hi", "session_id": "s-z"}'
    requests = [Request("POST", "/v3/copilot/projects/PROJECT/chat/stream", begin, "*/*")]
    for line in RECORDING.read_text(encoding="utf-8").splitlines():
        found = LINE.fullmatch(line)
        if found and OURS.match(found["path"]):
            body = None if found["type"] == "-" else found["body"]
            requests.append(Request(found["method"], found["path"], body, found["accept"]))
    return requests


def written() -> list[Request]:
    chat, configs, session = "/v3/copilot/projects/PROJECT/chat", "/v3/access/users/u1/llm-model-configs", "s-z"

    def of_fetch(path: str, **body: Any) -> Request:
        return Request("POST", f"{chat}{path}", json.dumps(body), "*/*")

    whole = {"name": "mine", "model_type": "text", "provider": "openai", "base_url": "MODEL", "model": "m/m"}
    whole |= {"temperature": 0.3, "context_limit": 128, "context_strategy": "balanced", "foo": "bar"}
    whole |= {"copilot_mode": "teaching_assistant", "is_default": True}
    return [
        Request("GET", f"{chat}/sessions"),
        Request("GET", configs),
        of_fetch("/stream", message="hello", session_id=session, stream=True),
        Request("GET", f"{chat}/sessions"),
        Request("GET", f"{chat}/sessions/{session}/history"),
        Request("PATCH", f"{chat}/sessions/{session}", json.dumps({"title": "Renamed"})),
        Request("PUT", f"{chat}/sessions/{session}/pin"),
        Request("DELETE", f"{chat}/sessions/{session}/pin"),
        Request("POST", f"{chat}/sessions/{session}/abort"),
        Request("PUT", f"{configs}/default/c-group", "{}"),
        Request("PUT", f"{configs}/c-group", json.dumps({"copilot_mode": "teaching_assistant"})),
        Request("PUT", f"{configs}/c-user", json.dumps(whole)),
        Request("GET", configs),
        of_fetch("/inject", message="Inject 1 network fault(s) for troubleshooting practice"),
        Request("DELETE", f"{chat}/sessions/{session}"),
        of_fetch("/stream", message="after it was deleted", session_id=session, stream=True),
        Request("GET", f"{chat}/sessions"),
    ]


@pytest.fixture
async def replay(admin, make_user, accounts, project, model_server):
    """Send requests as a user in whose place the recording's ids stand."""
    group = unique("group")
    user = await make_user(role="User", group=group)
    own_rights = await accounts.make_role(["User.Audit", "User.Modify"])
    await accounts.allow({"ace_type": "user", "user_id": user.user_id}, own_rights, f"/access/users/{user.user_id}")
    own = await configure_model(user, model_server)
    model = {"name": "shared", "model_type": "text", "provider": "offline", "model": "offline", "context_limit": 32}
    url = f"/v3/access/groups/{await accounts.group(group)}/llm-model-configs"
    shared = await ok(admin.post(url, json=model))
    stand_ins = {
        "/PROJECT/": f"/{project.project_id}/",
        "/users/u1/": f"/users/{user.user_id}/",
        "c-user": own["config_id"],
        "c-group": shared["config_id"],
        "s-z": str(uuid.uuid4()),
        "https://api.openai.com/v1": model_server.base_url,
        "MODEL": model_server.base_url,
    }

    def put_in(text: str) -> str:
        for name, value in stand_ins.items():
            text = text.replace(name, value)
        return text

    async def replay(requests):
        for request in requests:
            real = Request(
                request.method,
                put_in(request.path),
                None if request.body is None else put_in(request.body),
                request.accept,
            )
            yield real, await real.send(user)

    return replay


def check(request: Request, answer: httpx.Response) -> None:
    """Check an answer by what the web UI does with it."""
    what = f"{request.method} {request.path}: {answer.status_code} {answer.text[:500]}"
    if request.accept == "*/*":
        parser = EventParser()
        events = parser.feed(answer.content)
        parser.end()
        check_event_order(events)
        return
    assert answer.is_success, what
    if request.method == "DELETE" and not request.path.endswith("/pin"):
        assert not answer.content, what
        return
    body = answer.json()
    checks: dict[str, Callable[[Any], None]] = {
        r".*/sessions": check_sessions,
        r".*/sessions/[^/]+/history": check_history,
        r".*/sessions/[^/]+(/pin)?": check_session,
        r".*/llm-model-configs": check_configs,
        r".*/llm-model-configs/.+": check_config,
    }
    for pattern, check_body in checks.items():
        if re.fullmatch(pattern, request.path) and "abort" not in request.path:
            check_body(body)
            return


def check_fields(value: dict[str, Any], fields: dict[str, type]) -> None:
    assert {name: type(value.get(name)) for name in fields} == fields, value


def check_session(session: dict[str, Any]) -> None:
    check_fields(session, SESSION)
    shown = session["updated_at"] if HAS_ZONE.search(session["updated_at"]) else f"{session['updated_at']}Z"
    assert datetime.fromisoformat(shown).tzinfo is not None, shown
    assert session["metadata"]["copilot_mode"] in (
        "teaching_assistant",
        "lab_automation_assistant",
        "troubleshooting_injection",
    )


def check_sessions(sessions: list[dict[str, Any]]) -> None:
    assert isinstance(sessions, list)
    for session in sessions:
        check_session(session)


def check_history(history: dict[str, Any]) -> None:
    ids = [message["id"] for message in history["messages"]]
    assert ids and len(ids) == len(set(ids))
    asked: set[str] = set()
    for message in history["messages"]:
        assert message["role"] in ("user", "assistant", "tool")
        assert type(message["content"]) is str
        datetime.fromisoformat(message["created_at"])
        for one in message.get("tool_calls", []):
            assert one["type"] == "function"
            json.loads(one["function"]["arguments"])
            asked.add(one["id"])
        if message["role"] == "tool":
            assert message["tool_call_id"] in asked
            assert message["name"]
            assert json.loads(message["content"])


def check_configs(configs: dict[str, Any]) -> None:
    for config in configs["configs"]:
        check_config(config)
    assert configs["default_config"] is None or configs["default_config"]["config_id"]


def check_config(config: dict[str, Any]) -> None:
    check_fields(config, CONFIG)
    assert type(config["config"]["model"]) is str
    assert config["config"]["copilot_mode"]
    assert not config["config"].get("api_key")


@pytest.mark.parametrize("source", ["recorded", "written"])
async def test_every_request_of_the_web_ui_is_answered_as_it_needs(replay, model_server, source):
    if source == "recorded" and not RECORDING.exists():
        pytest.skip("there is no recording of the web UI; COPILOT_TEST_DATA names its folder")
    requests = recorded() if source == "recorded" else written()
    assert len(requests) > 15
    model_server.always(text("An answer."))
    async for request, answer in replay(requests):
        check(request, answer)


async def test_the_panel_sends_no_body_with_a_button_and_gets_one_with_every_answer(make_user, project):
    user = await make_user(role="User")
    await configure_model(user)
    chat, session_id = f"/v3/copilot{project.chat.removeprefix('/v3')}", str(uuid.uuid4())
    sent = {"message": "/help", "session_id": session_id, "stream": True}
    await user.post(f"{chat}/stream", json=sent)
    for _ in range(2):  # Enter and the loss of the focus may both send it
        renamed = await ok(user.patch(f"{chat}/sessions/{session_id}", json={"title": "Mine"}))
        assert (renamed["thread_id"], renamed["title"]) == (session_id, "Mine")
    for method in ("PUT", "DELETE"):
        pinned = await ok(user.request(method, f"{chat}/sessions/{session_id}/pin"))
        assert (pinned["thread_id"], pinned["pinned"]) == (session_id, method == "PUT")
    assert (await ok(user.post(f"{chat}/sessions/{session_id}/abort")))["status"] == "ok"


async def test_opening_the_panel_twice_at_once_costs_nothing(make_user, project):
    user = await make_user(role="User")
    chat = f"/v3/copilot{project.chat.removeprefix('/v3')}"
    answers = await asyncio.gather(*(user.get(f"{chat}/sessions") for _ in range(4)))
    assert [answer.json() for answer in answers] == [[]] * 4
    assert not project.chat_database.exists()


async def test_a_page_of_another_origin_may_call_everything_and_read_the_total(admin, project):
    origin = {"Origin": "http://localhost:4200"}
    url = f"/v3/copilot/projects/{project.project_id}/chat/sessions"
    wanted = {**origin, "Access-Control-Request-Method": "PATCH", "Access-Control-Request-Headers": "authorization"}
    preflight = await admin.options(f"{url}/{uuid.uuid4()}", headers=wanted)
    assert preflight.status_code == 200
    assert "PATCH" in preflight.headers["access-control-allow-methods"]
    for answer in (await admin.get(url, headers=origin), await admin.get(f"{url}/{uuid.uuid4()}", headers=origin)):
        assert answer.headers["access-control-allow-origin"] == origin["Origin"]
    assert (await admin.get(url, headers=origin)).headers["access-control-expose-headers"] == "X-Total-Count"


async def test_what_the_panel_shows_live_is_what_it_loads_afterwards(make_user, project, model_server):
    user = await make_user(role="User")
    await configure_model(user, model_server)
    model_server.script(
        tool_calls(call("get_gns3_templates", {"name": "VPCS"}), call("get_gns3_templates"), text="I look."),
        text("There are some."),
    )
    chat, session_id = f"/v3/copilot{project.chat.removeprefix('/v3')}", str(uuid.uuid4())
    sent = {"message": "Which templates?", "session_id": session_id, "stream": True}
    answer = await user.post(f"{chat}/stream", json=sent)
    events = EventParser().feed(answer.content)
    check_event_order(events)
    loaded = await ok(user.get(f"{chat}/sessions/{session_id}/history"))
    check_history(loaded)
    live: dict[str, str] = {}
    for event in events:
        if event["type"] == "content":
            live[event["message_id"]] = live.get(event["message_id"], "") + event["content"]
    kept = {one["id"]: one["content"] for one in loaded["messages"] if one["role"] == "assistant"}
    assert kept == live
    results = {event["tool_call_id"]: event["tool_output"] for event in events if event["type"] == "tool_end"}
    assert {one["tool_call_id"]: one["content"] for one in loaded["messages"] if one["role"] == "tool"} == results
    (listed,) = await ok(user.get(f"{chat}/sessions"))
    assert (listed["title"], listed["message_count"]) == (events[-1]["title"], len(loaded["messages"]))


async def test_a_failed_injection_can_be_found_by_its_mode_and_says_in_its_transcript_why(
    make_user, project, model_server
):
    user = await make_user(role="User")
    await configure_model(user, model_server)
    model_server.script(text("I cannot."))
    chat = f"/v3/copilot{project.chat.removeprefix('/v3')}"
    message = "Inject random network fault(s) for troubleshooting practice"
    answer = await user.post(f"{chat}/inject", json={"message": message})
    events = EventParser().feed(answer.content)
    assert events[-1]["type"] == "error"
    (listed,) = await ok(user.get(f"{chat}/sessions"))
    assert listed["metadata"]["copilot_mode"] == "troubleshooting_injection"
    loaded = await ok(user.get(f"{chat}/sessions/{listed['thread_id']}/history"))
    assert loaded["messages"][0]["content"] == message
    assert loaded["messages"][-1]["metadata"]["error"] == events[-1]["error"]


async def test_the_stop_button_works_before_the_first_byte_and_after_the_last(make_user, project, model_server):
    user = await make_user(role="User")
    await configure_model(user, model_server)
    gate, session_id = Gate(), str(uuid.uuid4())
    chat = f"/v3/copilot{project.chat.removeprefix('/v3')}"
    model_server.script(text("slow").held(gate))
    sent = {"message": "hello", "session_id": session_id, "stream": True}
    async with asyncio.TaskGroup() as group:
        asking = group.create_task(user.post(f"{chat}/stream", json=sent))
        await gate.reached()
        assert (await user.post(f"{chat}/sessions/{session_id}/abort")).is_success
    gate.release()
    assert [event["type"] for event in EventParser().feed(asking.result().content)][-2:] == ["abort", "done"]
    assert (await user.post(f"{chat}/sessions/{session_id}/abort")).is_success
    assert (await user.post(f"{chat}/sessions/{uuid.uuid4()}/abort")).is_success
