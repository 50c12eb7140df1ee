"""`gns3server-copilot chat`: a conversation with the copilot of a running server, in the terminal."""

from __future__ import annotations

import argparse
import asyncio
import ssl
import sys
import uuid
from collections.abc import Sequence
from typing import Any, TextIO

from gns3server_copilot.commands.answer import Answer
from gns3server_copilot.commands.password import PASSWORD_VARIABLE, read_password
from gns3server_copilot.commands.server import NO_PRIVILEGE, Server
from gns3server_copilot.commands.terminal import FAINT, RED, Keyboard, Screen, interrupts
from gns3server_copilot.errors import CopilotError, ForbiddenError, NotFoundError
from gns3server_copilot.schemas.modes import Mode

DEFAULT_SERVER = "http://127.0.0.1:3080"
MODES = {
    "teaching": Mode.TEACHING,
    "automation": Mode.LAB_AUTOMATION,
    "injection": Mode.INJECTION,
    **{str(mode): mode for mode in Mode},
}
#: How long an answer may take to end after Ctrl-C; the server needs 1 s at most.
STOP_SECONDS = 5.0
INTERRUPTED = 130
MAX_LISTED = 10


def main(argv: Sequence[str]) -> int:
    """Run the subcommand and give its exit status: 0, 1 after a failure, 130 when an answer was interrupted."""
    parser = argparse.ArgumentParser(
        prog="gns3server-copilot chat",
        description="Chat with the copilot about a project of a running gns3-server. Ctrl-C stops an answer; at the "
        "prompt, Ctrl-D leaves, and so does Ctrl-C when it is pressed twice.",
        epilog=f"The password is asked for, or taken from the environment variable {PASSWORD_VARIABLE}.",
    )
    add_server_options(parser)
    parser.add_argument("--project", metavar="NAME_OR_ID", help="the project; may be left out when only one is open")
    parser.add_argument("--once", metavar="QUESTION", help="ask this one question and leave")
    parser.add_argument("--session", metavar="ID", type=_uuid, help="go on with an earlier conversation")
    parser.add_argument("--mode", choices=list(MODES), help="what the copilot may do, instead of the configured mode")
    options = parser.parse_args(argv)
    password = read_password(options.user)
    return asyncio.run(_chat(options, password))


