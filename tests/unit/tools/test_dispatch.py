"""Executing tools: what is let through, what is refused, and what happens when a tool breaks."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections.abc import Iterator
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

from gns3server_copilot.errors import GNS3Error, ToolError
from gns3server_copilot.gns3.client import GNS3Client
from gns3server_copilot.schemas.identity import ProjectRef, User
from gns3server_copilot.schemas.modes import Mode
from gns3server_copilot.settings import Settings
from gns3server_copilot.tools import dispatch, registry
from gns3server_copilot.tools.base import Tool, ToolArguments, ToolContext
from gns3server_copilot.tools.dispatch import execute, kept_result
from gns3server_copilot.tools.response import succeeded

PROJECT = ProjectRef("3f0f4c6c-7a3e-4a35-9d0c-1f4c8d0f3f11", "My lab", "/nowhere")


class Line(ToolArguments):
    """A line for a device."""

    device: str = Field(min_length=1)
    times: int = Field(1, ge=1)


class EchoArguments(ToolArguments):
    """What to say."""

    lines: list[Line] = Field(min_length=1)
    loud: bool = False


class EchoTool(Tool[EchoArguments]):
    """Says what it was given, or does what `happening` says."""

    name = "echo"
    description = "Say it again."
    arguments = EchoArguments
    modes = frozenset(Mode)
    read_only = True
    happening: ClassVar[BaseException | None] = None

    async def run(self, arguments: EchoArguments, context: ToolContext) -> list[dict[str, Any]]:
        """Give one item a line."""
        if self.happening is not None:
            raise self.happening
        return [succeeded("", line.device, line.device * line.times) for line in arguments.lines]


class BuilderTool(EchoTool):
    """Only for one mode."""

    name = "build"
    modes = frozenset({Mode.LAB_AUTOMATION})


@pytest.fixture(autouse=True)
def echo_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two tools of the test's own instead of the real ones."""
    tools = (EchoTool(), BuilderTool())
    monkeypatch.setattr(registry, "ALL_TOOLS", tools)
    monkeypatch.setattr(dispatch, "ALL_TOOLS", tools)


async def no_server(scope: Any, receive: Any, send: Any) -> None:
    """An application that these tools never call."""
    raise AssertionError("not called")


def context(mode: Mode = Mode.TEACHING) -> ToolContext:
    """A context in which these tools can run."""
    return ToolContext(PROJECT, User("u", "ann", False), mode, GNS3Client(no_server, "token"), Settings())


async def test_a_response_has_items_totals_and_metadata() -> None:
    response = await execute("echo", {"lines": [{"device": "R1"}, {"device": "R2", "times": 2}]}, context())
    assert (response["success"], response["total"], response["successful"], response["failed"]) == (True, 2, 2, 0)
    assert [item["result"] for item in response["data"]] == ["R1", "R2R2"]
    assert response["metadata"]["tool_name"] == "echo"
    assert response["metadata"]["version"] == "v1.0"
    assert response["metadata"]["execution_time"] >= 0


@pytest.mark.parametrize(
    "arguments",
    [
        {"lines": [{"device": "R1"}]},
        '{"lines": [{"device": "R1"}]}',
        [{"device": "R1"}],
        '[{"device": "R1"}]',
        {"tool_input": '{"lines": [{"device": "R1"}]}'},
        {"tool_input": {"lines": [{"device": "R1"}]}},
        {"tool_input": [{"device": "R1"}], "kwargs": {}},
        '{"tool_input": "[{\\"device\\": \\"R1\\"}]"}',
        {"lines": [{"device": "R1"}], "project_id": PROJECT.project_id},
        {"lines": [{"device": "R1"}], "project_id": PROJECT.project_id.upper()},
        {"lines": [{"device": "R1"}], "project_id": "My lab"},
        {"lines": [{"device": "R1"}], "project_id": ""},
        {"lines": [{"device": "R1"}], "project_id": None},
        {"tool_input": {"lines": [{"device": "R1"}], "project_id": PROJECT.project_id}},
        {"tool_input": {"lines": [{"device": "R1"}]}, "project_id": PROJECT.project_id},
        {"lines": [{"device": " R1 ", "times": "1"}]},
    ],
)
async def test_arguments_are_taken_in_every_known_shape(arguments: Any) -> None:
    response = await execute("echo", arguments, context())
    assert [item["result"] for item in response["data"]] == ["R1"], response


@pytest.mark.parametrize("wrapped", [True, False])
async def test_another_project_is_refused(wrapped: bool) -> None:
    arguments = {"lines": [{"device": "R1"}], "project_id": "99999999-7a3e-4a35-9d0c-1f4c8d0f3f11"}
    response = await execute("echo", {"tool_input": json.dumps(arguments)} if wrapped else arguments, context())
    assert response["data"] == []
    assert (
        response["error"] == "This chat belongs to the project My lab and works on no other one. Leave project_id out."
    )


async def test_every_wrong_field_is_said_at_once() -> None:
    arguments = {"lines": [{"device": "R1"}, {"devise": "R2"}, {"device": "", "times": 0}], "lout": True, "x\ny": 1}
    response = await execute("echo", arguments, context())
    assert (response["success"], response["total"]) == (False, 0)
    for said in (
        "nothing was done",
        "lines[1].device: is missing",
        "lines[1].devise: there is no such field, did you mean device",
        "lines[2].device: String should have at least 1 character",
        "lines[2].times: Input should be greater than or equal to 1",
        "lout: there is no such field, did you mean loud",
        "x y: there is no such field among lines, loud",
    ):
        assert said in response["error"]


