"""The terminal chat, against a small HTTP server: what it shows, what it sends, how it ends."""

from __future__ import annotations

import asyncio
import fcntl
import io
import json
import os
import pty
import select
import signal
import socket
import subprocess
import sys
import termios
import time

import pytest

from gns3server_copilot.commands.answer import result_line, short_arguments
from gns3server_copilot.commands.chat import Chat, run_chat
from gns3server_copilot.commands.server import Server, checked_url
from gns3server_copilot.commands.terminal import Screen, printable
from gns3server_copilot.errors import CopilotError
from gns3server_copilot.schemas.modes import Mode
from tests.unit.commands.fake_copilot import (
    DONE,
    PASSWORD,
    PROJECT_ID,
    TOKEN,
    UNTIL_ABORT,
    command_environment,
    event,
    run_command,
)


async def chat(copilot, *questions, **options):
    """Ask the questions and give the exit status and what was shown."""
    out = io.StringIO()
    status = await run_chat(copilot.url, TOKEN, PROJECT_ID, questions=list(questions), out=out, **options)
    return status, out.getvalue()


def tool_call(arguments, *, complete=True, call_id="c1"):
    """Give a tool_call event."""
    function = {"name": "create_gns3_node", "arguments": arguments}
    if complete:
        function["complete"] = True
    return event("tool_call", tool_call={"id": call_id, "type": "function", "function": function}, message_id="m")


def tool_end(*items, error=None):
    """Give a tool_end event with a tool response of these items."""
    failures = sum(item["status"] == "failed" for item in items)
    response = {"success": not failures and not error, "total": len(items), "successful": len(items) - failures,
                "failed": failures, "data": items, "metadata": {}}  # fmt: skip
    if error:
        response["error"] = error
    return event("tool_end", tool_call_id="c1", tool_name="create_gns3_node", tool_output=json.dumps(response))


GOOD = {"id": "1", "name": "PC1", "status": "success", "result": "made"}
BAD = {"id": "", "name": "X", "status": "failed", "error": "There is no template called X."}


async def test_text_and_tool_calls_are_shown_as_they_come(copilot):
    copilot.scripts["go"] = [
        event("content", content="I will "),
        event("content", content="create it."),
        tool_call('{"nodes": [', complete=False),
        tool_call('{"nodes": [{"template": "VPCS"}]}'),
        event("tool_start", tool_call_id="c1", tool_name="create_gns3_node"),
        event("heartbeat"),
        tool_end(GOOD),
        event("content", content="Done.\n"),
        DONE,
    ]
    status, shown = await chat(copilot, "go")
    assert status == 0
    assert shown.splitlines() == [
        "I will create it.",
        '→ create_gns3_node nodes=[{"template": "VPCS"}]',
        "✓ create_gns3_node: 1 of 1",
        "Done.",
    ]


async def test_failed_things_of_a_tool_call_are_shown_with_their_reasons(copilot):
    copilot.scripts["go"] = [
        event("tool_start", tool_call_id="c1", tool_name="create_gns3_node"),
        tool_end(GOOD, BAD),
        DONE,
    ]
    status, shown = await chat(copilot, "go")
    assert status == 0  # the turn itself went well
    assert "→ create_gns3_node\n" in shown
    assert "✗ create_gns3_node: 1 of 2; X: There is no template called X." in shown


async def test_an_error_ends_with_status_1(copilot):
    copilot.scripts["go"] = [event("content", content="So"), event("error", error="The model refused.")]
    assert await chat(copilot, "go") == (1, "So\n✗ The model refused.\n")


async def test_a_stream_that_breaks_off_is_an_error(copilot):
    copilot.scripts["go"] = [event("content", content="So")]
    status, shown = await chat(copilot, "go")
    assert status == 1
    assert "✗ The answer broke off." in shown


async def test_a_refusal_before_the_stream_is_shown_in_its_own_words(copilot):
    copilot.refusal = (400, "No language model is set up for you.")
    assert await chat(copilot, "go") == (1, "✗ No language model is set up for you.\n")


