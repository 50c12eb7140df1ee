"""Whole turns with every provider's real client, configured over HTTP, through the real graph and tools."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from gns3server_copilot.llm.providers import PROVIDERS
from tests.ground.chat import ask, history
from tests.ground.event_rules import check_event_order
from tests.ground.llm_configs import config_body, make_config, of_group, of_user
from tests.ground.model_script import call, http_error, openai_error, text, tool_calls
from tests.ground.model_server import ModelServer
from tests.ground.projects import Project
from tests.ground.sse import kinds_of, text_of, tool_outputs
from tests.ground.users import UserClient, ok
from tests.unit.llm.providers.cases import AWS_SECRET, CASES, KEY, Case


@pytest.fixture(params=CASES.values(), ids=CASES)
def case(request: pytest.FixtureRequest) -> Case:
    """Each provider whose package is installed."""
    found: Case = request.param
    if not PROVIDERS[found.name].installed:
        pytest.skip(f"the package of {found.name} is not installed")
    return found


def fields_of(case: Case, server: ModelServer, **changes: Any) -> dict[str, Any]:
    """Give a configuration as the web UI sends it: custom fields as strings, a dummy key where there is none."""
    fields = {
        "provider": case.name,
        "model": case.model,
        "base_url": server.base_url if case.at_v1 else server.root_url,
        "api_key": KEY,
        "temperature": 0.25,
        "max_tokens": 321,
        case.custom[0]: case.custom[1],
        "is_default": True,
    }
    if case.name == "aws":
        fields |= {"region_name": "us-east-1", "aws_access_key_id": KEY, "aws_secret_access_key": AWS_SECRET}
    return fields | changes


async def test_a_turn_with_tools_and_the_next_one(
    case: Case, admin: UserClient, project: Project, model_server: ModelServer
) -> None:
    made = await make_config(admin, of_user(admin), **fields_of(case, model_server))
    look = call("get_gns3_templates", {"template_type": "vpcs"})
    create = call("create_gns3_node", {"nodes": [{"template": "VPCS", "name": "Client"}]})
    model_server.script(
        tool_calls(look, create, text="I make one.").with_usage("every", input_tokens=70, output_tokens=30),
        text("Client is there now.").with_usage("every", input_tokens=80, output_tokens=20),
        text("One node."),
    )
    session_id = str(uuid.uuid4())
    events = await ask(admin, project, "Add a PC named Client", session_id=session_id, config_id=made["config_id"])
    check_event_order(events)
    assert text_of(events) == "I make one.Client is there now."
    assert [output["success"] for output in tool_outputs(events)] == [True, True]
    assert events[-1]["usage"] == {
        "input_tokens": 150,
        "output_tokens": 50,
        "total_tokens": 200,
        "estimated": False,
        "context_tokens": 100,
        "context_limit": 128_000,
    }
    after = await ask(admin, project, "How many nodes?", session_id=session_id, config_id=made["config_id"])
    check_event_order(after, earlier=events)
    for request in model_server.requests:
        assert request.path == case.path
        assert request.key == (KEY if case.sends_key else "")
        sent = case.sent(request)
        assert (sent["temperature"], sent[case.max_tokens]) == (0.25, 321)
        assert sent[case.arrived[0]] == case.arrived[1]
        assert "get_gns3_templates" in request.tool_names
        assert AWS_SECRET not in str(request)
    roles = ["system", "user", "assistant", "tool", "tool", "assistant", "user"]
    assert [one["role"] for one in model_server.last_request.messages] == roles
    kept = await history(admin, project, session_id)
    assert [one["role"] for one in kept] == [*roles[1:], "assistant"]
    assert kept[1]["content"] == "I make one."
    shown = str((await admin.get(of_user(admin, f"/{made['config_id']}"))).json())
    assert KEY not in shown
    assert AWS_SECRET not in shown


async def test_a_cut_off_call_does_not_run(
    case: Case, admin: UserClient, project: Project, model_server: ModelServer
) -> None:
    made = await make_config(admin, of_user(admin), **fields_of(case, model_server, temperature=None, max_tokens=None))
    create = call("create_gns3_node", {"nodes": [{"template": "VPCS", "name": "Never"}]})
    model_server.script(tool_calls(create, text="Now.", finish_reason="length"), text("I send less."))
    events = await ask(admin, project, "Add a PC", config_id=made["config_id"])
    check_event_order(events, broken_arguments=True)
    [output] = tool_outputs(events)
    assert not output["success"]
    assert "cut off" in str(output)
    assert await ok(admin.get(f"/v3/projects/{project.project_id}/nodes")) == []
    assert "temperature" not in model_server.last_request.body
    assert "temperature" not in case.sent(model_server.last_request)


async def test_a_refused_temperature_is_left_out(
    case: Case, admin: UserClient, project: Project, model_server: ModelServer
) -> None:
    made = await make_config(admin, of_user(admin), **fields_of(case, model_server))
    message = "`temperature` is not supported with this model."
    model_server.script(http_error(400, {"message": message, "error": {"message": message}}), text("Hello."))
    events = await ask(admin, project, "Hello", config_id=made["config_id"])
    check_event_order(events)
    assert text_of(events) == "Hello."
    assert "temperature" not in case.sent(model_server.last_request)


async def test_switching_the_provider_in_a_conversation(
    admin: UserClient, project: Project, model_server: ModelServer
) -> None:
    session_id = str(uuid.uuid4())
    for case in CASES.values():
        if not PROVIDERS[case.name].installed:
            continue
        made = await make_config(admin, of_user(admin), **fields_of(case, model_server))
        answer = tool_calls(call("get_gns3_templates"), text=f"I am {case.name}.")
        model_server.script(answer if case.name == "aws" else answer.after_thinking("Let me see"), text("Done."))
        events = await ask(admin, project, "And you?", session_id=session_id, config_id=made["config_id"])
        check_event_order(events)
        assert kinds_of(events)[-1] == "done"
        assert text_of(events) == f"I am {case.name}.Done."


# --- trying out ----------------------------------------------------------------------------------------------------


async def test_a_configuration_can_be_tried_out(case: Case, make_user: Any, model_server: ModelServer) -> None:
    user = await make_user()
    made = await make_config(user, of_user(user), **fields_of(case, model_server))
    model_server.violations.clear()
    model_server.script(text("OK"), openai_error(401, f"Wrong key {KEY}."))
    path = of_user(user, f"/{made['config_id']}/test")
    fine = (await ok(user.post(path))).copy()
    assert fine.pop("latency_ms") >= 0
    assert fine == {"ok": True, "model": case.model, "error": None}
    wrong = await ok(user.post(path))
    assert (wrong["ok"], wrong["model"]) == (False, case.model)
    assert "API key" in wrong["error"]
    assert KEY not in str(wrong)
    model_server.violations[:] = [one for one in model_server.violations if "starts with" not in one]


async def test_who_may_try_out(make_user: Any, admin: UserClient, accounts: Any) -> None:
    member, stranger = await make_user(), await make_user()
    group = await accounts.group("testers")
    await accounts.add_to_group(member.user_id, group)
    own = await make_config(member, of_user(member))
    shared = await make_config(admin, of_group(group))
    for client, path, status in (
        (member, of_user(member, f"/{own['config_id']}/test"), 200),
        (member, of_user(member, f"/{shared['config_id']}/test"), 200),
        (member, of_group(group, f"/{shared['config_id']}/test"), 200),
        (admin, of_group(group, f"/{shared['config_id']}/test"), 200),
        (stranger, of_user(member, f"/{own['config_id']}/test"), 403),
        (stranger, of_user(stranger, f"/{own['config_id']}/test"), 403),
        (stranger, of_user(stranger, f"/{shared['config_id']}/test"), 403),
        (stranger, of_group(group, f"/{shared['config_id']}/test"), 403),
        (member, of_user(member, f"/{uuid.uuid4()}/test"), 404),
    ):
        answer = await client.post(path)
        assert answer.status_code == status, (path, answer.text)
        if status == 200:
            assert answer.json()["ok"], answer.text


async def test_what_cannot_be_tried_out_is_said(make_user: Any) -> None:
    user = await make_user()
    made = await make_config(user, of_user(user), model_type="embedding")
    answer = await ok(user.post(of_user(user, f"/{made['config_id']}/test")))
    assert not answer["ok"]
    assert "text and multimodal" in answer["error"]


# --- addresses -----------------------------------------------------------------------------------------------------


async def test_users_cannot_point_at_metadata_services(make_user: Any, admin: UserClient, accounts: Any) -> None:
    user = await make_user()
    group = await accounts.group("cloud")
    manager = await make_user(privileges=["Group.Audit", "Group.Modify"], on="/access/groups")
    mine = await make_config(user, of_user(user))
    shared = await make_config(manager, of_group(group))
    for host in ("169.254.169.254", "2852039166", "[::ffff:169.254.169.254]", "metadata.google.internal", "[fe80::1]"):
        url = f"http://{host}/latest"
        body = config_body(provider="openai", base_url=url)
        change = {"provider": "openai", "base_url": url}
        for client, path, created in ((user, of_user(user), mine), (manager, of_group(group), shared)):
            for answer in (
                await client.post(path, json=body),
                await client.put(f"{path}/{created['config_id']}", json=change),
            ):
                assert answer.status_code == 422, answer.text
                assert answer.json()["message"].startswith("base_url: ")
    assert (await admin.post(of_group(group), json=config_body(provider="openai", base_url=url))).status_code == 201


async def test_the_list_of_allowed_addresses(start_gns3_server: Any, model_server: ModelServer) -> None:
    from contextlib import aclosing

    from tests.ground.projects import Projects
    from tests.ground.users import Accounts, log_in_admin

    port = model_server.root_url.rpartition(":")[2]
    server = start_gns3_server(copilot={"allowed_base_urls": f"http://127.0.0.1:{port}, https://*.example.com"})
    async with aclosing(await log_in_admin(server)) as admin, aclosing(Accounts(admin)) as accounts:
        user = await accounts.make_user(role="User")
        project = await Projects(admin).make(user)
        allowed = config_body("allowed", provider="openai", base_url=model_server.base_url)
        other = config_body("other", provider="openai", base_url="http://127.0.0.1:9/v1")
        official = config_body("official", provider="openai")
        for body, status in ((allowed, 201), (other, 422), (official, 422)):
            assert (await user.post(of_user(user), json=body)).status_code == status
        # stored by somebody who may, and looked at again when it is used
        made = await ok(admin.post(of_user(user), json=other))
        refused = await user.post(f"{project.chat}/stream", json={"message": "Hi", "config_id": made["config_id"]})
        assert refused.status_code == 403
        assert "not allowed" in refused.json()["message"]
        tried = await ok(user.post(of_user(user, f"/{made['config_id']}/test")))
        assert "not allowed" in tried["error"]
        unchanged = await user.put(
            of_user(user, f"/{made['config_id']}"), json={"base_url": other["base_url"], "name": "renamed"}
        )
        assert unchanged.status_code == 200, unchanged.text


async def test_aws_without_credentials_uses_none_of_the_servers(
    admin: UserClient, project: Project, model_server: ModelServer
) -> None:
    fields = fields_of(CASES["aws"], model_server, aws_access_key_id=None, aws_secret_access_key=None)
    made = await make_config(admin, of_user(admin), **fields)
    [event] = await ask(admin, project, "Hello", config_id=made["config_id"])
    assert event["type"] == "error"
    assert "aws_access_key_id" in event["error"]
    assert model_server.requests == []


async def test_an_html_page_is_not_a_model(
    case: Case, admin: UserClient, project: Project, model_server: ModelServer
) -> None:
    made = await make_config(admin, of_user(admin), **fields_of(case, model_server))
    model_server.script(http_error(200, "<!DOCTYPE html><html><body>Welcome</body></html>"))
    events = await ask(admin, project, "Hello", config_id=made["config_id"])
    check_event_order(events)
    assert kinds_of(events) == ["error"]