async def test_wrong_values_are_not_repeated() -> None:
    response = await execute("echo", {"lines": "hunter2", "loud": "hunter2"}, context())
    assert "lines: Input should be a valid list" in response["error"]
    assert "hunter2" not in response["error"]


async def test_a_thing_that_is_no_object_is_answered_with_its_fields() -> None:
    response = await execute("echo", {"lines": ["R1"]}, context())
    assert "lines[0]: must be an object with the fields device, times" in response["error"]


async def test_very_many_mistakes_are_counted() -> None:
    response = await execute("echo", {"lines": [{}] * 500}, context())
    assert response["error"].endswith("and 475 more.")


@pytest.mark.parametrize("arguments", ["{", "nonsense", "[" * 100_000, {"tool_input": "conf t"}])
async def test_text_that_is_not_json_is_refused(arguments: Any) -> None:
    response = await execute("echo", arguments, context())
    assert "not valid JSON" in response["error"]


@pytest.mark.parametrize("arguments", ["7", "null", "true", '"text"'])
async def test_json_that_is_no_object_is_refused(arguments: str) -> None:
    response = await execute("echo", arguments, context())
    assert response["error"] == "The arguments must be a JSON object with the fields lines, loud."


async def test_a_tool_of_another_mode_is_not_run() -> None:
    arguments = {"lines": [{"device": "R1"}]}
    response = await execute("build", arguments, context(Mode.TEACHING))
    assert response["error"] == "The tool build does not belong to this mode. The tools are: echo."
    assert (await execute("build", arguments, context(Mode.LAB_AUTOMATION)))["success"]


@pytest.mark.parametrize("name", ["show_me_everything", "", "echo ", "Echo", "x" * 500, "a\nb"])
async def test_an_unknown_tool_is_answered_with_those_that_exist(name: str) -> None:
    response = await execute(name, {}, context())
    assert response["error"].startswith("There is no tool")
    assert response["error"].endswith("The tools are: echo.")
    assert "\n" not in response["error"]


@pytest.mark.parametrize("happening", [ToolError("No such node."), GNS3Error("Permission denied.", 403)])
async def test_what_a_tool_says_on_purpose_is_the_error(
    happening: Exception, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(EchoTool, "happening", happening)
    response = await execute("echo", [{"device": "R1"}], context())
    assert response["error"] == str(happening)
    assert caplog.text == ""


async def test_a_bug_is_a_plain_sentence_and_its_traceback_is_logged_without_arguments(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(EchoTool, "happening", OSError("cannot send 'enable secret hunter2\\nexit-now' to R1"))
    response = await execute("echo", [{"device": "enable secret hunter2\nexit-now"}], context())
    assert response["error"] == "echo failed inside the copilot; the server's log says why. Other tools still work."
    assert caplog.records[0].levelno == logging.ERROR
    assert "raise self.happening" in caplog.text
    assert "OSError: cannot send" in caplog.text
    assert "hunter2" not in caplog.text
    assert "exit-now" not in caplog.text


async def test_cancellation_passes_through(monkeypatch: pytest.MonkeyPatch) -> None:
    begun = asyncio.Event()

    async def wait(tool: EchoTool, arguments: EchoArguments, context: ToolContext) -> Any:
        begun.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(EchoTool, "run", wait)
    call = asyncio.create_task(execute("echo", [{"device": "R1"}], context()))
    await begun.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.text() | st.sampled_from(["lines", "tool_input", "project_id", "device"]), inner, max_size=4
        )
    ),
    max_leaves=12,
)


@given(st.text(), JSON | JSON.map(json.dumps))
def test_nothing_that_a_model_sends_raises(name: str, arguments: Any) -> None:
    for tool in (name, "echo"):
        response = asyncio.run(execute(tool, arguments, context()))
        assert response["metadata"]["version"] == "v1.0"
        json.dumps(response, allow_nan=False)


# --- what is worked out in threads keeps its result when its caller is cancelled


class Work:
    """Something that takes until it is let go on."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.go_on = threading.Event()

    def __call__(self, value: str) -> str:
        self.begun.set()
        self.go_on.wait(10)
        return value


@pytest.fixture
def work() -> Iterator[Work]:
    """One that ends with the test."""
    made = Work()
    yield made
    made.go_on.set()


async def test_a_cancelled_caller_gets_the_result_and_its_cancellation_at_its_next_wait(work: Work) -> None:
    got: list[str] = []

    async def caller() -> None:
        got.append(await kept_result(work, "done"))
        await asyncio.sleep(0)
        got.append("not cancelled")

    task = asyncio.create_task(caller())
    await asyncio.to_thread(work.begun.wait, 10)
    task.cancel()
    await asyncio.sleep(0)
    work.go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert got == ["done"]
    assert task.cancelling() == 1


async def test_nobody_waits_for_long(work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatch, "LAST_SECONDS", 0.01)
    task = asyncio.create_task(kept_result(work, "late"))
    await asyncio.to_thread(work.begun.wait, 10)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    work.go_on.set()


async def test_a_second_cancellation_ends_the_wait(work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatch, "LAST_SECONDS", 30)
    task = asyncio.create_task(kept_result(work, "late"))
    await asyncio.to_thread(work.begun.wait, 10)
    for _ in range(2):
        task.cancel()
        await asyncio.sleep(0)
    async with asyncio.timeout(5):
        await asyncio.wait({task})
    assert task.cancelled()
    work.go_on.set()


async def test_errors_come_through_and_a_timeout_stays_one() -> None:
    with pytest.raises(ValueError, match="invalid literal"):
        await kept_result(int, "x")
    work = Work()
    asyncio.get_running_loop().call_later(0.05, work.go_on.set)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await kept_result(work, "done")
            await asyncio.sleep(1)