async def test_a_turn_that_somebody_else_stopped_ends_with_status_1(copilot):
    copilot.scripts["go"] = [event("content", content="So"), event("abort"), DONE]
    assert await chat(copilot, "go") == (1, "So\n(stopped)\n")


async def test_all_questions_go_into_one_session_and_the_worst_status_counts(copilot):
    copilot.scripts["second"] = [event("error", error="No.")]
    status, shown = await chat(copilot, "first", "second", "third", mode=Mode.LAB_AUTOMATION)
    assert status == 1
    assert "You said first" in shown and "You said third" in shown
    assert len({body["session_id"] for body in copilot.asked}) == 1
    assert {body["copilot_mode"] for body in copilot.asked} == {"lab_automation_assistant"}


async def test_an_earlier_session_is_continued_by_its_id(copilot):
    session = "123e4567-e89b-12d3-a456-426614174000"
    await chat(copilot, "go", session_id=session)
    assert copilot.asked == [{"message": "go", "session_id": session}]


async def test_what_a_terminal_would_obey_is_removed(copilot):
    copilot.scripts["go"] = [
        event("content", content="a\x1b[31mb\x1b]0;title\x07c\x9b2J\rd\u202ee\tf\ng"),
        tool_end(error="bad \x1b[2J thing"),
        DONE,
    ]
    _, shown = await chat(copilot, "go")
    assert shown.startswith("abc2Jde\tf\ng\n")
    assert "✗ create_gns3_node: bad thing" in " ".join(shown.split())
    assert not set(shown) & {"\x1b", "\x9b", "\r", "\u202e", "\x07"}


async def test_events_are_read_however_the_stream_is_cut(copilot):
    whole = (
        event("content", content="é\u2028x\x85y") + b": a comment for proxies\n\ndata: not json\n\ndata: [1]\n\n" + DONE
    )
    copilot.scripts["go"] = [whole[n : n + 1] for n in range(len(whole))]
    status, shown = await chat(copilot, "go")
    assert (status, shown) == (0, "é\u2028xy\n")


async def test_unknown_events_and_odd_fields_do_no_harm(copilot):
    copilot.scripts["go"] = [event("novelty"), event("tool_call"), event("tool_end"), event("content"), event("done")]
    status, shown = await chat(copilot, "go")
    assert status == 0
    assert "its answer cannot be read" in shown


def test_short_arguments_stay_on_one_short_line():
    assert short_arguments('{"nodes": ["R1"], "wait": "console"}') == 'nodes=["R1"], wait="console"'
    assert short_arguments("{}") == ""
    assert short_arguments("not json\nat all") == "not json at all"
    assert len(short_arguments(json.dumps({"text": "x" * 500}))) == 100


def test_the_same_failure_of_many_things_is_told_once():
    response = {"success": False, "total": 9, "successful": 0, "failed": 9, "data": [BAD] * 9}
    assert result_line(json.dumps(response)) == (False, "0 of 9; X: There is no template called X.")


@pytest.mark.parametrize("text", ["plain", "é ü 漢 →", "tab\tand\nline"])
def test_ordinary_text_is_printable_as_it_is(text):
    assert printable(text) == text


# -- the address


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("http://127.0.0.1:3080", "http://127.0.0.1:3080"),
        ("http://127.0.0.1:3080/", "http://127.0.0.1:3080"),
        ("gns3.example:3080", "http://gns3.example:3080"),
        ("https://[::1]:3080/v3/", "https://[::1]:3080"),
        ("https://lab.example/gns3", "https://lab.example/gns3"),
    ],
)
def test_an_address_may_be_typed_in_several_ways(typed, meant):
    assert checked_url(typed) == meant


@pytest.mark.parametrize(
    "typed", ["ftp://x", "http://", "http://\udcff", "http://x:port", "http://x:99999", "http://[::1", ""]
)
def test_an_address_that_cannot_be_is_refused(typed):
    with pytest.raises(CopilotError, match="must look like"):
        Server(typed)


def test_credentials_do_not_belong_into_the_address():
    with pytest.raises(CopilotError, match="--user") as caught:
        checked_url("http://admin:secret@127.0.0.1:3080")
    assert "secret" not in caught.value.message


