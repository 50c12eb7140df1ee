"""What every call leaves behind: a record of who did what to what, and an answer without secrets."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, ClassVar

import pytest
from pydantic import Field

from gns3server_copilot.errors import GNS3Error, ToolError
from gns3server_copilot.gns3.client import GNS3Client
from gns3server_copilot.redaction.placeholders import placeholder
from gns3server_copilot.schemas.audit import ToolCall, Verdict
from gns3server_copilot.schemas.identity import ProjectRef, User
from gns3server_copilot.schemas.modes import Mode
from gns3server_copilot.settings import Settings
from gns3server_copilot.tools import dispatch, registry
from gns3server_copilot.tools.base import Tool, ToolArguments, ToolContext
from gns3server_copilot.tools.dispatch import execute, refuse
from gns3server_copilot.tools.response import failed, succeeded

PROJECT = ProjectRef("3f0f4c6c-7a3e-4a35-9d0c-1f4c8d0f3f11", "My\nlab", "/nowhere")
RUN = "enable password cisco\x00"


class Arguments(ToolArguments):
    """Devices, and what to tell them."""

    devices: list[str]
    commands: list[str] = Field(default_factory=list)


class ConsoleTool(Tool[Arguments]):
    """Does what `does` says."""

    name = "console"
    description = "A console."
    arguments = Arguments
    modes = frozenset({Mode.TEACHING})
    read_only = True
    does: ClassVar[Callable[[Arguments], Any]] = lambda arguments: []

    async def run(self, arguments: Arguments, context: ToolContext) -> list[dict[str, Any]]:
        """Give what `does` gives, or raise it."""
        result = type(self).does(arguments)
        if isinstance(result, BaseException):
            raise result
        return result


class ManualTool(ConsoleTool):
    """Its texts are our own."""

    name = "manual"
    tells_of_the_lab = False


@pytest.fixture(autouse=True)
def tools(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two tools of the test's own instead of the real ones."""
    made = (ConsoleTool(), ManualTool())
    monkeypatch.setattr(registry, "ALL_TOOLS", made)
    monkeypatch.setattr(dispatch, "ALL_TOOLS", made)


async def no_server(scope: Any, receive: Any, send: Any) -> None:
    """An application that these tools never call."""
    raise AssertionError("not called")


@pytest.fixture
def records() -> list[ToolCall]:
    """What has been recorded."""
    return []


@pytest.fixture
def make_context(records):
    """Give a context that records."""

    def make(**fields: Any) -> ToolContext:
        user = User("u", "ann", False)
        client = GNS3Client(no_server, "token")
        return ToolContext(PROJECT, user, Mode.TEACHING, client, Settings(), audit=records.append, **fields)

    return make


GOOD = succeeded("1", "R1", "fine")
BAD = failed("2", "R2", "No such device.")
REFUSED = failed("2", "R2", "reload restarts the device.", refused=True)