def add_server_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say which server is spoken to and as whom."""
    parser.add_argument("--server", metavar="URL", default=DEFAULT_SERVER, help=f"default: {DEFAULT_SERVER}")
    parser.add_argument("--user", metavar="NAME", default="admin", help="GNS3 user to log in as (default: admin)")
    parser.add_argument(
        "--ca-file", metavar="FILE", help="certificate that a server with its own certificate is checked by"
    )


def certificates(ca_file: str | None) -> ssl.SSLContext | bool:
    """Give what a server's certificate is checked by: the named file, else the system's authorities."""
    if ca_file is None:
        return True
    try:
        return ssl.create_default_context(cafile=ca_file)
    except OSError as error:  # ssl.SSLError is one too
        raise CopilotError(f"The certificate file {ca_file} cannot be read.") from error


async def _chat(options: argparse.Namespace, password: str) -> int:
    verify = certificates(options.ca_file)
    async with Server(options.server, verify=verify) as server:
        token = await server.login(options.user, password)
        project = await choose_project(server, options.project)
    if options.once is None:
        Screen(sys.stdout).line(f"Project {project['name']}. /help lists what can be asked; Ctrl-D leaves.", FAINT)
    return await run_chat(
        options.server,
        token,
        project["project_id"],
        questions=None if options.once is None else [options.once],
        session_id=options.session,
        mode=MODES[options.mode] if options.mode else None,
        verify=verify,
    )


async def choose_project(server: Server, wanted: str | None) -> dict[str, Any]:
    """Give the project that is named by id or name, or the only open one.

    Raises NotFoundError that lists what there is, ForbiddenError when the project is closed.
    """
    projects = [one for one in await server.get("/projects") if isinstance(one, dict)]
    if not projects:
        me = await server.get("/access/users/me")
        if isinstance(me, dict) and me.get("is_superadmin"):
            raise NotFoundError("There is no project yet. Create one in GNS3, then ask again.")
        raise NotFoundError(f"There is no project that this user may see. {NO_PRIVILEGE}")
    opened = [one for one in projects if one["status"] == "opened"]
    if wanted is None:
        if len(opened) == 1:
            return opened[0]
        raise NotFoundError(f"Name a project with --project. {_listed(opened or projects)}")
    for fits in (
        lambda one: wanted in (one["project_id"], one["name"]),
        lambda one: one["name"].casefold() == wanted.casefold(),
    ):
        found = [one for one in projects if fits(one)]
        if found:
            break
    else:
        raise NotFoundError(f"There is no project {wanted}. {_listed(projects)}")
    if found[0]["status"] != "opened":
        raise ForbiddenError(f"The project {found[0]['name']} is closed. Open it in GNS3, then ask again.")
    return found[0]


async def run_chat(
    base_url: str,
    token: str,
    project_id: str,
    *,
    questions: list[str] | None,
    session_id: str | None = None,
    mode: Mode | None = None,
    verify: ssl.SSLContext | bool = True,
    resumable: bool = True,
    out: TextIO = sys.stdout,
) -> int:
    """Ask the questions one after the other, or those that a person types when `questions` is None.

    Gives the exit status: 0, 1 when a turn ended in an error, 130 when one was interrupted. A person who types
    leaves with 0 unless the last turn failed, and is told how to go on later if the conversation is `resumable`.
    """
    async with Server(base_url, token, verify=verify) as server:
        screen = Screen(out)
        session_id = session_id or str(uuid.uuid4())
        chat = Chat(server, project_id, session_id, mode, screen)
        # one watch for the whole chat: between two, Ctrl-C would end the program
        with interrupts() as pressed:
            if questions is not None:
                return await chat.ask_all(questions, pressed)
            status = await chat.converse(pressed)
        if resumable:
            screen.line(f"To go on later: --session {session_id}", FAINT)
        return status


class Chat:
    """One conversation with the copilot."""

    def __init__(self, server: Server, project_id: str, session_id: str, mode: Mode | None, screen: Screen) -> None:
        self._server = server
        self._path = f"/projects/{project_id}/chat"
        self._session_id = session_id
        self._mode = mode
        self._screen = screen

    async def ask_all(self, questions: Sequence[str], pressed: asyncio.Event) -> int:
        """Ask the questions in order, up to the first that is interrupted; gives the worst status."""
        worst = 0
        for question in questions:
            worst = max(worst, await self.ask(question, pressed))
            if worst == INTERRUPTED:
                break
        return worst

    async def converse(self, pressed: asyncio.Event) -> int:
        """Ask what a person types until they leave; gives the status of the last turn, 0 if it was interrupted."""
        keyboard = Keyboard(pressed, self._screen.styled("Press Ctrl-C again or Ctrl-D to leave.", FAINT))
        status = 0
        while (line := await keyboard.line("> ")) is not None:
            question = line.strip()
            if question.casefold() in ("exit", "quit", "/exit", "/quit"):
                break
            if question:
                status = await self.ask(question, pressed)
        self._screen.line("")
        return 0 if status == INTERRUPTED else status

    async def ask(self, question: str, pressed: asyncio.Event) -> int:
        """Ask, show the answer as it comes, and give its status; Ctrl-C stops the answer.

        Every Ctrl-C up to the end of the stopped answer counts as that one.
        """
        answer = Answer(self._screen)
        if pressed.is_set():  # before there was anything to stop on the server
            answer.stopped()
            pressed.clear()
            return INTERRUPTED
        receiving = asyncio.create_task(self._receive(question, answer))
        stop = asyncio.create_task(pressed.wait())
        interrupted = False
        try:
            await asyncio.wait({receiving, stop}, return_when=asyncio.FIRST_COMPLETED)
            interrupted = not receiving.done()
            if interrupted:
                await self._abort()
                await asyncio.wait({receiving}, timeout=STOP_SECONDS)
                answer.stopped()
        finally:
            stop.cancel()
            receiving.cancel()
            await asyncio.gather(stop, receiving, return_exceptions=True)
        if interrupted:
            pressed.clear()
            return INTERRUPTED
        if (error := receiving.exception()) is None:
            return answer.status
        if not isinstance(error, CopilotError):
            raise error
        self._screen.line(f"✗ {error.message}", RED)
        return 1

    async def _receive(self, question: str, answer: Answer) -> None:
        body = {"message": question, "session_id": self._session_id}
        if self._mode is not None:
            body["copilot_mode"] = str(self._mode)
        async with self._server.events(f"{self._path}/stream", body) as events:
            async for event in events:
                answer.show(event)
        if not answer.ended:
            raise CopilotError("The answer broke off. Ask again.")

    async def _abort(self) -> None:
        try:
            await self._server.post(f"{self._path}/sessions/{self._session_id}/abort")
        except CopilotError as error:
            self._screen.line(f"✗ {error.message}", RED)


def _listed(projects: Sequence[dict[str, Any]]) -> str:
    names = sorted(str(one["name"]) for one in projects)
    more = f" and {len(names) - MAX_LISTED} more" if len(names) > MAX_LISTED else ""
    return f"There are: {', '.join(names[:MAX_LISTED])}{more}."


def _uuid(text: str) -> str:
    try:
        return str(uuid.UUID(text))
    except ValueError as error:
        raise argparse.ArgumentTypeError("a session's id looks like 123e4567-e89b-12d3-a456-426614174000") from error