async def test_an_answer_that_is_not_gns3_servers_is_said_to_be_so(copilot):
    copilot.login_answer = ["something else"]
    async with Server(copilot.url) as server:
        with pytest.raises(CopilotError, match="did not answer the login as gns3-server does"):
            await server.login("admin", PASSWORD)
        with pytest.raises(CopilotError, match="answered with status 404"):
            await server.get("/nothing")


# -- the command


def once(home, copilot, *arguments, **environment):
    """Run `chat` with the password in the environment."""
    environment = {"GNS3_COPILOT_PASSWORD": PASSWORD, **environment}
    return run_command(home, "chat", "--server", copilot.url, *arguments, **environment)


@pytest.mark.parametrize("project", [["--project", "Demo"], ["--project", "demo"], ["--project", PROJECT_ID], []])
def test_a_question_is_asked_once_about_the_named_or_only_open_project(tmp_path, copilot, project):
    done = once(tmp_path, copilot, *project, "--once", "hello")
    assert (done.returncode, done.stdout, done.stderr) == (0, "You said hello\n", "")


def test_bytes_that_are_no_text_are_replaced_in_what_is_sent(tmp_path, copilot):
    done = once(tmp_path, copilot, "--once", os.fsdecode(b"\xff\xfe bad bytes"))
    assert (done.returncode, done.stderr) == (0, "")
    assert copilot.asked[0]["message"] == "?? bad bytes"
    done = once(tmp_path, copilot, "--user", os.fsdecode(b"\xff"), "--once", "hello")
    assert (done.returncode, done.stderr) == (0, "")


def test_a_terminal_that_lacks_our_signs_shows_others(tmp_path, copilot):
    copilot.scripts["go"] = [event("content", content="é 漢\n"), tool_end(GOOD), DONE]
    done = once(tmp_path, copilot, "--once", "go", PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stdout, done.stderr) == (0, "? ?\n+ create_gns3_node: 1 of 1\n", "")


def test_an_answer_that_cannot_be_written_is_one_sentence(tmp_path, copilot):
    with open("/dev/full", "w") as full:
        process = start(tmp_path, copilot, "--once", "go", stdout=full, stderr=subprocess.PIPE, text=True)
        _, complaints = process.communicate(timeout=30)
    assert process.returncode == 1
    assert complaints == "gns3server-copilot: The output cannot be written: No space left on device.\n"


def test_questions_may_come_from_a_pipe(tmp_path, copilot):
    environment = {"GNS3_COPILOT_PASSWORD": PASSWORD}
    done = run_command(tmp_path, "chat", "--server", copilot.url, stdin="one\n\ntwo", **environment)
    assert done.returncode == 0, done.stderr
    assert "You said one\n" in done.stdout and "You said two\n" in done.stdout
    assert len(copilot.asked) == 2
    assert f"--session {copilot.asked[0]['session_id']}" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "environment", "part"),
    [
        (["--once", "x"], {"GNS3_COPILOT_PASSWORD": "wrong"}, "does not accept this password for the user admin"),
        (["--project", "Nothing", "--once", "x"], {}, "There is no project Nothing. There are: Demo, Old lab."),
        (["--project", "Old lab", "--once", "x"], {}, "The project Old lab is closed. Open it in GNS3"),
        (["--ca-file", "/nowhere", "--once", "x"], {}, "The certificate file /nowhere cannot be read"),
    ],
)
def test_what_cannot_be_is_said_in_one_sentence(tmp_path, copilot, arguments, environment, part):
    done = once(tmp_path, copilot, *arguments, **environment)
    assert done.returncode == 1
    assert done.stdout == ""
    assert part in done.stderr and done.stderr.count("\n") == 1
    assert TOKEN not in done.stderr and PASSWORD not in done.stderr


def test_an_admin_without_projects_is_told_to_create_one(tmp_path, copilot):
    copilot.projects = []
    done = once(tmp_path, copilot, "--once", "x")
    assert done.stderr == "gns3server-copilot: There is no project yet. Create one in GNS3, then ask again.\n"


