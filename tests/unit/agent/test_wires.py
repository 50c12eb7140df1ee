"""The same conversation with two tools gives the same answer, calls, history and usage, whatever server answers it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import pytest

from gns3server_copilot.llm.providers import PROVIDERS
from tests.ground.model_script import Answer, call, http_error, openai_error, text, tool_calls
from tests.ground.model_server import ModelRequest, ModelServer
from tests.ground.sse import kinds_of, text_of, tool_outputs
from tests.unit.agent.conftest import ALICE, ask
from tests.unit.llm.providers.cases import CASES

pytestmark = pytest.mark.asyncio(loop_scope="session")

THINKING = {"extra_body": '{"thinking": {"type": "enabled"}}'}
Check = Callable[[dict[str, Any]], str | None]


@dataclass
class Kind:
    """A kind of server: the provider of its configuration, how it answers, and what it refuses, if anything."""

    provider: str
    calls: dict[str, Any] = field(default_factory=dict)
    change: Callable[[Answer], Answer] = lambda answer: answer
    refuses: Check = lambda body: None
    custom: dict[str, str] = field(default_factory=dict)
    ids: tuple[str, str] = ("call_1a", "call_2b")
    #: requests that are refused before the conversation is through
    refusals: int = 0
    status: int = 400


def thinking(answer: Answer) -> Answer:
    return answer.after_thinking("Let me see. ", pieces=2)


def _of_this_turn(body: dict[str, Any]) -> list[dict[str, Any]]:
    newest = max(at for at, message in enumerate(body["messages"]) if message["role"] == "user")
    return [message for message in body["messages"][newest:] if message["role"] == "assistant"]


def wants_thoughts(body: dict[str, Any]) -> str | None:
    lacking = [one for one in _of_this_turn(body) if not one.get("reasoning_content")]
    return "Missing `reasoning_content` field in the assistant message at index 2" if lacking else None


def refuses_thoughts(body: dict[str, Any]) -> str | None:
    having = [one for one in body["messages"] if "reasoning_content" in one]
    return "reasoning_content is not allowed in the input messages" if having else None


def strict_roles(body: dict[str, Any]) -> str | None:
    """Mistral's rules, which vLLM's templates for its models share."""
    following = {
        "system": {"user"},
        "user": {"assistant"},
        "assistant": {"tool", "user"},
        "tool": {"tool", "assistant"},
    }
    roles = [message["role"] for message in body["messages"]]
    for before, after in pairwise(roles):
        if after not in following[before]:
            return f"Unexpected role '{after}' after role '{before}'"
    for message in body["messages"]:
        for made in message.get("tool_calls", []):
            if not (len(made["id"]) == 9 and made["id"].isalnum()):
                return f"Tool call id was {made['id']} but must be a-z, A-Z, 0-9, with a length of 9."
    if "stream_options" in body:
        return "body.stream_options: Extra inputs are not permitted"
    return None


KINDS = {
    **{name: Kind(name) for name in CASES},
    "openai-compatible, calls without index": Kind("openai", {"index": "none", "ids": "every"}),
    "openai-compatible, calls by turns": Kind("openai", {"order": "interleaved"}),
    "vllm": Kind("openai", {"whole": True, "index": "same", "finish_reason": "stop"}, lambda a: thinking(a)),
    "mistral": Kind(
        "openai", {"whole": True}, refuses=strict_roles, ids=("aB3dE6gH9", "zY8xW7vU6"), refusals=2, status=422
    ),
    "mistral, no ids": Kind("openai", {"whole": True}, refuses=strict_roles, ids=(None, None), refusals=2, status=422),  # type: ignore[arg-type]
    "mistral, ids of another model": Kind("openai", {"whole": True}, refuses=strict_roles, refusals=4, status=422),
    "deepseek wants thoughts back": Kind("deepseek", {}, thinking, wants_thoughts, THINKING),
    "deepseek refuses thoughts": Kind("deepseek", {}, thinking, refuses_thoughts, THINKING, refusals=2),
    "deepseek wants thoughts back unasked": Kind("deepseek", {}, thinking, wants_thoughts, refusals=1),
    "deepseek refuses thoughts unasked": Kind("deepseek", {}, thinking, refuses_thoughts),
    "openai-compatible wants thoughts back": Kind("openai", {}, thinking, wants_thoughts, refusals=1),
    "openai-compatible refuses thoughts": Kind("openai", {}, thinking, refuses_thoughts),
}


class Strict:
    """Answers from a list, unless it refuses a request."""

    def __init__(self, kind: Kind, answers: list[Answer]) -> None:
        self._kind, self._answers = kind, answers
        self.refused = 0

    def __call__(self, request: ModelRequest) -> Answer:
        problem = self._kind.refuses(request.body)
        if problem is None:
            return self._answers.pop(0)
        self.refused += 1
        if self._kind.status == 422:
            return http_error(422, {"object": "error", "message": problem, "type": "invalid_request_error"})
        return openai_error(400, problem)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
async def test_the_same_conversation(
    kind: Kind, agent: Any, request_of: Any, probes: Any, model_server: ModelServer
) -> None:
    if not PROVIDERS[kind.provider].installed:
        pytest.skip(f"the package of {kind.provider} is not installed")
    case = CASES[kind.provider]
    config = case.config(model_server, custom=kind.custom)
    first, second = kind.ids
    two = tool_calls(
        call("look", {"n": 1, "how": "well"}, id=first),
        call("change", {"n": 2, "how": "fail"}, id=second),
        text="I look first.",
        **kind.calls,
    )
    answers = [kind.change(answer) for answer in (two, text("Only one of them worked."), text("Nothing is left."))]
    told = [answer.with_usage("every", input_tokens=70, output_tokens=30) for answer in answers]
    server = Strict(kind, told)
    model_server.always(server)
    request = request_of("Look, then change it", config=config)
    events = await ask(agent, request)
    assert text_of(events) == "I look first.Only one of them worked."
    assert [(name, n) for name, n, _ in probes.ran] == [("look", 1), ("change", 2)]
    assert [output["success"] for output in tool_outputs(events)] == [True, False]
    usage = events[-1]["usage"]
    assert (usage["input_tokens"], usage["output_tokens"], usage["estimated"]) == (140, 60, False)
    assert (usage["context_tokens"], usage["context_limit"]) == (100, 128_000)
    assert "see" not in str([event for event in events if event["type"] != "done"])
    after = await ask(agent, dataclasses.replace(request, message="What is left?"))
    assert text_of(after) == "Nothing is left."
    assert (kinds_of(after)[0], kinds_of(after)[-1]) == ("content", "done")
    history = await agent.history(request.session_id)
    kept = [
        (one["role"], one["content"], [made["function"] for made in one.get("tool_calls") or []])
        for one in history
        if one["role"] != "tool"
    ]
    calls = [
        {"name": "look", "arguments": '{"n": 1, "how": "well"}'},
        {"name": "change", "arguments": '{"n": 2, "how": "fail"}'},
    ]
    assert kept == [
        ("user", "Look, then change it", []),
        ("assistant", "I look first.", calls),
        ("assistant", "Only one of them worked.", []),
        ("user", "What is left?", []),
        ("assistant", "Nothing is left.", []),
    ]
    session = await agent.session(request.session_id, ALICE)
    assert (session.input_tokens, session.output_tokens, session.message_count) == (210, 90, 7)
    assert server.refused == kind.refusals