@pytest.mark.parametrize(
    ("given", "verdict", "targets"),
    [
        ([GOOD], Verdict.DONE, ["R1"]),
        ([GOOD, BAD, GOOD], Verdict.PARTLY, ["R1", "R2"]),
        ([BAD], Verdict.FAILED, ["R2"]),
        ([REFUSED], Verdict.REFUSED, ["R2"]),
        ([REFUSED, BAD], Verdict.FAILED, ["R2"]),
        ([REFUSED, GOOD], Verdict.PARTLY, ["R2", "R1"]),
        ([succeeded("7", "", "x")], Verdict.DONE, ["7"]),
        (ToolError("No."), Verdict.FAILED, ["R1", "R 9"]),
        (GNS3Error("Permission denied.", 403), Verdict.REFUSED, ["R1", "R 9"]),
        (GNS3Error("Gone.", 404), Verdict.FAILED, ["R1", "R 9"]),
        (KeyError("bug"), Verdict.FAILED, ["R1", "R 9"]),
    ],
    ids=str,
)
async def test_every_call_is_recorded_with_how_it_ended(make_context, records, monkeypatch, given, verdict, targets):
    monkeypatch.setattr(ConsoleTool, "does", lambda arguments: given)
    await execute("console", {"devices": ["R1", "R\x00 9"], "commands": ["enable secret hunter2"]}, make_context())
    (call,) = records
    assert (call.tool, call.verdict, list(call.targets)) == ("console", verdict, targets)
    assert (call.user_id, call.username, call.mode) == ("u", "ann", "teaching_assistant")
    assert (call.project_id, call.project_name) == (PROJECT.project_id, "My lab")
    assert 0 <= call.seconds < 5
    assert "hunter2" not in repr(call)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("build", {}),
        ("no\nsuch " + "x" * 100, {}),
        ("console", {"devices": 7}),
        ("console", "{"),
        ("console", {"project_id": "other"}),
    ],
)
async def test_refused_calls_are_recorded_too(make_context, records, name, arguments):
    await execute(name, arguments, make_context())
    (call,) = records
    assert call.verdict is Verdict.REFUSED
    assert len(call.tool) <= 64 and "\n" not in call.tool
    assert call.targets == []


async def test_calls_that_the_turn_does_not_carry_out_are_recorded(make_context, records):
    response = refuse("console", "The budget is used up.", make_context())
    assert response["error"] == "The budget is used up."
    assert [call.verdict for call in records] == [Verdict.REFUSED]


async def test_an_interrupted_call_is_recorded(make_context, records, monkeypatch):
    begun = asyncio.Event()

    async def wait(tool: ConsoleTool, arguments: Arguments, context: ToolContext) -> Any:
        begun.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(ConsoleTool, "run", wait)
    call = asyncio.create_task(execute("console", {"devices": ["R1"]}, make_context()))
    await begun.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert [(call.verdict, list(call.targets)) for call in records] == [(Verdict.INTERRUPTED, ["R1"])]


async def test_a_record_that_cannot_be_made_takes_no_answer_away(make_context, monkeypatch, caplog):
    monkeypatch.setattr(ConsoleTool, "does", lambda arguments: [GOOD])

    def broken(call: ToolCall) -> None:
        raise RuntimeError("no audit")

    context = ToolContext(
        PROJECT, User("u", "ann", False), Mode.TEACHING, GNS3Client(no_server, "t"), Settings(), audit=broken
    )
    assert (await execute("console", {"devices": ["R1"]}, context))["success"]
    assert "could not be recorded" in caplog.text


async def test_many_and_long_names_are_cut(make_context, records, monkeypatch):
    monkeypatch.setattr(
        ConsoleTool, "does", lambda arguments: [succeeded("", f"R{n}" + "x" * 99, "") for n in range(99)]
    )
    await execute("console", {"devices": ["R1"]}, make_context())
    assert len(records[0].targets) == 50
    assert all(len(name) == 64 for name in records[0].targets)


@pytest.mark.parametrize("redact", [True, False])
async def test_answers_lose_secrets_and_what_nobody_sees(make_context, monkeypatch, redact):
    monkeypatch.setattr(ConsoleTool, "does", lambda arguments: [succeeded("1", "R1", RUN), failed("2", "R2", RUN)])
    response = await execute("console", {"devices": ["R1"]}, make_context(redact=redact))
    shown = f"enable password {placeholder('cisco') if redact else 'cisco'}"
    assert [response["data"][0]["result"], response["data"][1]["error"]] == [shown, shown]
    monkeypatch.setattr(ConsoleTool, "does", lambda arguments: ToolError(RUN))
    assert (await execute("console", {"devices": ["R1"]}, make_context(redact=redact)))["error"] == shown


async def test_our_own_texts_stay_as_they_are(make_context, monkeypatch):
    monkeypatch.setattr(ConsoleTool, "does", lambda arguments: [succeeded("", "ios", "enable secret cisco123")])
    response = await execute("manual", {"devices": ["R1"]}, make_context())
    assert response["data"][0]["result"] == "enable secret cisco123"