def test_a_user_who_sees_no_project_is_told_about_privileges(tmp_path, copilot):
    copilot.projects = []
    copilot.superadmin = False
    done = once(tmp_path, copilot, "--once", "x")
    assert "A new GNS3 user has no privilege until an admin adds the user to a group" in done.stderr


def test_of_several_open_projects_one_must_be_named(tmp_path, copilot):
    copilot.projects = [{"project_id": str(n), "name": f"P{n}", "status": "opened"} for n in range(12)]
    done = once(tmp_path, copilot, "--once", "x")
    assert "Name a project with --project. There are: P0, P1, P10" in done.stderr
    assert "and 2 more" in done.stderr


def test_a_server_that_is_not_there_is_said_to_be_unreachable(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as reserved:
        url = f"http://127.0.0.1:{reserved.getsockname()[1]}"
    done = run_command(tmp_path, "chat", "--server", url, "--once", "x", GNS3_COPILOT_PASSWORD="x")
    assert done.returncode == 1
    assert done.stderr == f"gns3server-copilot: {url} cannot be reached. Is gns3-server running there?\n"


def test_an_http_server_that_is_spoken_to_with_tls_is_said_to_be_one(tmp_path, copilot):
    url = copilot.url.replace("http:", "https:")
    done = run_command(tmp_path, "chat", "--server", url, "--once", "x", GNS3_COPILOT_PASSWORD="x")
    assert done.returncode == 1
    assert done.stderr.startswith(f"gns3server-copilot: {url} answers, but not with TLS: the server may speak http.")


def test_without_a_terminal_and_without_the_variable_there_is_no_password(tmp_path, copilot):
    done = run_command(tmp_path, "chat", "--server", copilot.url, "--once", "x")
    assert done.returncode == 1
    assert "Set GNS3_COPILOT_PASSWORD" in done.stderr


@pytest.mark.parametrize("arguments", [["--session", "nonsense"], ["--mode", "nonsense"], ["--nonsense"]])
def test_wrong_usage_ends_with_status_2(tmp_path, copilot, arguments):
    assert once(tmp_path, copilot, *arguments).returncode == 2


def start(home, copilot, *arguments, password=PASSWORD, **pipes):
    """Start `chat` and leave it running."""
    more = {} if password is None else {"GNS3_COPILOT_PASSWORD": password}
    return subprocess.Popen(
        [sys.executable, "-m", "gns3server_copilot.cli", "chat", "--server", copilot.url, *arguments],
        env=command_environment(home, TERM="xterm", **more),
        cwd=home,
        **pipes,
    )


def test_ctrl_c_stops_the_answer_on_the_server_and_ends_a_single_question_with_130(tmp_path, copilot):
    copilot.scripts["go"] = [event("content", content="So far"), UNTIL_ABORT, event("abort"), DONE]
    process = start(tmp_path, copilot, "--once", "go", stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert copilot.waiting.wait(30)
    process.send_signal(signal.SIGINT)
    shown, complaints = process.communicate(timeout=30)
    assert process.returncode == 130
    assert shown == "So far\n(stopped)\n"
    assert complaints == ""
    assert copilot.aborted == [copilot.asked[0]["session_id"]]


def own_terminal():
    """Make the standard input the terminal whose Ctrl-C this process gets; runs between fork and exec."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


class Terminal:
    """A person at a terminal in which the chat runs."""

    def __init__(self, home, copilot, password=PASSWORD):
        self._mine, theirs = pty.openpty()
        self.process = start(
            home,
            copilot,
            password=password,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
            preexec_fn=own_terminal,
        )
        os.close(theirs)
        self.seen = ""

    def type(self, text):
        os.write(self._mine, text.encode())

    def wait_for(self, text, seconds=30):
        """Read until the text has been shown, and forget all up to its end."""
        deadline = time.monotonic() + seconds
        while text not in self.seen:
            readable, _, _ = select.select([self._mine], [], [], max(0, deadline - time.monotonic()))
            assert readable, f"{text!r} was not shown, but {self.seen!r}"
            try:
                self.seen += os.read(self._mine, 65536).decode(errors="replace")
            except OSError:  # the other end is closed
                assert text in self.seen, self.seen
        self.seen = self.seen.partition(text)[2]

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self._mine)


@pytest.fixture
def terminal(tmp_path, copilot):
    """A terminal with a running chat."""
    opened = Terminal(tmp_path, copilot)
    yield opened
    opened.close()


def test_a_person_can_stop_an_answer_ask_again_and_leave_with_ctrl_d(copilot, terminal):
    copilot.scripts["go"] = [event("content", content="So far"), UNTIL_ABORT, event("abort"), DONE]
    terminal.wait_for("> ")
    terminal.type("go\n")
    terminal.wait_for("So far")
    terminal.type("\x03")
    terminal.wait_for("(stopped)")
    terminal.wait_for("> ")
    terminal.type("hello\n")
    terminal.wait_for("You said hello")
    terminal.wait_for("> ")
    terminal.type("\x04")
    assert terminal.process.wait(30) == 0
    assert copilot.aborted == [copilot.asked[0]["session_id"]]
    assert copilot.asked[0]["session_id"] == copilot.asked[1]["session_id"]


HINT = "Press Ctrl-C again or Ctrl-D to leave."


def test_a_second_ctrl_c_at_the_prompt_leaves_and_gives_the_terminal_back(copilot, terminal):
    terminal.wait_for("> ")
    terminal.type("half a quest")
    terminal.wait_for("quest")
    terminal.type("\x03")
    terminal.wait_for(HINT)
    terminal.wait_for("> half a quest")
    assert terminal.process.poll() is None
    terminal.type("\x03")
    terminal.wait_for("To go on later")
    assert terminal.process.wait(30) == 0
    assert "Traceback" not in terminal.seen and "Fatal" not in terminal.seen
    assert copilot.asked == []


def test_after_one_ctrl_c_a_line_can_be_finished_and_the_next_one_only_hints_again(copilot, terminal):
    terminal.wait_for("> ")
    for half, other in (("he", "llo"), ("good", "bye")):
        terminal.type(half)
        terminal.wait_for(half)
        terminal.type("\x03")
        terminal.wait_for(HINT)
        terminal.wait_for(f"> {half}")
        terminal.type(f"{other}\n")
        terminal.wait_for(f"You said {half}{other}")
        terminal.wait_for("> ")
    terminal.type("\x04")
    assert terminal.process.wait(30) == 0


def test_ctrl_c_pressed_again_while_an_answer_is_being_stopped_does_not_leave(copilot, terminal):
    copilot.scripts["go"] = [event("content", content="So far"), UNTIL_ABORT, event("abort"), DONE]
    terminal.wait_for("> ")
    terminal.type("go\n")
    terminal.wait_for("So far")
    terminal.process.send_signal(signal.SIGINT)
    terminal.wait_for("(stopped)")
    terminal.process.send_signal(signal.SIGINT)
    terminal.wait_for("> ")
    terminal.type("hello\n")
    terminal.wait_for("You said hello")
    terminal.wait_for("> ")
    terminal.type("\x04")
    assert terminal.process.wait(30) == 0


async def test_ctrl_c_between_two_questions_stops_the_next_before_it_is_asked(copilot):
    out = io.StringIO()
    pressed = asyncio.Event()
    async with Server(copilot.url, TOKEN) as server:
        talk = Chat(server, PROJECT_ID, "123e4567-e89b-12d3-a456-426614174000", None, Screen(out))
        assert await talk.ask_all(["first"], pressed) == 0
        pressed.set()
        assert await talk.ask_all(["second", "third"], pressed) == 130
    assert [body["message"] for body in copilot.asked] == ["first"]
    assert out.getvalue() == "You said first\n(stopped)\n"
    assert not pressed.is_set()


def test_ctrl_d_at_the_password_is_one_sentence(tmp_path, copilot):
    opened = Terminal(tmp_path, copilot, password=None)
    try:
        opened.wait_for("Password of the GNS3 user admin: ")
        opened.type("\x04")
        opened.wait_for("gns3server-copilot: No password was typed.")
        assert opened.process.wait(30) == 1
    finally:
        opened.close()
